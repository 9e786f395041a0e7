/**
 * The inbox: what an agent is owed and has not drained [N1]. A drain hands each
 * message out once, in channel order [N2]; under a lease it comes back unless it
 * is acked in time, and after DELIVERIES_MAX hand-outs it is dead [N5].
 *
 * Draining is done in two steps. `peek` says what would be handed out, the hub
 * reads those bodies, and the drain then takes exactly what was read: a body that
 * cannot be read is never marked as delivered.
 */

import { assert } from '../law/assert.ts';
import { type Asked, type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import { Heap } from '../law/heap.ts';
import { DELIVERIES_MAX, LEASED_PER_AGENT_MAX } from '../law/limits.ts';
import type { AgentView, Member, MemberView, World, WorldView } from '../law/state.ts';
import { lookAgain } from '../turns/pending.ts';
import { agentOf } from './agent.ts';
import {
  channelWith,
  freeCount,
  nextFree,
  nextOwed,
  passRefused,
  settleMember,
} from './channel.ts';
import { insertSorted } from './message.ts';
import { rememberFate } from './receipt.ts';

export interface Owed {
  readonly channel: string;
  readonly seq: number;
  readonly position: number;
}

export interface Drain extends Asked {
  readonly type: 'inbox.drain';
  /** What peek said and the hub has read, in channel order. */
  readonly owed: readonly Owed[];
  /** Positions among `owed` whose time to live has passed: passed over, not handed out. */
  readonly expired: ReadonlySet<number>;
  readonly leaseMs: number | null;
}

export interface Commit extends Asked {
  readonly type: 'inbox.commit';
  /** Everything owed at or below this position counts as read. */
  readonly through: number;
}

type ChannelSeq = readonly [channel: string, seq: number];

export interface Drained {
  readonly type: 'inbox.drained';
  readonly at: number;
  readonly by: string;
  /** New cursors, each with the one before it. */
  readonly through: readonly (readonly [channel: string, seq: number, before: number])[];
  /** Seqs below the cursor that were owed again and are taken now. */
  readonly again?: readonly ChannelSeq[];
  readonly expired?: readonly (readonly [channel: string, seq: number, position: number])[];
  readonly leaseUntil?: number;
}

export interface Lapsed {
  readonly type: 'inbox.lapsed';
  readonly at: number;
  readonly agent: string;
  readonly again: readonly ChannelSeq[];
  readonly dead: readonly (readonly [channel: string, seq: number, position: number])[];
}

export interface DrainAnswer {
  readonly taken: readonly Owed[];
  readonly leaseUntil: number | null;
}

/** What a drain would hand out now: per channel oldest first, over channels by position. */
export function peek(
  world: WorldView,
  agentName: string,
  channels: readonly string[] | null,
  max: number,
): Owed[] | Refusal {
  const agent = world.agents.get(agentName);
  if (channels !== null) {
    for (const name of channels) {
      if (agent?.memberships.has(name)) continue;
      return refuse('subscription.not-found', `${agentName} is not subscribed to ${name}`, {
        channel: name,
      });
    }
  }
  if (agent === undefined) return [];
  // What is owed on a channel comes after the oldest of it: `max` channels are enough for `max` messages.
  const members =
    channels === null
      ? agent.ready.firsts(() => true, max)
      : channels.map((name) => agent.memberships.get(name) as MemberView);
  return mergeOwed(new Set(members), max);
}

/** Over channels by position; only what is taken is looked at. */
function mergeOwed(members: ReadonlySet<MemberView>, max: number): Owed[] {
  const heads = new Heap<Head>((a, b) => a.position < b.position);
  for (const member of members) {
    if (!member.isReady) continue;
    const { oldest: position } = member;
    heads.put({ member, againIndex: 0, seq: nextOwed(member), position, heapIndex: -1 });
  }
  const owed: Owed[] = [];
  for (let head = heads.first; head !== undefined && owed.length < max; head = heads.first) {
    const { member, seq, position } = head;
    const { channel, again, cursor } = member;
    owed.push({ channel: channel.name, seq, position });
    head.seq = again[++head.againIndex] ?? nextFree(channel, Math.max(seq, cursor));
    if (head.seq > channel.positions.head) {
      heads.delete(head);
      continue;
    }
    head.position = channel.positions.at(head.seq);
    heads.put(head);
  }
  return owed;
}

/** The next message to take from one channel. */
interface Head {
  readonly member: MemberView;
  /** Where it lies in `again`, or beyond when it is a new one. */
  againIndex: number;
  seq: number;
  position: number;
  heapIndex: number;
}

/** How much an agent is owed, without reading any of it. */
export function owedTotal(agent: AgentView | undefined): number {
  let total = 0;
  for (const member of agent?.ready ?? []) {
    const { channel, cursor, again } = member;
    total += freeCount(channel, cursor, channel.positions.head) + again.length;
  }
  return total;
}

export function decideDrain(world: WorldView, command: Drain): Decision<Drained, DrainAnswer> {
  const { by, at, expired, leaseMs } = command;
  const agent = world.agents.get(by.id);
  if (leaseMs !== null && (agent?.leasedCount ?? 0) + command.owed.length > LEASED_PER_AGENT_MAX) {
    return refuseFull('LEASED_PER_AGENT_MAX', LEASED_PER_AGENT_MAX);
  }
  const taken: Owed[] = [];
  const passed: (readonly [string, number, number])[] = [];
  const again: ChannelSeq[] = [];
  const cursors = new Map<string, number>();
  for (const owed of command.owed) {
    const member = agent?.memberships.get(owed.channel);
    // Between peek and now the channel may have been retired, and its name used again.
    if (member === undefined || channelWith(world, owed) === undefined) continue;
    const cursor = cursors.get(owed.channel) ?? member.cursor;
    if (owed.seq <= cursor) {
      // Between peek and now another drain may have taken it.
      if (!member.again.includes(owed.seq)) continue;
      again.push([owed.channel, owed.seq]);
    } else if (nextFree(member.channel, cursor) === owed.seq) {
      cursors.set(owed.channel, owed.seq);
    } else {
      continue;
    }
    if (expired.has(owed.position)) passed.push([owed.channel, owed.seq, owed.position]);
    else taken.push(owed);
  }
  const leaseUntil = leaseMs === null ? null : at + leaseMs;
  if (cursors.size === 0 && again.length === 0)
    return { events: [], answer: { taken, leaseUntil } };
  const event: Drained = {
    type: 'inbox.drained',
    at,
    by: by.id,
    through: [...cursors].map(([name, seq]) => [
      name,
      seq,
      agent?.memberships.get(name)?.cursor ?? 0,
    ]),
    ...(again.length > 0 && { again }),
    ...(passed.length > 0 && { expired: passed }),
    ...(leaseUntil !== null && { leaseUntil }),
  };
  return { events: [event], answer: { taken, leaseUntil } };
}

export function decideCommit(
  world: WorldView,
  command: Commit,
): Decision<Drained, { readonly count: number }> {
  const { by, at, through } = command;
  const cursors: (readonly [string, number, number])[] = [];
  let count = 0;
  for (const member of world.agents.get(by.id)?.ready ?? []) {
    const seq = member.channel.positions.lastAtOrBefore(through);
    if (seq <= member.cursor) continue;
    cursors.push([member.channel.name, seq, member.cursor]);
    count += freeCount(member.channel, member.cursor, seq);
  }
  // What is owed again lies below the cursor and may never have been shown: a position cannot speak for it.
  if (cursors.length === 0) return { events: [], answer: { count } };
  return {
    events: [{ type: 'inbox.drained', at, by: by.id, through: cursors }],
    answer: { count },
  };
}

export function evolveDrained(world: World, event: Drained): void {
  const agent = agentOf(world, event.by);
  const expired = new Set(event.expired?.map(([channel, seq]) => `${seq} ${channel}`));
  for (const [name, seq, position] of event.expired ?? []) {
    rememberFate(world, position, agent.name, {
      state: 'expired',
      reason: `its time to live passed before ${agent.name} read it on ${name} (seq ${seq})`,
      at: event.at,
    });
  }
  const lease = (member: Member, seq: number): void => {
    if (event.leaseUntil === undefined || expired.has(`${seq} ${member.channel.name}`)) return;
    if (member.channel.held?.has(seq)) return;
    // What was acked before it was drained is settled: it is handed out once and does not come back.
    if (isAcked(world, member.channel.positions.at(seq), agent.name)) return;
    member.leased ??= new Map();
    member.deliveries ??= new Map();
    if (!member.leased.has(seq)) agent.leasedCount++;
    agent.leasing.add(member);
    member.leased.set(seq, { until: event.leaseUntil });
    member.deliveries.set(seq, (member.deliveries.get(seq) ?? 0) + 1);
  };
  for (const [name, seq] of event.again ?? []) {
    const member = agent.memberships.get(name);
    if (member === undefined) continue;
    member.again = member.again.filter((one) => one !== seq);
    lease(member, seq);
    if (event.leaseUntil === undefined) member.deliveries?.delete(seq);
    settleMember(member);
  }
  for (const [name, through] of event.through) {
    const member = agent.memberships.get(name);
    if (member === undefined) continue;
    if (event.leaseUntil !== undefined) {
      for (let seq = member.cursor + 1; seq <= through; seq++) lease(member, seq);
    }
    assert(through <= member.channel.positions.head, 'nothing is read before it is sent');
    member.cursor = Math.max(member.cursor, through);
    member.channel.drained = Math.max(member.channel.drained, through);
    passRefused(member);
    settleMember(member);
  }
  if (event.leaseUntil !== undefined) {
    world.deadlines.push({ at: event.leaseUntil, kind: 'lease', agent: agent.name });
  }
}

/** Leases of this agent that ran out by `at`. */
export function lapsedLeases(world: WorldView, agentName: string, at: number): Lapsed | null {
  const again: ChannelSeq[] = [];
  const dead: (readonly [string, number, number])[] = [];
  for (const member of world.agents.get(agentName)?.leasing ?? []) {
    for (const [seq, lease] of member.leased ?? []) {
      if (lease.until > at) continue;
      const { name, positions } = member.channel;
      if ((member.deliveries?.get(seq) ?? 0) >= DELIVERIES_MAX)
        dead.push([name, seq, positions.at(seq)]);
      else again.push([name, seq]);
    }
  }
  if (again.length === 0 && dead.length === 0) return null;
  return { type: 'inbox.lapsed', at, agent: agentName, again, dead };
}

export function evolveLapsed(world: World, event: Lapsed): void {
  const agent = agentOf(world, event.agent);
  for (const [name, seq] of event.again) {
    const member = agent.memberships.get(name);
    if (member === undefined || !endLease(member, seq)) continue;
    assert(seq <= member.cursor, 'only what was handed out is owed again');
    insertSorted(member.again, seq);
    settleMember(member);
  }
  for (const [name, seq, position] of event.dead) {
    const member = agent.memberships.get(name);
    if (member === undefined || !endLease(member, seq)) continue;
    member.deliveries?.delete(seq);
    const reason = `handed out ${DELIVERIES_MAX} times and never acked`;
    rememberFate(world, position, agent.name, { state: 'dead', reason, at: event.at });
  }
  lookAgain(world, agent, event.at);
}

function isAcked(world: WorldView, position: number, agent: string): boolean {
  const state = world.fates.get(position)?.get(agent)?.state;
  return state !== undefined && state !== 'expired' && state !== 'dead';
}

/** Sees to it that the agent is looked at when the next of its leases runs out. */
export function armLeases(world: World, agentName: string): void {
  const agent = world.agents.get(agentName);
  if (agent === undefined || agent.leasedCount === 0) return;
  let due = Number.POSITIVE_INFINITY;
  for (const member of agent.leasing) {
    for (const { until } of member.leased?.values() ?? []) due = Math.min(due, until);
  }
  assert(Number.isFinite(due), 'an agent that counts leases has one that runs out');
  world.deadlines.push({ at: due, kind: 'lease', agent: agentName });
}

/** Takes a seq off its lease; false when it was on none. */
export function endLease(member: Member, seq: number): boolean {
  if (!member.leased?.delete(seq)) return false;
  member.agent.leasedCount--;
  assert(member.agent.leasedCount >= 0, 'no lease is counted off twice');
  if (member.leased.size === 0) member.agent.leasing.delete(member);
  return true;
}
