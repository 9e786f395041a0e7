/**
 * What falls due, soonest first, with one entry for each kind and agent, so that it never grows
 * with the number of beats or drains. A deadline may have been overtaken by events; whoever takes
 * it looks at the state again and puts back what is not due after all.
 */
import { Heap } from './heap.ts';

export interface Deadline {
  readonly at: number;
  readonly kind:
    | 'presence'
    | 'lease'
    | 'claims'
    | 'offers'
    | 'supervisor'
    | 'held'
    | 'docket'
    | 'gates'
    | 'turns'
    | 'instances'
    | 'context'
    | 'sessions'
    | 'runs'
    | 'sweep';
  readonly agent: string;
}

interface Entry {
  at: number;
  readonly kind: Deadline['kind'];
  readonly agent: string;
  heapIndex: number;
}

export class Deadlines {
  readonly #heap = new Heap<Entry>(isBefore);
  readonly #entries: Readonly<Record<Deadline['kind'], Map<string, Entry>>> = {
    presence: new Map(),
    lease: new Map(),
    claims: new Map(),
    offers: new Map(),
    supervisor: new Map(),
    held: new Map(),
    docket: new Map(),
    gates: new Map(),
    turns: new Map(),
    instances: new Map(),
    context: new Map(),
    sessions: new Map(),
    runs: new Map(),
    sweep: new Map(),
  };

  get next(): Deadline | null {
    return this.#heap.first ?? null;
  }

  get size(): number {
    return this.#heap.size;
  }

  /** Of two for the same kind and agent the sooner stays: looking too early is harmless. */
  push({ at, kind, agent }: Deadline): void {
    const known = this.#entries[kind].get(agent);
    if (known !== undefined && known.at <= at) return;
    const entry = known ?? { at, kind, agent, heapIndex: -1 };
    entry.at = at;
    this.#entries[kind].set(agent, entry);
    this.#heap.put(entry);
  }

  /** Takes one item due at or before `at`. */
  pop(at: number): Deadline | null {
    const { first } = this.#heap;
    if (first === undefined || first.at > at) return null;
    this.#entries[first.kind].delete(first.agent);
    this.#heap.delete(first);
    return first;
  }
}

/** Which comes first of those that fall due at one time. */
const RANK: Readonly<Record<Deadline['kind'], number>> = {
  presence: 0,
  lease: 1,
  claims: 2,
  offers: 3,
  supervisor: 4,
  held: 5,
  docket: 6,
  gates: 7,
  turns: 8,
  instances: 9,
  context: 10,
  sessions: 11,
  runs: 12,
  sweep: 13,
};

/** A full order: a thawed world, which set its deadlines anew, takes the same one first [L3]. */
function isBefore(a: Entry, b: Entry): boolean {
  if (a.at !== b.at) return a.at < b.at;
  return a.kind === b.kind ? a.agent < b.agent : RANK[a.kind] < RANK[b.kind];
}
