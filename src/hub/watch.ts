/**
 * Waiting for something to happen instead of asking again and again: new mail for
 * an agent, an answer to a message, a change of a receipt. Waits are bounded in
 * number, those of one agent too, and in time. Where very many wait for the same they are woken some at a time,
 * with whoever else asks in between [H23]. Listeners are told one by one: one that throws is reported
 * the first time it does, and costs the others nothing [H5].
 */

import { isContextEvent } from '../core/context/context-evolve.ts';
import type { GateAsked, GateEvent } from '../core/gates/gate-events.ts';
import type { WorldView } from '../core/law/state.ts';
import type { DurableEvent } from '../core/law/world.ts';
import type { Clock } from './clock.ts';
import type { Holding } from './whispers.ts';

export const WAITS_MAX = 20_000;
/** Of one agent, so that nobody waits in the place of all others; one ends, and the next may wait. */
export const WAITS_OF_ONE_MAX = 1_000;

/** So many are woken at once: each asks for what it waited for, and is answered. */
export const WAKES_AT_ONCE = 16;

export interface ReceiptChange {
  readonly position: number;
  /** Whose receipt changed. */
  readonly agent: string;
}

type EventType = DurableEvent['type'];

export type ReceiptListener = (changes: readonly ReceiptChange[]) => void;

/** Hears every batch once it is durable; `first` is the position of its first event. */
export type EventListener = (
  world: WorldView,
  first: number,
  events: readonly DurableEvent[],
) => void;

export interface EventWish {
  /** Only batches that hold one of these. */
  readonly types?: readonly EventType[];
  /** It listens to each hub that opens, and so again to this one: it is no reason to keep it open. */
  readonly isOfEveryHub?: boolean;
}

/** The part of an AbortSignal that a wait needs; the hub's world has no DOM. */
export interface Signal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

type Wait = Promise<boolean | null>;

export interface Watch {
  /**
   * True when mail came for the agent, false when the time was up or the caller has
   * gone; null when too many wait already.
   */
  mail(agent: string, waitMs: number, signal?: Signal | null): Wait;
  /** Likewise for an ack of, or a reply to, the message at a position; `by` is who waits. */
  answer(position: number, by: string, waitMs: number, signal?: Signal | null): Wait;
  /** Likewise for one's turn in the queue for a claim. */
  turn(wait: number, by: string, waitMs: number, signal?: Signal | null): Wait;
  /** Likewise for the decision on a gate. */
  gate(id: string, by: string, waitMs: number, signal?: Signal | null): Wait;
  /** Likewise for a change of a namespace of context. */
  context(ns: string, by: string, waitMs: number, signal?: Signal | null): Wait;
  /** Likewise for a turn of a managed agent that may be taken. */
  due(by: string, waitMs: number, signal?: Signal | null): Wait;
  /** Likewise for a run that may be taken, or news of one that is held. */
  stir(by: string, waitMs: number, signal?: Signal | null): Wait;
  /** Likewise for the end of a run. */
  run(id: string, by: string, waitMs: number, signal?: Signal | null): Wait;
  /** Tells of receipts that changed, until the returned function is called. */
  receipts(listener: ReceiptListener): () => void;
  /**
   * Tells of everything that is recorded, until the returned function is called; of a busy space nearly all are messages
   * alone, so a listener may name the types that it is for.
   */
  events(listener: EventListener, wish?: EventWish): () => void;
  /** Somebody waits, or listens to this hub. */
  readonly isInUse: boolean;
  onEvents(world: WorldView, first: number, events: readonly DurableEvent[]): void;
  onPresented(agent: string, messages: readonly { readonly position: number }[]): void;
  /** Ends all waits, and those to come, while the hub still takes what their callers do about it. */
  endWaits(): void;
  readonly isEnding: boolean;
  close(): void;
}

type Waiter = (isThere: boolean) => void;

