/**
 * Gates and people as the law knows them. A gate is open while it is pending, or approved and not used
 * yet; what has ended never changes and is forgotten oldest first.
 */

import { fieldsOf, mapBy } from '../law/fields.ts';
import { FifoMap } from '../law/fifo-map.ts';
import { Heap } from '../law/heap.ts';
import type { View } from '../law/view.ts';
import { ENDED_GATES_MAX, ENDED_GATES_PER_AGENT_MAX } from './gate-limits.ts';

export type GateTier = 1 | 2;
export type DeciderKind = 'human' | 'admin';

/** How a decider showed to be a person; `none` is the owner's credential alone, where a space allows it. */
export type Proof = 'passphrase' | 'passkey' | 'none';

export type OpenState = 'pending' | 'approved';
export type EndState = 'denied' | 'expired' | 'withdrawn' | 'superseded' | 'consumed' | 'lapsed';

export interface Deciders {
  readonly kinds: readonly DeciderKind[];
  /** Nobody named: everybody of these kinds. */
  readonly names: readonly string[];
  readonly count: number;
}

/** One person's word. */
export interface Verdict {
  readonly by: string;
  /** The person who proved to be one; null where the owner's credential was enough. */
  readonly person: string | null;
  readonly proof: Proof;
  readonly at: number;
  readonly reason: string | null;
}

/** How a gate ended; a person is named when it was a denial. */
export interface GateEnd {
  readonly state: EndState;
  readonly at: number;
  readonly by: string;
  readonly person: string | null;
  readonly proof: Proof | null;
  readonly reason: string | null;
}

/** What was asked. */
interface Wish {
  readonly id: string;
  readonly asker: string;
  /** What the asker came with, so that it cannot answer under another name. */
  readonly credential: string;
  readonly action: string;
  readonly subject: string;
  readonly tier: GateTier;
  readonly deciders: Deciders;
  readonly askedAt: number;
  readonly deadlineAt: number | null;
  readonly thread: string | null;
  readonly payloadHash: string | null;
  /** The rule that demanded it: when that changes, an approval lapses. */
  readonly policy: string | null;
  readonly turn: string | null;
  /** It outlives its turn. */
  readonly isKept: boolean;
  /** Position of the message that waits for it: approved, that is delivered [GT14]. */
  readonly holds: number | null;
  /** Whoever asked waits for the end, and needs no message about it. */
  readonly isAwaited: boolean;
}

/** One that is open. */
export interface Gate extends Wish {
  state: OpenState;
  approvals: readonly Verdict[];
  /** When time ends it; null: never. */
  dueAt: number | null;
  heapIndex: number;
}

export interface EndedGate extends Wish {
  readonly approvals: readonly Verdict[];
  readonly end: GateEnd;
}

/** A human principal of this space, with what checks a passphrase. */
export interface Person {
  readonly name: string;
  readonly verifier: string;
  readonly addedAt: number;
  readonly addedBy: string;
  /** Who proved to be a person for it; null for the first. */
  readonly vouchedBy: string | null;
  /** Absent while there was none yet. */
  readonly passkeys?: readonly Passkey[];
}

/** A key of a person's device: the public half, and how often it signed by its own count. */
export interface Passkey {
  readonly id: string;
  /** SPKI in DER, base64url. */
  readonly publicKey: string;
  readonly label: string | null;
  readonly signCount: number;
  readonly addedAt: number;
}

export interface GateBook {
  counter: number;
  readonly open: Map<string, Gate>;
  readonly ended: FifoMap<string, EndedGate>;
  readonly people: Map<string, Person>;
  readonly byAsker: Map<string, Set<Gate>>;
  readonly byTurn: Map<string, Set<Gate>>;
  /** Ids of what ended, by asker, oldest first. */
  readonly endedBy: Map<string, string[]>;
  readonly due: Heap<Gate>;
}

export type GateBookView = View<GateBook>;
export type GateView = View<Gate>;
export type AnyGateView = GateView | View<EndedGate>;

const BOOK = fieldsOf<GateBook>()({
  counter: 'stored',
  open: 'linked',
  ended: 'linked',
  people: mapBy<Person>(({ name }) => name),
  byAsker: 'derived',
  byTurn: 'derived',
  endedBy: 'derived',
  due: 'derived',
});

