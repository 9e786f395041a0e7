/**
 * The law told a second time, slowly and plainly, from nothing but the entries of the
 * log: who was owed what, and what became of it. It shares no state and no code with
 * `core` but the reading of names, so that a mistake would have to be made twice.
 */
import { createMatcher, isGlob } from '../core/law/glob.ts';
import { addresseeOf, channelKind, dmParties } from '../core/law/name.ts';
import type { ReceiptState } from '../core/talk/receipt.ts';

export interface ModelMessage {
  readonly position: number;
  readonly channel: string;
  readonly seq: number;
  readonly by: string;
  readonly body: Record<string, unknown>;
  readonly key: string | null;
  readonly replyTo: number | null;
  readonly expiresAt: number | null;
  readonly wasHeld: boolean;
  hold: 'none' | 'held' | 'refused';
}

type Standing = 'owed' | 'leased' | 'read' | 'passed';

/** An agent's time on a channel. */
interface Seat {
  readonly from: number;
  readonly patterns: Set<string>;
  readonly standings: Map<number, Standing>;
  cursor: number;
}

// biome-ignore lint/suspicious/noExplicitAny: entries are read as they lie, without the types of core.
type Entry = any;

export interface Model {
  readonly length: number;
  readonly messages: readonly ModelMessage[];
  /** Takes in the next entry; throws when it contradicts what came before. */
  add(entry: string): void;
  channel(name: string): readonly ModelMessage[];
  /** Positions an agent is owed and may be handed, ascending. */
  owed(agent: string): number[];
  /** Null when it was never owed. `isShown`: a feed showed it to the agent. */
  receipt(message: ModelMessage, agent: string, at: number): ReceiptState | null;
  wasOwed(message: ModelMessage, agent: string): boolean;
  patterns(agent: string): readonly string[];
  fate(position: number, agent: string): string | null;
  /** An ack of it is stored, whatever came of it since. */
  wasAcked(position: number, agent: string): boolean;
  deliveries(position: number, agent: string): number;
  /** May a turn be begun for it: owed, not held, not expired, and not settled by an ack. */
  isWaking(position: number, agent: string, at: number): boolean;
  isSeated(agent: string, channel: string): boolean;
  /** It is out on a lease, and may come back. */
  isLeased(position: number, agent: string): boolean;
  readonly agents: ReadonlySet<string>;
}

/** So many messages that were given to turns and not read are remembered for their receipts. */
const GIVEN_KEPT = 100;

