/**
 * Messages: what is said on a channel. The channel counts them from 1 without
 * gaps [M1]; an idempotency key makes a repeated send one message [M4]. The body
 * is opaque JSON text: the law never looks inside.
 */

import type { GateAsked } from '../gates/gate-events.ts';
import { checkGateRoom, checkStopped, postGate } from '../gates/post-gate.ts';
import { assert } from '../law/assert.ts';
import {
  type Asked,
  type Decision,
  isRefusal,
  type Refusal,
  refuse,
  refuseFull,
} from '../law/decider.ts';
import { HELD_PER_CHANNEL_MAX, RETRY_KEY_TTL_MS, RETRY_KEYS_MAX } from '../law/limits.ts';
import { makeRoom } from '../law/make-room.ts';
import { addresseeOf, channelKind, dmParties } from '../law/name.ts';
import { type Principal, SERVER, type Standing, standingOf } from '../law/principal.ts';
import { checkShare, count } from '../law/shares.ts';
import type { Channel, ChannelView, World, WorldView } from '../law/state.ts';
import type { Writable } from '../law/view.ts';
import type { RootRef, ThreadMarked } from '../threads/mark.ts';
import { enterThread, joinThread } from '../threads/reply.ts';
import { countSend, wakeManaged, wakingOf } from '../turns/pending.ts';
import type { Asks } from '../turns/turn-state.ts';
import { traceOf } from '../turns/turn-trace.ts';
import { agentOf, checkAgentRoom } from './agent.ts';
import {
  backpressureOf,
  channelOf,
  checkChannelRoom,
  checkName,
  checkWrite,
  joinChannel,
  settleMember,
} from './channel.ts';
import { hold } from './held.ts';
import { rememberReply } from './reply.ts';

export interface SendMessage extends Asked {
  readonly type: 'message.send';
  readonly channel: string;
  /** JSON text of the body. */
  readonly body: string;
  readonly correlationId: string | null;
  /** Position of the parent message, already resolved and readable by the sender. */
  readonly replyTo: number | null;
  readonly key: string | null;
  readonly ttlMs: number | null;
  /** The schema version the body was checked against; 0 for none. */
  readonly schemaVersion: number;
  /** What the body asks of whom; only where somebody may be woken by it. */
  readonly asks?: Asks | null;
  /** It links to its parent and does not join the thread. */
  readonly isQuote?: boolean;
  /** The root of the thread, where the reply is to open it again. */
  readonly reopens?: RootRef | null;
  /** The body is a post: the version of the channel's description it was checked against. */
  readonly postVersion?: number | null;
  /** The body is a post of tier 2; what its sender came with [GT14]. */
  readonly tier2?: { readonly credential: string } | null;
  /** The trace it was sent in, as a `traceparent` that was read. */
  readonly trace?: string | null;
}

export interface MessageSent {
  readonly type: 'message.sent';
  readonly at: number;
  readonly by: string;
  /** Of the sender, or of the actor if there is one; absent in what was said before it was kept. */
  readonly as?: Standing;
  /** Where the hub tells what somebody did: who, and so whose words may be in it. */
  readonly actor?: string;
  readonly channel: string;
  readonly seq: number;
  readonly body: string;
  readonly correlationId?: string;
  readonly replyTo?: number;
  /** The position of the first message of its thread; absent in what was said before it was kept. */
  readonly root?: number;
  /** It links to `replyTo` and is in no thread with it. */
  readonly quote?: true;
  readonly post?: true;
  readonly key?: string;
  readonly expiresAt?: number;
  readonly held?: string;
  /** The gate it waits for. */
  readonly gate?: string;
  readonly asks?: Asks;
  /** The turn it was said in. */
  readonly turn?: string;
  /** The trace it belongs to, as a `traceparent` [TL10]. */
  readonly trace?: string;
  /** The body was dropped by a compaction and is empty now. */
  readonly dropped?: true;
}

export interface SentAnswer {
  readonly position: number;
  readonly seq: number;
  readonly at: number;
  readonly depth: number;
  readonly limit: number;
  /** The gate it waits for. */
  readonly gate?: string;
  /** The key was used before: this is the first message's answer, and nothing was stored. */
  readonly isRepeat?: true;
}