const WISH = {
  id: 'stored',
  asker: 'stored',
  credential: 'stored',
  action: 'stored',
  subject: 'stored',
  tier: 'stored',
  deciders: 'stored',
  askedAt: 'stored',
  deadlineAt: 'stored',
  thread: 'stored',
  payloadHash: 'stored',
  policy: 'stored',
  turn: 'stored',
  isKept: 'stored',
  holds: 'stored',
  isAwaited: 'stored',
} as const;

const GATE = fieldsOf<Gate>()({
  ...WISH,
  state: 'stored',
  approvals: 'stored',
  dueAt: 'stored',
  heapIndex: 'derived',
});

const ENDED = fieldsOf<EndedGate>()({ ...WISH, approvals: 'stored', end: 'stored' });

export function createGates(): GateBook {
  return {
    counter: 0,
    open: new Map(),
    ended: new FifoMap(),
    people: new Map(),
    byAsker: new Map(),
    byTurn: new Map(),
    endedBy: new Map(),
    due: new Heap((a, b) => isSooner(a, b)),
  };
}

export function freezeGates(book: GateBook): object {
  return BOOK.freeze(book, {
    open: Array.from(book.open.values(), (gate) => GATE.freeze(gate, {})),
    ended: Array.from(book.ended.values(), (gate) => ENDED.freeze(gate, {})),
  });
}

export function thawGates(frozen: unknown): GateBook {
  const { open, ended } = frozen as Record<'open' | 'ended', readonly unknown[]>;
  const book = BOOK.thaw(frozen, createGates());
  for (const gate of open) addGate(book, GATE.thaw(gate, { heapIndex: -1 }));
  for (const gate of ended) keepEnded(book, ENDED.thaw(gate, {}));
  return book;
}

export function addGate(book: GateBook, gate: Gate): void {
  book.open.set(gate.id, gate);
  enter(book.byAsker, gate.asker, gate);
  if (gate.turn !== null) enter(book.byTurn, gate.turn, gate);
  if (gate.dueAt !== null) book.due.put(gate);
}

/** It has ended: off every index, and remembered for who comes late. */
export function closeGate(book: GateBook, gate: Gate, end: GateEnd): void {
  book.due.delete(gate);
  book.open.delete(gate.id);
  leave(book.byAsker, gate.asker, gate);
  if (gate.turn !== null) leave(book.byTurn, gate.turn, gate);
  const { state: _, dueAt: __, heapIndex: ___, ...kept } = gate;
  keepEnded(book, { ...kept, end });
}

function keepEnded(book: GateBook, gate: EndedGate): void {
  book.ended.set(gate.id, gate);
  const mine = book.endedBy.get(gate.asker) ?? [];
  book.endedBy.set(gate.asker, mine);
  mine.push(gate.id);
  if (mine.length > ENDED_GATES_PER_AGENT_MAX) book.ended.delete(mine.shift() ?? '');
  const { oldest } = book.ended;
  if (book.ended.size <= ENDED_GATES_MAX || oldest === undefined) return;
  const asker = book.ended.get(oldest)?.asker ?? '';
  book.ended.delete(oldest);
  const theirs = book.endedBy.get(asker)?.filter((id) => id !== oldest) ?? [];
  if (theirs.length > 0) book.endedBy.set(asker, theirs);
  else book.endedBy.delete(asker);
}

/** Of two that are due at once the older is first, so that a thawed book goes on alike [L3]. */
function isSooner(a: Gate, b: Gate): boolean {
  const [mine, theirs] = [a.dueAt ?? 0, b.dueAt ?? 0];
  return mine === theirs
    ? a.askedAt < b.askedAt || (a.askedAt === b.askedAt && numberOf(a) < numberOf(b))
    : mine < theirs;
}

function numberOf({ id }: Gate): number {
  return Number(id.slice(1));
}

function enter(index: Map<string, Set<Gate>>, key: string, gate: Gate): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, new Set([gate]));
  else known.add(gate);
}

function leave(index: Map<string, Set<Gate>>, key: string, gate: Gate): void {
  const known = index.get(key);
  known?.delete(gate);
  if (known?.size === 0) index.delete(key);
}
