/**
 * What may wake a managed agent and is not settled yet. A message is entered when it is sent or
 * released, for those of its channel who are managed; it leaves with the end of its turn, or when it
 * is read, withdrawn or expired before one [TN1].
 *
 * A send on a channel without managed members costs one comparison.
 */
import type { Agent, AgentView, Channel, World, WorldView } from '../law/state.ts';
import { mayWake } from './may-wake.ts';
import type { Chain } from './rails/chains.ts';
import { hear, isPerson } from './rails/hear.ts';
import { settleStilled } from './turn-docket.ts';
import { GATHER_LONGEST_MS, GATHER_MS, PENDING_PER_AGENT_MAX } from './turn-limits.ts';
import type { Managed, ManagedView, Stilled, Waking } from './turn-state.ts';
import { selects } from './wake-rule.ts';

interface Sent {
  readonly at: number;
  readonly by: string;
  readonly as?: Waking['as'];
  readonly actor?: string;
  readonly channel: string;
  readonly seq: number;
  readonly replyTo?: number;
  readonly expiresAt?: number;
  readonly asks?: Waking['asks'];
  readonly trace?: string;
}

export function wakingOf(event: Sent, position: number): Waking {
  const { channel, seq, at, by, as, actor, replyTo, expiresAt, asks, trace } = event;
  return {
    ...{ channel, seq, position, at, by },
    as: as ?? null,
    replyTo: replyTo ?? null,
    expiresAt: expiresAt ?? null,
    asks: asks ?? null,
    ...(actor !== undefined && { actor }),
    ...(trace !== undefined && { trace }),
  };
}

/** For evolve: those of the channel whom this message may wake will be looked at. */
export function wakeManaged(world: World, channel: Channel, message: Waking, at: number): void {
  const chain = hear(world, channel, message);
  for (const member of channel.managed) {
    const { managed } = member.agent;
    if (managed === null || member.from >= message.seq) continue;
    // Nobody wakes itself [TN1].
    if (message.by === managed.agent || message.actor === managed.agent) continue;
    const may = selects(managed.config.wake, message) && mayWake(world, managed, message, chain);
    if (typeof may === 'string')
      still(world, managed, { ...stilledBy(message, chain), cause: may }, at);
    if (managed.state === 'parked' && isPerson(message))
      free(world, managed, message, chain, may, at);
    if (may !== true) continue;
    if (isPerson(message)) heedPerson(world, managed, message);
    if (managed.pending.length >= PENDING_PER_AGENT_MAX) prune(world, managed, at);
    if (managed.pending.length >= PENDING_PER_AGENT_MAX) managed.isFlooded = true;
    else managed.pending.push(message);
    if (managed.state === 'asleep') gather(world, managed, at);
  }
}

/** For evolve: the turn has sent one more message. */
export function countSend({ turns: { turns } }: World, id: string): void {
  const turn = turns.get(id);
  if (turn !== undefined) turns.set(id, { ...turn, sends: turn.sends + 1 });
}

/** A message that would have woken it: that it did not is told in the next step, once for a thread. */
function still(world: World, managed: Managed, stilled: Stilled, at: number): void {
  const isTold = world.turns.rails.chains.threads.get(stilled.root)?.needs != null;
  if (isTold || managed.stilled.some(({ root }) => root === stilled.root)) return;
  managed.stilled.push(stilled);
  world.deadlines.push({ at, kind: 'turns', agent: managed.agent });
}

function stilledBy({ position, by }: Waking, { root }: Chain): Omit<Stilled, 'cause'> {
  return { position, root, by };
}

/** A person spoke to an agent that is parked, or where it is parked for: that frees it [RA12]. */
function free(
  world: World,
  managed: Managed,
  { by }: Waking,
  { root }: Chain,
  may: boolean | string,
  at: number,
): void {
  if (may !== true && !managed.parkedFor.includes(root)) return;
  managed.freedBy = by;
  world.deadlines.push({ at, kind: 'turns', agent: managed.agent });
}

/** What led nowhere may lead somewhere again, now that a person speaks to the agent [RA13]. */
function heedPerson(world: World, managed: Managed, { at, by }: Waking): void {
  const { fruitless } = managed.rails.triggers;
  if (fruitless.size === 0) return;
  fruitless.clear();
  settleStilled(world, { agent: managed.agent }, at, by);
}

/** More may come together: the look waits a little for it, and not for long [TN4]. */
function gather(world: World, managed: Managed, at: number): void {
  managed.gatherFrom ??= at;
  const lookAt = Math.min(at + GATHER_MS, managed.gatherFrom + GATHER_LONGEST_MS);
  if (managed.lookAt !== null && managed.lookAt >= lookAt) return;
  const isArmed = managed.lookAt !== null;
  managed.lookAt = lookAt;
  // A deadline that is set already leads to this one.
  if (!isArmed) world.deadlines.push({ at: lookAt, kind: 'turns', agent: managed.agent });
}

/** For evolve: an agent that is asleep and has reasons to wake is looked at now. */
export function lookNow(world: World, managed: Managed, at: number): void {
  managed.gatherFrom = null;
  managed.lookAt = null;
  if (managed.state !== 'asleep' || (managed.pending.length === 0 && !managed.isFlooded)) return;
  managed.gatherFrom = at;
  managed.lookAt = at;
  world.deadlines.push({ at, kind: 'turns', agent: managed.agent });
}

/** For evolve: what came back from a lease may wake again. */
export function lookAgain(world: World, { managed }: Agent, at: number): void {
  if (managed !== null && managed.lookAt === null) lookNow(world, managed, at);
}

/** The oldest that may still begin a turn, so many at the most. */
export function wakingNow(
  world: WorldView,
  managed: ManagedView,
  at: number,
  max: number,
): Waking[] {
  const agent = world.agents.get(managed.agent);
  const found: Waking[] = [];
  for (const message of managed.pending) {
    if (found.length >= max) break;
    if (agent !== undefined && isOwed(world, agent, message, at)) found.push(message);
  }
  return found;
}

/** For evolve: forgets what cannot wake the agent any more. */
export function prune(world: World, managed: Managed, at: number): void {
  const agent = world.agents.get(managed.agent);
  managed.pending = managed.pending.filter(
    (message) =>
      agent !== undefined &&
      (isOwed(world, agent, message, at) ||
        agent.memberships.get(message.channel)?.leased?.has(message.seq)),
  );
}

export function dropPending(managed: Managed, messages: readonly Waking[]): void {
  const gone = new Set(messages.map(({ position }) => position));
  managed.pending = managed.pending.filter(({ position }) => !gone.has(position));
}

function isOwed(
  world: WorldView,
  agent: AgentView,
  { channel, seq, position, expiresAt }: Waking,
  at: number,
): boolean {
  const member = agent.memberships.get(channel);
  if (member === undefined || member.from >= seq || member.channel.held?.has(seq)) return false;
  if (member.channel.positions.head < seq || member.channel.positions.at(seq) !== position)
    return false;
  if (seq <= member.cursor && !member.again.includes(seq)) return false;
  if (expiresAt !== null && expiresAt <= at) return false;
  // What was settled by an ack needs no turn, read or not.
  const state = world.fates.get(position)?.get(agent.name)?.state;
  return state === undefined || state === 'received' || state === 'processing';
}
