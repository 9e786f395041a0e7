/**
 * What sets one agent off again and again: turns over one message [RA5], turns for one thread in half an
 * hour [RA9], and wakes that did nothing. A trigger (channel and sender) whose wakes are fruitless
 * waits longer each time, until it waits for a person [RA13].
 */
import type { FifoMap } from '../../law/fifo-map.ts';
import type { View } from '../../law/view.ts';
import { type Limits, limitOf } from '../agent-limits.ts';
import { TRIGGERS_KEPT } from './bounds.ts';
import { park, type Stop } from './diary.ts';

export interface TriggerBook {
  /** How many turns were begun over each message that is still owed. */
  readonly overMessage: FifoMap<number, number>;
  /** When turns were begun for each thread. */
  readonly overThread: FifoMap<number, readonly number[]>;
  /** Fruitless turns in a row, by trigger. */
  readonly fruitless: FifoMap<string, { readonly count: number; readonly at: number }>;
}

export interface Reason {
  readonly position: number;
  readonly root: number;
  /** Channel and sender; null for a person, who is never ranked. */
  readonly trigger: string | null;
}

export const SAME_REASON_MS: number = 30 * 60_000;
/** How long a trigger waits after so many fruitless turns; beyond it waits for a person. */
const FRUITLESS_WAIT_MS: readonly number[] = [0, 0, 60_000, 5 * 60_000];

/** Whether what comes by this trigger wakes nobody any more [RA13]. */
export function isSpent(book: TriggerView, trigger: string): boolean {
  return (book.fruitless.get(trigger)?.count ?? 0) >= FRUITLESS_WAIT_MS.length;
}

export function triggerOf(channel: string, sender: string): string {
  return `${channel}\u0000${sender}`;
}

export function beginReasons(book: TriggerBook, reasons: readonly Reason[], at: number): void {
  for (const { position } of reasons) {
    put(book.overMessage, position, (book.overMessage.get(position) ?? 0) + 1);
  }
  for (const root of new Set(reasons.map((one) => one.root))) {
    const recent = (book.overThread.get(root) ?? []).filter((time) => time > at - SAME_REASON_MS);
    put(book.overThread, root, [...recent, at].slice(-100));
  }
}

export function endReasons(
  book: TriggerBook,
  reasons: readonly Reason[],
  end: {
    readonly at: number;
    readonly isFruitful: boolean;
    readonly consumed: ReadonlySet<number>;
  },
): void {
  for (const position of end.consumed) book.overMessage.delete(position);
  for (const trigger of new Set(reasons.map((one) => one.trigger))) {
    if (trigger === null) continue;
    if (end.isFruitful) book.fruitless.delete(trigger);
    else {
      const count = (book.fruitless.get(trigger)?.count ?? 0) + 1;
      put(book.fruitless, trigger, { count, at: end.at });
    }
  }
}

type TriggerView = View<TriggerBook>;

/** Whether a turn for these may begin at `at`. */
export function checkTriggers(
  book: TriggerView,
  reasons: readonly Reason[],
  limits: Limits,
  at: number,
): Stop | null {
  let soonest = Number.POSITIVE_INFINITY;
  for (const { position, root, trigger } of reasons) {
    const turns = book.overMessage.get(position) ?? 0;
    if (turns >= limitOf(limits, 'turns_per_message')) {
      return park('turns_per_message', `${turns} turns over message m${position}`);
    }
    const times = (book.overThread.get(root) ?? []).filter((time) => time > at - SAME_REASON_MS);
    if (times.length >= limitOf(limits, 'repeats_per_30_min')) {
      return park('repeats_per_30_min', `${times.length} turns in 30 min for thread m${root}`);
    }
    const idle = trigger === null ? undefined : book.fruitless.get(trigger);
    const until = idle === undefined ? at : idle.at + (FRUITLESS_WAIT_MS[idle.count] ?? 0);
    soonest = Math.min(soonest, until);
  }
  // One that need not wait takes the others along.
  if (soonest <= at || soonest === Number.POSITIVE_INFINITY) return null;
  return { kind: 'wait', limit: 'fruitless', until: soonest };
}

/** A person looked, or spoke in the thread: null is every thread. */
export function clearTriggers(book: TriggerBook, root: number | null): void {
  if (root !== null) {
    book.overThread.delete(root);
    return;
  }
  book.overMessage.clear();
  book.overThread.clear();
  book.fruitless.clear();
}

function put<K, V>(map: FifoMap<K, V>, key: K, value: V): void {
  if (!map.has(key) && map.size >= TRIGGERS_KEPT && map.oldest !== undefined)
    map.delete(map.oldest);
  map.set(key, value);
}
