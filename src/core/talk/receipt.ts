/**
 * Receipts: what became of a message for one recipient [R1]. Most follow from
 * cursors and leases and cost no memory; only acks and unusual ends (fates) are
 * remembered, up to a bound, the oldest of those who have the most forgotten first.
 */
import { FATES_REMEMBERED_MAX, READERS_NAMED_MAX } from '../law/limits.ts';
import type { ChannelView, Fate, World, WorldView } from '../law/state.ts';
import { channelWith } from './channel.ts';

export type ReceiptState =
  | 'accepted'
  | 'presented'
  | 'consumed'
  | 'acted'
  | 'held'
  | 'refused'
  | 'expired'
  | 'dead';

export interface Receipt {
  readonly agent: string;
  readonly state: ReceiptState;
  readonly reason: string | null;
  /** When it came to this state, where that is recorded. */
  readonly at: number | null;
}

/** The message a receipt is about, as read from the log. */
export interface ReceiptSubject {
  readonly position: number;
  readonly channel: string;
  readonly seq: number;
  readonly expiresAt: number | null;
}

/** Receipts of all who were subscribed when the message was sent. */
export function receiptsOf(world: WorldView, subject: ReceiptSubject, at: number): Receipt[] {
  const channel = channelWith(world, subject);
  if (channel === undefined) return [];
  const names = new Set([...channel.members.keys(), ...channel.past.keys()]);
  const receipts: Receipt[] = [];
  for (const name of names) {
    const receipt = receiptFor(world, subject, name, at);
    if (receipt !== null) receipts.push(receipt);
  }
  return receipts;
}

/** The receipt of one agent, or null if the message was never owed to it. */
export function receiptFor(
  world: WorldView,
  subject: ReceiptSubject,
  agent: string,
  at: number,
): Receipt | null {
  const channel = channelWith(world, subject);
  const fate = world.fates.get(subject.position)?.get(agent);
  // Only what was owed has a fate, even where the interval of that time is forgotten by now.
  if (channel === undefined || (fate === undefined && !wasOwed(channel, subject.seq, agent)))
    return null;
  if (fate !== undefined && fate.state !== 'received' && fate.state !== 'processing') {
    return ended(agent, fate);
  }
  const repliedAt = world.replies.get(subject.position)?.get(agent)?.at;
  if (repliedAt !== undefined) return { agent, state: 'acted', reason: 'replied', at: repliedAt };
  if (fate !== undefined)
    return { agent, state: 'consumed', reason: `ack ${fate.state}`, at: fate.at };
  const held = channel.held?.get(subject.seq);
  if (held !== undefined) {
    return {
      agent,
      state: held.isExpired ? 'expired' : held.isRefused ? 'refused' : 'held',
      reason: held.reason,
      at: held.since,
    };
  }
  return { agent, at: null, ...standing(world, channel, subject, agent, at) };
}

/** Was it handed to the agent by a drain? What expired first was passed over, not handed out. */
export function wasDrained(
  channel: ChannelView,
  seq: number,
  agent: string,
  fates: ReadonlyMap<string, Fate> | undefined,
): boolean {
  if (channel.held?.has(seq) || fates?.get(agent)?.state === 'expired') return false;
  const member = channel.members.get(agent);
  if (member !== undefined && member.from < seq) {
    return seq <= member.cursor && !member.again.includes(seq);
  }
  const past = channel.past.get(agent);
  return past !== undefined && past.from < seq && seq <= past.cursor && !past.open.includes(seq);
}

/** Feeds `delivered_to`, with so many as are named; `fates` are those remembered of the message. */
export function drainedBy(
  channel: ChannelView,
  seq: number,
  fates?: ReadonlyMap<string, Fate>,
): string[] {
  const names: string[] = [];
  for (const name of channel.members.keys()) {
    if (names.length === READERS_NAMED_MAX) return names;
    if (wasDrained(channel, seq, name, fates)) names.push(name);
  }
  for (const name of channel.past.keys()) {
    if (names.length === READERS_NAMED_MAX) return names;
    if (!channel.members.has(name) && wasDrained(channel, seq, name, fates)) names.push(name);
  }
  return names;
}

export function wasOwed(channel: ChannelView, seq: number, agent: string): boolean {
  const member = channel.members.get(agent);
  if (member !== undefined && member.from < seq) return true;
  const past = channel.past.get(agent);
  return past !== undefined && past.from < seq && seq <= past.until;
}

export function rememberFate(world: World, position: number, name: string, fate: Fate): void {
  world.fates.set(position, name, fate);
  for (const [owner, behind] of world.fates.makeRoom(FATES_REMEMBERED_MAX)) {
    const agent = world.agents.get(owner);
    if (agent !== undefined) agent.fatesFrom = Math.max(agent.fatesFrom, behind);
  }
}

/** Whether a fate that the agent had there may have been forgotten [R11]. */
export function isForgotten(world: WorldView, position: number, agent: string): boolean {
  return position < (world.agents.get(agent)?.fatesFrom ?? 0);
}

function ended(agent: string, fate: Fate): Receipt {
  const { reason, at } = fate;
  switch (fate.state) {
    case 'done':
      return { agent, state: 'acted', reason: 'ack done', at };
    case 'nack':
      return { agent, state: 'refused', reason: reason ?? 'nack without a reason', at };
    case 'dead':
    case 'expired':
      return { agent, state: fate.state, reason, at };
    case 'received':
    case 'processing':
      return { agent, state: 'consumed', reason: `ack ${fate.state}`, at };
  }
}

function standing(
  world: WorldView,
  channel: ChannelView,
  subject: ReceiptSubject,
  agent: string,
  at: number,
): { state: ReceiptState; reason: string | null } {
  const { seq, position } = subject;
  const member = channel.members.get(agent);
  if (member === undefined || member.from >= seq) {
    const past = channel.past.get(agent);
    if (past !== undefined && seq <= past.cursor && !past.open.includes(seq))
      return consumed(world, position, agent);
    return { state: 'expired', reason: 'unsubscribed before reading or acking it' };
  }
  const lease = member.leased?.get(seq);
  if (lease !== undefined) return { state: 'presented', reason: 'out on lease, not acked yet' };
  if (seq <= member.cursor && !member.again.includes(seq)) return consumed(world, position, agent);
  if (subject.expiresAt !== null && subject.expiresAt <= at) {
    return { state: 'expired', reason: 'its time to live passed unread' };
  }
  if (world.turns.agents.get(agent)?.given.includes(position)) {
    return { state: 'presented', reason: 'given to a turn' };
  }
  const shown = world.agents.get(agent)?.presented;
  if (shown && shown[0] <= position && position <= shown[1]) {
    return { state: 'presented', reason: 'shown on a live feed' };
  }
  if (member.deliveries?.has(seq))
    return { state: 'accepted', reason: 'a lease lapsed; owed again' };
  return { state: 'accepted', reason: null };
}

function consumed(
  world: WorldView,
  position: number,
  agent: string,
): { state: ReceiptState; reason: string | null } {
  const isOld = isForgotten(world, position, agent);
  return {
    state: 'consumed',
    reason: isOld ? 'passed by its reader; acks and expiry this old are forgotten' : null,
  };
}