export function decideSend(
  world: WorldView,
  command: SendMessage,
): Decision<MessageSent | GateAsked | ThreadMarked, SentAnswer> {
  const { by, at, channel: name } = command;
  const forbidden =
    checkName(world, name) ?? checkWrite(world, by, name) ?? checkAgentRoom(world, by);
  if (forbidden !== null) return forbidden;
  const channel = world.channels.get(name);
  if (command.schemaVersion !== (channel?.settings?.schemaVersion ?? 0)) {
    return refuse(
      'schema.changed',
      `the schema of ${name} changed while the body was checked; send again`,
    );
  }
  if (command.postVersion != null && command.postVersion !== (channel?.described?.version ?? 0)) {
    return refuse(
      'schema.changed',
      `what posts on ${name} must be changed while this one was checked; send again`,
    );
  }
  const { mode, limit, depth } = backpressureOf(world, channel);
  if (command.key !== null) {
    const { keys, ttlMs } = keysFor(world, command.key);
    const known = keys.get(keyOf(by.id, name, command.key));
    const isOwed = known !== undefined && channel?.held?.get(known.seq)?.isTakenBack === true;
    if (known !== undefined && at < known.at + ttlMs && !isOwed) {
      return { events: [], answer: { ...known, depth, limit, isRepeat: true } };
    }
  }
  const joined = joinThread(world, channel, command);
  if (isRefusal(joined)) return joined;
  const isGated = command.tier2 != null && channel?.settings?.doesGateTier2 === true;
  // Another post that waits for a person does nothing either.
  const stopped = isGated ? null : checkStopped(world, by);
  const full = stopped ?? checkRoom(world, channel, command, isGated);
  if (full !== null) return full;
  if (mode === 'enforced' && depth >= limit) {
    return refuse(
      'backpressure.over',
      `${name} holds ${depth} undrained messages, its limit is ${limit}`,
      {
        queue_depth: depth,
        threshold: limit,
        mode,
      },
    );
  }
  const seq = (channel?.positions.head ?? 0) + 1;
  const asked = isGated ? postGate(world, command, command.tier2?.credential ?? '') : null;
  const held =
    asked === null ? heldReason(world, by) : `a post of tier 2 waits for gate ${asked.id}`;
  const trace = command.trace ?? traceOf(world, by.turn?.id);
  const event: Writable<MessageSent> = {
    type: 'message.sent',
    at,
    by: by.id,
    as: standingOf(by),
    channel: name,
    seq,
    body: command.body,
  };
  // In this order they are stored. Most messages have none, and spreading nothing costs as much as a field.
  if (command.correlationId !== null) event.correlationId = command.correlationId;
  if (command.replyTo !== null) event.replyTo = command.replyTo;
  if (joined.root !== null) event.root = joined.root;
  if (command.replyTo !== null && command.isQuote) event.quote = true;
  if (command.postVersion != null) event.post = true;
  if (command.key !== null) event.key = command.key;
  if (command.ttlMs !== null) event.expiresAt = at + command.ttlMs;
  if (held !== null) event.held = held;
  if (asked !== null) event.gate = asked.id;
  if (command.asks != null) event.asks = command.asks;
  if (by.turn !== undefined) event.turn = by.turn.id;
  if (trace !== null) event.trace = trace;
  const answer = { position: world.length, seq, at, depth, limit };
  if (asked === null && joined.opened === null) return { events: [event], answer };
  const opened = joined.opened === null ? [] : [joined.opened];
  if (asked === null) return { events: [event, ...opened], answer };
  return { events: [event, asked, ...opened], answer: { ...answer, gate: asked.id } };
}

/** Why what this principal says waits for a person; null when it need not [R6]. */
export function heldReason(world: WorldView, by: Principal): string | null {
  if (by.tier !== 'untrusted' || !world.settings.doesHoldUntrusted) return null;
  return 'the sender is untrusted; a person must release it';
}

/**
 * What the hub itself says on a `sox/` channel. Where it tells what somebody did, words of that
 * somebody may be in it: it is marked with the actor, and has the actor's standing [QU6].
 */
export function serverMessage(
  world: WorldView,
  channel: string,
  body: string,
  { at, actor }: { readonly at: number; readonly actor: Principal | null },
): MessageSent {
  const seq = (world.channels.get(channel)?.positions.head ?? 0) + 1;
  const as = standingOf(actor ?? SERVER);
  const head = { type: 'message.sent', at, by: SERVER.id, as } as const;
  return { ...head, ...(actor !== null && { actor: actor.id }), channel, seq, body };
}

export function evolveSent(world: World, event: MessageSent, position: number): void {
  const channel = channelOf(world, event.channel, event.by);
  if (event.seq === 1 && channel.kind === 'dm') joinParties(world, channel, event);
  if (event.seq === 1 && channel.kind === 'sox') joinAddressee(world, channel);
  assert(
    event.seq === channel.positions.head + 1,
    'the messages of a channel are numbered in order',
  );
  channel.positions.push(position);
  channel.lastSentAt = event.at;
  if (event.replyTo !== undefined || event.post) enterThread(channel, event.seq, event);
  if (event.by !== SERVER.id) agentOf(world, event.by);
  if (event.turn !== undefined) countSend(world, event.turn);
  if (event.held !== undefined) {
    const waking = channel.managed.size > 0 ? wakingOf(event, position) : undefined;
    hold(world, channel, { ...event, held: event.held, waking }, position);
  } else {
    if (channel.idleCount > 0) {
      for (const member of channel.members.values()) {
        if (!member.isReady && member.from < event.seq) settleMember(member);
      }
    }
    if (channel.managed.size > 0) {
      wakeManaged(world, channel, wakingOf(event, position), event.at);
    }
  }
  if (event.key !== undefined) rememberKey(world, event, position);
  if (event.replyTo !== undefined) {
    rememberReply(world, event.replyTo, event.by, { position, at: event.at });
  }
}

