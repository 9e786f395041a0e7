/**
 * What became of my messages, as one short mark each. A receipt belongs to one recipient; the mark
 * counts recipients by state. My own receipt of my own message says nothing and is left out.
 */
import type { CallOutput } from '../client/index.ts';

export type ReceiptState = CallOutput<'receipts.get'>['receipts'][number]['state'];

/** Recipient to state. */
export type Receipts = ReadonlyMap<string, ReceiptState>;

export interface ReceiptSeen {
  readonly message: string;
  readonly agent: string;
  readonly state: ReceiptState;
}

export function seenIn(
  message: string,
  receipts: CallOutput<'receipts.get'>['receipts'],
): ReceiptSeen[] {
  return receipts.map(({ agent_id: agent, state }) => ({ message, agent, state }));
}

/** In the order of a message's life; the unusual ends last. */
export const MARKS: Readonly<Record<ReceiptState, readonly [mark: string, word: string]>> = {
  accepted: ['✓', 'owed'],
  presented: ['◦', 'shown'],
  consumed: ['●', 'read'],
  acted: ['★', 'acted on'],
  held: ['‖', 'held for a person'],
  refused: ['✗', 'refused'],
  expired: ['∅', 'expired'],
  dead: ['†', 'given up'],
};

const STATES = Object.keys(MARKS) as ReceiptState[];
export const RECEIPT_MESSAGES_MAX = 1_000;
const RECIPIENTS_MAX = 200;

/** `●2★`: two have read it, one has acted on it. */
export function receiptMark(receipts: Receipts | undefined): string {
  const counts = new Map<ReceiptState, number>();
  for (const state of receipts?.values() ?? []) counts.set(state, (counts.get(state) ?? 0) + 1);
  return STATES.flatMap((state) => {
    const count = counts.get(state) ?? 0;
    if (count === 0) return [];
    return [`${MARKS[state][0]}${count > 1 ? count : ''}`];
  }).join('');
}

/** What the usual marks mean, on one line; help has them all. */
export function legend(): string {
  const usual: readonly ReceiptState[] = ['accepted', 'presented', 'consumed', 'acted'];
  return usual.map((state) => MARKS[state].join(' ')).join('  ');
}

/** Bounded: the message that was heard of least recently is forgotten first. */
export function noteReceipts(
  known: ReadonlyMap<string, Receipts>,
  seen: readonly ReceiptSeen[],
): ReadonlyMap<string, Receipts> {
  if (seen.every(({ message, agent, state }) => known.get(message)?.get(agent) === state))
    return known;
  const all = new Map(known);
  for (const { message, agent, state } of seen) {
    const before = all.get(message);
    if (before?.get(agent) === state) continue;
    if (before !== undefined && before.size >= RECIPIENTS_MAX && !before.has(agent)) continue;
    all.delete(message);
    all.set(message, new Map(before).set(agent, state));
  }
  for (const oldest of all.keys()) {
    if (all.size <= RECEIPT_MESSAGES_MAX) break;
    all.delete(oldest);
  }
  return all;
}