export function createWatch(
  clock: Clock,
  onTrouble: (what: string, cause: unknown) => void,
  whispers?: Holding,
): Watch {
  const mail = new Map<string, Set<Waiter>>();
  const answers = new Map<number, Set<Waiter>>();
  const turns = new Map<number, Set<Waiter>>();
  const gates = new Map<string, Set<Waiter>>();
  const contexts = new Map<string, Set<Waiter>>();
  const dues = new Map<'', Set<Waiter>>();
  const stirs = new Map<'', Set<Waiter>>();
  const runs = new Map<string, Set<Waiter>>();
  let stirred = -1;
  const receiptListeners = new Set<ReceiptListener>();
  const eventListeners = new Map<EventListener, EventWish>();
  /** Listeners that threw: each is complained of once, or a broken one would fill the record. */
  const broken = new WeakSet<object>();
  /** How many wait, by agent and in all. */
  const counts = new Map<string, number>();
  let count = 0;
  let isEnding = false;

  function tell<L extends ReceiptListener | EventListener>(
    listeners: Iterable<L>,
    run: (listener: L) => void,
  ): void {
    for (const listener of listeners) {
      try {
        run(listener);
      } catch (cause) {
        if (!broken.has(listener)) onTrouble('a listener failed; the others were told', cause);
        broken.add(listener);
      }
    }
  }

  function wait<K>(
    waiters: Map<K, Set<Waiter>>,
    key: K,
    by: string,
    waitMs: number,
    signal: Signal | null,
  ): Wait {
    const own = counts.get(by) ?? 0;
    const ofOne = own + (whispers?.others.holds(by, 'waits') ?? 0);
    if (count >= WAITS_MAX || ofOne >= WAITS_OF_ONE_MAX) return Promise.resolve(null);
    if (signal?.aborted || isEnding) return Promise.resolve(false);
    count++;
    counts.set(by, own + 1);
    whispers?.hold(by, 'waits', own + 1, WAITS_OF_ONE_MAX);
    return new Promise((resolve) => {
      const all = waiters.get(key) ?? new Set();
      const waiter: Waiter = (isThere) => {
        if (!all.delete(waiter)) return;
        cancel();
        signal?.removeEventListener('abort', giveUp);
        count--;
        const left = (counts.get(by) ?? 0) - 1;
        if (left > 0) counts.set(by, left);
        else counts.delete(by);
        whispers?.hold(by, 'waits', left, WAITS_OF_ONE_MAX);
        if (all.size === 0 && waiters.get(key) === all) waiters.delete(key);
        resolve(isThere);
      };
      const giveUp = (): void => waiter(false);
      const cancel = clock.after(waitMs, giveUp);
      signal?.addEventListener('abort', giveUp);
      waiters.set(key, all.add(waiter));
    });
  }

  /** Woken in what is being told now, and those whose turn it is not yet; one whose time is up meanwhile looks by itself. */
  let woken = 0;
  const line = new Set<Waiter>();

  function wake<K>(waiters: Map<K, Set<Waiter>>, key: K): void {
    for (const waiter of [...(waiters.get(key) ?? [])]) {
      if (line.size === 0 && woken < WAKES_AT_ONCE) {
        woken++;
        waiter(true);
        continue;
      }
      if (line.size === 0) clock.soon(wakeSome);
      line.add(waiter);
    }
  }

  function wakeSome(): void {
    let count = 0;
    for (const waiter of line) {
      line.delete(waiter);
      waiter(true);
      if (++count === WAKES_AT_ONCE) break;
    }
    if (line.size > 0) clock.soon(wakeSome);
  }

  function endWaits(): void {
    isEnding = true;
    const all = [mail, answers, turns, gates, contexts, dues, stirs, runs].flatMap((waiters) => [
      ...waiters.values(),
    ]);
    for (const waiters of all) {
      for (const waiter of [...waiters]) waiter(false);
    }
  }

  return {
    endWaits,
    get isEnding() {
      return isEnding;
    },
    mail: (agent, waitMs, signal = null) => wait(mail, agent, agent, waitMs, signal),
    answer: (position, by, waitMs, signal = null) => wait(answers, position, by, waitMs, signal),
    turn: (number, by, waitMs, signal = null) => wait(turns, number, by, waitMs, signal),
    gate: (id, by, waitMs, signal = null) => wait(gates, id, by, waitMs, signal),
    context: (ns, by, waitMs, signal = null) => wait(contexts, ns, by, waitMs, signal),
    due: (by, waitMs, signal = null) => wait(dues, '', by, waitMs, signal),
    stir: (by, waitMs, signal = null) => wait(stirs, '', by, waitMs, signal),
    run: (id, by, waitMs, signal = null) => wait(runs, id, by, waitMs, signal),
    receipts(listener) {
      receiptListeners.add(listener);
      return () => receiptListeners.delete(listener);
    },
    events(listener, wish = {}) {
      eventListeners.set(listener, wish);
      return () => eventListeners.delete(listener);
    },
    get isInUse() {
      if (count > 0 || receiptListeners.size > 0) return true;
      return [...eventListeners.values()].some(({ isOfEveryHub }) => isOfEveryHub !== true);
    },
    onEvents(world, first, events) {
      woken = 0;
      if (events.length > 0) {
        tell(concerned(eventListeners, events), (listener) => {
          // One of them may have ended another.
          if (eventListeners.has(listener)) listener(world, first, events);
        });
      }
      if (mail.size > 0) for (const agent of newlyOwed(world, events, mail)) wake(mail, agent);
      if (turns.size > 0) {
        for (const event of events) {
          if (event.type === 'wait.reserved' || event.type === 'wait.ended')
            wake(turns, event.number);
        }
      }
      if (gates.size > 0) {
        for (const event of events) if (isGateWord(event)) wake(gates, event.id);
      }
      if (contexts.size > 0) {
        for (const event of events) if (isContextEvent(event)) wake(contexts, event.ns);
      }
      if (stirs.size > 0 && world.workflows.stirred !== stirred) wake(stirs, '');
      stirred = world.workflows.stirred;
      if (runs.size > 0) {
        for (const event of events) {
          const isHeard = event.type === 'run.recorded' || event.type === 'run.cancelled';
          if (isHeard && hasStopped(world, event.id)) wake(runs, event.id);
        }
      }
      if (dues.size > 0 && events.some(maySetFree)) wake(dues, '');
      if (answers.size > 0) {
        for (const event of events) {
          if (event.type === 'ack.recorded') wake(answers, event.position);
          if (event.type === 'message.sent' && event.replyTo !== undefined)
            wake(answers, event.replyTo);
        }
      }
      if (receiptListeners.size === 0) return;
      const changes = events.flatMap((event) => changesOf(world, event));
      if (changes.length > 0) tell(receiptListeners, (listener) => listener(changes));
    },
    onPresented(agent, messages) {
      if (receiptListeners.size === 0) return;
      const changes = messages.map(({ position }) => ({ position, agent }));
      tell(receiptListeners, (listener) => listener(changes));
    },
    close() {
      endWaits();
      receiptListeners.clear();
      eventListeners.clear();
    },
  };
}