export function createModel(): Model {
  const messages: ModelMessage[] = [];
  const byPosition = new Map<number, ModelMessage>();
  const channels = new Map<string, ModelMessage[]>();
  const retired = new Set<ModelMessage>();
  const seats = new Map<string, Map<string, Seat>>();
  const past = new Map<string, { seat: Seat; until: number }>();
  const patterns = new Map<string, Set<string>>();
  const fates = new Map<string, string>();
  const acks = new Set<string>();
  const replies = new Set<string>();
  const handed = new Map<string, number>();
  /** When each lease of an agent lapses, by position. */
  const leases = new Map<string, Map<number, number>>();
  const agents = new Set<string>();
  /** What each turn was given, and what an agent was given and has not read. */
  const turns = new Map<string, { agent: string; messages: readonly number[]; isOver: boolean }>();
  const given = new Map<string, number[]>();
  let length = 0;

  const fail = (why: string): never => {
    throw new Error(`entry ${length}: ${why}`);
  };
  const on = (name: string): ModelMessage[] => {
    const known = channels.get(name);
    if (known !== undefined) return known;
    const list: ModelMessage[] = [];
    channels.set(name, list);
    for (const [agent, mine] of patterns) for (const pattern of mine) sit(agent, name, pattern, 0);
    return list;
  };
  const seatsOn = (name: string): Map<string, Seat> => {
    const known = seats.get(name) ?? new Map();
    seats.set(name, known);
    return known;
  };
  const covers = (pattern: string, name: string): boolean =>
    pattern === name ||
    (isGlob(pattern) && channelKind(name) === 'plain' && createMatcher(pattern)(name));

  function sit(agent: string, name: string, pattern: string, from: number): void {
    if (!covers(pattern, name)) return;
    const seat = seatsOn(name).get(agent) ?? {
      from,
      patterns: new Set(),
      standings: new Map(),
      cursor: from,
    };
    seat.patterns.add(pattern);
    seatsOn(name).set(agent, seat);
  }

  function subscribe(agent: string, pattern: string): void {
    agents.add(agent);
    const mine = patterns.get(agent) ?? new Set();
    if (mine.has(pattern)) return;
    patterns.set(agent, mine.add(pattern));
    if (!isGlob(pattern)) on(pattern);
    for (const [name, list] of channels) sit(agent, name, pattern, list.length);
  }

  function unsubscribe(agent: string, pattern: string): void {
    patterns.get(agent)?.delete(pattern);
    for (const [name, there] of seats) {
      const seat = there.get(agent);
      if (!seat?.patterns.delete(pattern) || seat.patterns.size > 0) continue;
      there.delete(agent);
      for (const { position } of on(name)) leases.get(agent)?.delete(position);
      const until = on(name).length;
      if (until > seat.from) past.set(`${agent} ${name}`, { seat, until });
    }
  }

  function sent(event: Entry): void {
    const list = on(event.channel);
    if (event.seq !== list.length + 1) fail(`${event.channel} jumps to seq ${event.seq}`);
    if (event.by !== '__server__') agents.add(event.by);
    if (channelKind(event.channel) === 'dm' && event.seq === 1) {
      for (const party of dmParties(event.channel) ?? []) {
        agents.add(party);
        const mine = patterns.get(party) ?? new Set();
        if (mine.has(event.channel)) continue;
        patterns.set(party, mine.add(event.channel));
        sit(party, event.channel, event.channel, party === event.by ? 1 : 0);
      }
    }
    const addressee = addresseeOf(event.channel);
    if (addressee !== null && event.seq === 1) {
      agents.add(addressee);
      const mine = patterns.get(addressee) ?? new Set();
      if (!mine.has(event.channel)) {
        patterns.set(addressee, mine.add(event.channel));
        sit(addressee, event.channel, event.channel, 0);
      }
    }
    const message: ModelMessage = {
      position: length,
      channel: event.channel,
      seq: event.seq,
      by: event.by,
      body: event.body,
      key: event.key ?? null,
      replyTo: event.replyTo ?? null,
      expiresAt: event.expiresAt ?? null,
      wasHeld: event.held !== undefined,
      hold: event.held === undefined ? 'none' : 'held',
    };
    list.push(message);
    messages.push(message);
    byPosition.set(length, message);
    if (message.replyTo !== null) replies.add(`${message.replyTo} ${message.by}`);
    for (const seat of seatsOn(event.channel).values()) {
      if (seat.from < message.seq) seat.standings.set(message.seq, 'owed');
    }
  }

  /** What an agent does comes after all of its leases that have lapsed by then. */
  function checkLeases(event: Entry): void {
    for (const [position, until] of leases.get(event.by) ?? []) {
      if (until <= event.at) fail(`${event.type}, and a lease of ${position} had lapsed before`);
    }
  }

  function drained(event: Entry): void {
    checkLeases(event);
    const expired = new Set<string>(
      (event.expired ?? []).map(([name, seq]: Entry) => `${seq} ${name}`),
    );
    const take = (name: string, seq: number): void => {
      const seat = seatsOn(name).get(event.by) ?? fail(`${event.by} drains ${name} without a seat`);
      const message = on(name)[seq - 1] ?? fail(`${name} has no seq ${seq}`);
      if (message.hold !== 'none') return;
      if (seat.standings.get(seq) !== 'owed') {
        fail(`${event.by} takes ${name} ${seq}, which is ${seat.standings.get(seq)}`);
      }
      if (expired.has(`${seq} ${name}`)) {
        seat.standings.set(seq, 'passed');
        fates.set(`${message.position} ${event.by}`, 'expired');
      } else {
        seat.standings.set(seq, event.leaseUntil === undefined ? 'read' : 'leased');
        const mine = leases.get(event.by) ?? new Map();
        leases.set(event.by, mine);
        if (event.leaseUntil !== undefined) mine.set(message.position, event.leaseUntil);
        const key = `${message.position} ${event.by}`;
        handed.set(key, (handed.get(key) ?? 0) + 1);
      }
    };
    for (const [name, seq] of event.again ?? []) take(name, seq);
    for (const [name, through, before] of event.through) {
      const seat = seatsOn(name).get(event.by);
      for (let seq = before + 1; seq <= through; seq++) take(name, seq);
      if (seat !== undefined) seat.cursor = Math.max(seat.cursor, through);
    }
  }

  function acked(event: Entry): void {
    checkLeases(event);
    leases.get(event.by)?.delete(event.position);
    acks.add(`${event.position} ${event.by}`);
    fates.set(`${event.position} ${event.by}`, event.status);
    const seat = seatsOn(event.channel).get(event.by);
    const standing = seat?.standings.get(event.seq);
    const isBack = standing === 'owed' && event.seq <= (seat?.cursor ?? 0);
    if (standing === 'leased' || isBack) seat?.standings.set(event.seq, 'read');
  }

  function lapsed(event: Entry): void {
    for (const [list, next] of [
      [event.again, 'owed'],
      [event.dead, 'passed'],
    ] as const) {
      for (const [name, seq, position] of list) {
        const seat = seatsOn(name).get(event.agent);
        if (seat?.standings.get(seq) !== 'leased') fail(`${name} ${seq} lapses without a lease`);
        seat?.standings.set(seq, next);
        leases.get(event.agent)?.delete((on(name)[seq - 1] as ModelMessage).position);
        if (next === 'passed') fates.set(`${position} ${event.agent}`, 'dead');
      }
    }
  }

  /** Read, in whatever order; what is passed by stays owed. */
  function consume(position: number, agent: string, next: Standing): void {
    const { channel, seq } = byPosition.get(position) as ModelMessage;
    const seat = seatsOn(channel).get(agent);
    if (seat === undefined || seat.from >= seq) return;
    const standing = seat.standings.get(seq);
    if (standing === 'owed' || standing === 'leased') seat.standings.set(seq, next);
    leases.get(agent)?.delete(position);
    seat.cursor = Math.max(seat.cursor, seq);
  }

  function forgetGiven(agent: string, read: readonly number[]): void {
    const left = (given.get(agent) ?? []).filter((position) => !read.includes(position));
    given.set(agent, left);
  }

  function oweAgain(position: number, agent: string): void {
    const { channel, seq } = byPosition.get(position) as ModelMessage;
    fates.delete(`${position} ${agent}`);
    const seat = seatsOn(channel).get(agent);
    const standing = seat?.standings.get(seq);
    if (standing === 'read' || standing === 'passed') seat?.standings.set(seq, 'owed');
  }

  /** What turns do to what is owed. */
  function turned(event: Entry): void {
    if (event.type === 'turn.due') {
      turns.set(event.id, { agent: event.agent, messages: event.messages, isOver: false });
    }
    if (event.type === 'agent.unmanaged') return void given.delete(event.agent);
    if (!('id' in event) || event.id === null) return;
    const turn = turns.get(event.id) ?? fail(`${event.type} of ${event.id}, which was never due`);
    const { agent } = turn;
    if (event.type === 'turn.taken') {
      turn.messages = event.messages;
      const all = new Set([...(given.get(agent) ?? []), ...turn.messages]);
      given.set(agent, [...all].slice(-GIVEN_KEPT));
    } else if (event.type === 'turn.finished') {
      for (const position of event.consumed) consume(position, agent, 'read');
      forgetGiven(agent, event.consumed);
      turn.isOver = true;
    } else if (event.type === 'turn.dead') {
      for (const position of turn.messages) {
        consume(position, agent, 'passed');
        fates.set(`${position} ${agent}`, 'dead');
      }
      forgetGiven(agent, turn.messages);
      turn.isOver = true;
    } else if (event.type === 'turn.cancelled') turn.isOver = true;
    else if (event.type === 'turn.revived' && turn.isOver) {
      for (const position of turn.messages) oweAgain(position, agent);
    }
  }

  function add(entry: string): void {
    const event = JSON.parse(entry) as Entry;
    if (event.type === 'message.sent') sent(event);
    else if (event.type === 'subscription.added') subscribe(event.by, event.pattern);
    else if (event.type === 'group.created' || event.type === 'group.joined')
      subscribe(event.by, event.group);
    else if (event.type === 'group.left') unsubscribe(event.by, event.group);
    else if (event.type === 'inbox.drained') drained(event);
    else if (event.type === 'inbox.lapsed') lapsed(event);
    else if (event.type === 'ack.recorded') acked(event);
    else if (event.type === 'subscription.removed') {
      for (const pattern of event.patterns) unsubscribe(event.by, pattern);
    } else if (event.type === 'message.reviewed') {
      const message = byPosition.get(event.position) ?? fail('a review of nothing');
      if (message.hold !== 'held') fail('a review of what is not held');
      message.hold = event.isReleased ? 'none' : 'refused';
    } else if (event.type.startsWith('turn.') || event.type === 'agent.unmanaged') turned(event);
    else if (event.type === 'channel.retired') {
      for (const message of on(event.channel)) retired.add(message);
      channels.delete(event.channel);
      seats.delete(event.channel);
      for (const mine of patterns.values()) mine.delete(event.channel);
    } else if (event.type === 'agent.removed') {
      for (const pattern of [...(patterns.get(event.agent) ?? [])])
        unsubscribe(event.agent, pattern);
      for (const key of [...past.keys()]) if (key.startsWith(`${event.agent} `)) past.delete(key);
      agents.delete(event.agent);
    } else if (event.type === 'agent.parked') {
      Object.assign(turns.get(event.turn) ?? {}, { isOver: true });
    }
    length++;
  }

  function seatOf(message: ModelMessage, agent: string): { seat: Seat; isPast: boolean } | null {
    const seat = seats.get(message.channel)?.get(agent);
    if (retired.has(message)) return null;
    if (seat !== undefined && seat.from < message.seq) return { seat, isPast: false };
    const left = past.get(`${agent} ${message.channel}`);
    if (left === undefined || left.seat.from >= message.seq || left.until < message.seq)
      return null;
    return { seat: left.seat, isPast: true };
  }

  function receipt(message: ModelMessage, agent: string, at: number): ReceiptState | null {
    const key = `${message.position} ${agent}`;
    const fate = fates.get(key);
    const found = seatOf(message, agent);
    if (found === null && fate === undefined) return null;
    if (fate === 'done') return 'acted';
    if (fate === 'nack') return 'refused';
    if (fate === 'expired' || fate === 'dead') return fate;
    if (replies.has(key)) return 'acted';
    if (fate !== undefined) return 'consumed';
    if (message.hold !== 'none') return message.hold;
    const standing = found?.seat.standings.get(message.seq);
    if (standing === 'read') return 'consumed';
    if (found?.isPast) return 'expired';
    if (standing === 'leased') return 'presented';
    if (message.expiresAt !== null && message.expiresAt <= at) return 'expired';
    return given.get(agent)?.includes(message.position) ? 'presented' : 'accepted';
  }

  return {
    get length() {
      return length;
    },
    messages,
    agents,
    add,
    channel: (name) => channels.get(name) ?? [],
    owed(agent) {
      const found: number[] = [];
      for (const [name, there] of seats) {
        for (const [seq, standing] of there.get(agent)?.standings ?? []) {
          const message = on(name)[seq - 1] as ModelMessage;
          if (standing === 'owed' && message.hold === 'none') found.push(message.position);
        }
      }
      return found.sort((a, b) => a - b);
    },
    receipt,
    wasOwed: (message, agent) => seatOf(message, agent) !== null,
    patterns: (agent) => [...(patterns.get(agent) ?? [])],
    fate: (position, agent) => fates.get(`${position} ${agent}`) ?? null,
    wasAcked: (position, agent) => acks.has(`${position} ${agent}`),
    deliveries: (position, agent) => handed.get(`${position} ${agent}`) ?? 0,
    isWaking(position, agent, at) {
      const { channel, seq, hold, expiresAt } = byPosition.get(position) as ModelMessage;
      const fate = fates.get(`${position} ${agent}`);
      return (
        seats.get(channel)?.get(agent)?.standings.get(seq) === 'owed' &&
        hold === 'none' &&
        (expiresAt === null || expiresAt > at) &&
        (fate === undefined || fate === 'received' || fate === 'processing')
      );
    },
    isSeated: (agent, channel) => seats.get(channel)?.has(agent) === true,
    isLeased(position, agent) {
      const { channel, seq } = byPosition.get(position) as ModelMessage;
      return seats.get(channel)?.get(agent)?.standings.get(seq) === 'leased';
    },
  };
}