export function insertSorted(seqs: number[], seq: number): void {
  let i = seqs.length;
  while (i > 0 && (seqs[i - 1] as number) > seq) i--;
  if (seqs[i - 1] !== seq) seqs.splice(i, 0, seq);
}

/** Keys of this form are remembered for a short while only. */
const RETRY_PREFIX = 'retry:';

/** The sender is part of it: a key that another chose must not swallow a message [M4]. */
function keyOf(sender: string, channel: string, key: string): string {
  return `${sender}\u0000${channel}\u0000${key}`;
}

function rememberKey(world: World, event: MessageSent, position: number): void {
  const { keys, ttlMs, isForgetting } = keysFor(world, event.key ?? '');
  const sent = { position, seq: event.seq, at: event.at };
  while (keys.oldest !== undefined) {
    const isOld = (keys.get(keys.oldest)?.at ?? 0) + ttlMs <= event.at;
    if (!isOld) break;
    const { oldest } = keys;
    keys.delete(oldest);
    if (!isForgetting) count(world.made.keys, senderOf(oldest), -1);
  }
  const key = keyOf(event.by, event.channel, event.key ?? '');
  // Deleting first keeps the map in the order of time, which the sweep above relies on.
  const isNew = !keys.delete(key);
  keys.set(key, sent);
  if (isForgetting) makeRoom(world.retries, RETRY_KEYS_MAX, senderOf);
  else if (isNew) count(world.made.keys, event.by, 1);
}

/** Whose share a remembered key counts against. */
export function senderOf(key: string): string {
  return key.slice(0, key.indexOf('\u0000'));
}

/**
 * A key that begins with `retry:` guards one send against a broken connection: it is
 * needed for minutes, not for a day, and the oldest make room. Every send of the
 * client carries one [M11].
 */
function keysFor<W extends WorldView>(
  world: W,
  key: string,
): { keys: W['keys'] | W['retries']; ttlMs: number; isForgetting: boolean } {
  if (key.startsWith(RETRY_PREFIX)) {
    return { keys: world.retries, ttlMs: RETRY_KEY_TTL_MS, isForgetting: true };
  }
  return { keys: world.keys, ttlMs: world.settings.idempotencyTtlMs, isForgetting: false };
}

/**
 * The first message of a dm subscribes both parties, so that it arrives without
 * anyone having prepared for it; the sender is owed what comes after it [D3].
 */
function joinParties(world: World, channel: Channel, event: MessageSent): void {
  for (const party of dmParties(channel.name) ?? []) {
    const agent = agentOf(world, party, event.by);
    if (agent.patterns.has(channel.name)) continue;
    agent.patterns.add(channel.name);
    joinChannel(channel, agent, party === event.by ? event.seq : 0);
  }
}

/** What the hub tells one agent arrives without that agent having asked for it [WK2]. */
function joinAddressee(world: World, channel: Channel): void {
  const name = addresseeOf(channel.name);
  const agent = name === null ? undefined : world.agents.get(name);
  if (agent === undefined || agent.patterns.has(channel.name)) return;
  agent.patterns.add(channel.name);
  joinChannel(channel, agent, 0);
}

function checkRoom(
  world: WorldView,
  channel: ChannelView | undefined,
  command: SendMessage,
  isGated: boolean,
): Refusal | null {
  const { by, at } = command;
  if (channel === undefined) {
    const full = checkChannelRoom(world, by, command.channel);
    if (full !== null) return full;
    // The first message of a dm makes both parties known.
    for (const party of channelKind(command.channel) === 'dm'
      ? (dmParties(command.channel) ?? [])
      : []) {
      const noRoom = checkAgentRoom(world, by, party);
      if (noRoom !== null) return noRoom;
    }
  }
  if (command.key !== null && !command.key.startsWith(RETRY_PREFIX) && !hasOldKey(world, at)) {
    const mine = world.made.keys.get(by.id) ?? 0;
    const full = checkShare('IDEMPOTENCY_KEYS_MAX', by, world.keys.size, mine);
    if (full !== null) return full;
  }
  return (isGated ? checkGateRoom(world, by) : null) ?? checkHeldRoom(world, by, channel, isGated);
}

/** The message that is sent next makes room. */
function hasOldKey(world: WorldView, at: number): boolean {
  const { oldest } = world.keys;
  const sent = oldest === undefined ? undefined : world.keys.get(oldest);
  return sent !== undefined && sent.at + world.settings.idempotencyTtlMs <= at;
}

/** For decide: is there room for one more message that waits for a person, if this one would? */
export function checkHeldRoom(
  world: WorldView,
  by: Principal,
  channel: ChannelView | undefined,
  isGated = false,
): Refusal | null {
  if (!isGated && heldReason(world, by) === null) return null;
  // What was refused stays there, so that no reader is handed it [R8].
  if ((channel?.held?.size ?? 0) >= HELD_PER_CHANNEL_MAX) {
    return refuseFull('HELD_PER_CHANNEL_MAX', HELD_PER_CHANNEL_MAX);
  }
  return checkShare('HELD_MESSAGES_MAX', by, world.held.size, world.made.held.get(by.id) ?? 0);
}