/** Those who are for all, and those who are for a type of which there is one. */
function concerned(
  listeners: ReadonlyMap<EventListener, EventWish>,
  events: readonly DurableEvent[],
): EventListener[] {
  const held = new Set<EventType>();
  let last: EventType | null = null;
  for (const { type } of events) {
    if (type !== last) held.add(type);
    last = type;
  }
  return [...listeners].flatMap(([listener, { types }]) =>
    types === undefined || types.some((type) => held.has(type)) ? listener : [],
  );
}

/** Somebody's word on a gate, or its end. */
function isGateWord(event: DurableEvent): event is Exclude<GateEvent, GateAsked> {
  return event.type.startsWith('gate.') && event.type !== 'gate.asked';
}

/** Whether a turn may be taken that could not be before: one is due, or one that ran has ended. */
function maySetFree({ type }: DurableEvent): boolean {
  return (
    (type.startsWith('turn.') && type !== 'turn.renewed' && type !== 'turn.taken') ||
    type === 'space.configured'
  );
}

/** Those who wait for mail and got some. */
function newlyOwed(
  world: WorldView,
  events: readonly DurableEvent[],
  waiting: ReadonlyMap<string, unknown>,
): string[] {
  const agents = new Set<string>();
  const channels = new Set<string>();
  for (const event of events) {
    if (event.type === 'inbox.lapsed') agents.add(event.agent);
    else if (event.type === 'message.sent') channels.add(event.channel);
    else if (event.type === 'message.reviewed') channels.add(event.channel);
  }
  for (const channel of channels) {
    const members = world.channels.get(channel)?.members ?? new Map();
    const [few, many] = members.size < waiting.size ? [members, waiting] : [waiting, members];
    for (const agent of few.keys()) if (many.has(agent)) agents.add(agent);
  }
  return [...agents].filter((agent) => (world.agents.get(agent)?.ready.size ?? 0) > 0);
}

/** Which receipts an event may have changed. The listener asks for their state itself. */
function changesOf(world: WorldView, event: DurableEvent): ReceiptChange[] {
  switch (event.type) {
    case 'ack.recorded':
      return [{ position: event.position, agent: event.by }];
    case 'message.sent':
      return event.replyTo === undefined ? [] : [{ position: event.replyTo, agent: event.by }];
    case 'message.reviewed': {
      const agents = world.channels.get(event.channel)?.members.keys() ?? [];
      return [...agents].map((agent) => ({ position: event.position, agent }));
    }
    case 'held.expired':
      return event.expired.flatMap(([channel, , position]) => {
        const agents = world.channels.get(channel)?.members.keys() ?? [];
        return [...agents].map((agent) => ({ position, agent }));
      });
    case 'inbox.lapsed':
      return [...event.again, ...event.dead].flatMap(([name, seq]) =>
        changed(world, name, seq, seq, event.agent),
      );
    case 'inbox.drained':
      return [
        ...(event.again ?? []).flatMap(([name, seq]) => changed(world, name, seq, seq, event.by)),
        ...event.through.flatMap(([name, seq, before]) =>
          changed(world, name, before + 1, seq, event.by),
        ),
      ];
    default:
      return [];
  }
}

function changed(
  world: WorldView,
  name: string,
  from: number,
  to: number,
  agent: string,
): ReceiptChange[] {
  const positions = world.channels.get(name)?.positions;
  const changes: ReceiptChange[] = [];
  const last = Math.min(to, positions?.head ?? 0);
  for (let seq = Math.max(1, from); seq <= last && positions !== undefined; seq++) {
    changes.push({ position: positions.at(seq), agent });
  }
  return changes;
}

/** A run that is over, or stuck: nothing more comes of it by itself. */
function hasStopped({ workflows: { live } }: WorldView, id: string): boolean {
  const run = live.get(id);
  return run === undefined || run.state === 'stuck';
}
