/**
 * The docket as it is kept: the items that wait for a person, found by id, by what they are about
 * and by agent, and the newest of those that ended. Everything in it is bounded; what an agent adds
 * beyond its bound is counted and not listed.
 */
import { assert } from '../law/assert.ts';
import { fieldsOf, listOf, mapOf, whole } from '../law/fields.ts';

/** In the order a person looks at them. */
export const ITEM_KINDS = [
  'gate',
  'question',
  'blocked',
  'held',
  'parked',
  'dead',
  'alert',
] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];
export type ItemState = 'open' | 'taken' | 'closed';

/** One thing a person is asked about: a gate, a message, a turn, a question. */
export interface Subject {
  readonly kind: ItemKind;
  /** Its id where it lives: with `kind` it names one thing. */
  readonly subject: string;
  readonly reason: string;
  readonly thread: string | null;
  readonly text: string;
  readonly at: number;
  /** Who is asked; null is anybody. */
  readonly to: string | null;
  /** When it is no longer asked; null is never. */
  readonly until: number | null;
}

export interface Taken {
  readonly by: string;
  readonly at: number;
}

export interface Closed {
  /** Null when no person closed it: it lapsed, or what it was about went on. */
  readonly by: string | null;
  readonly at: number;
  readonly outcome: string;
  readonly note: string | null;
}

export interface Item {
  readonly id: number;
  readonly agent: string;
  /** Of what raised it first; what is counted on it later may be of another kind. */
  readonly kind: ItemKind;
  readonly reason: string;
  readonly thread: string | null;
  readonly madeAt: number;
  /** Since when it waits; raised again within its minute, it waits again. */
  since: number;
  /** When it was last raised, how often, and with what words. */
  newestAt: number;
  count: number;
  text: string;
  /** What is still to be decided, by kind and id. */
  readonly subjects: Map<string, Subject>;
  taken: Taken | null;
  closed: Closed | null;
  /** When people were told of it. */
  noticedAt: number | null;
}

interface AgentItems {
  /** Ids of its items, ascending: all that are known, and those that wait. */
  readonly kept: number[];
  readonly open: number[];
  /** Open subjects of kind `question`: what it asked itself. */
  questions: number;
}

export interface DocketBook {
  readonly items: Map<number, Item>;
  /** The waiting item for an agent, kind, reason and thread. */
  readonly keys: Map<string, number>;
  /** In the order they were closed; the oldest are forgotten. */
  readonly closed: number[];
  /** The id of the next item, and of the next question. */
  nextId: number;
  nextQuestion: number;
  /** Ids of waiting items, ascending. */
  readonly open: number[];
  /** The waiting item that lists a subject. */
  readonly subjects: Map<string, number>;
  readonly agents: Map<string, AgentItems>;
}

const ITEM = fieldsOf<Item>()({
  id: 'stored',
  agent: 'stored',
  kind: 'stored',
  reason: 'stored',
  thread: 'stored',
  madeAt: 'stored',
  since: 'stored',
  newestAt: 'stored',
  count: 'stored',
  text: 'stored',
  subjects: mapOf<string, Subject>(),
  taken: 'stored',
  closed: 'stored',
  noticedAt: 'stored',
});

const BOOK = fieldsOf<DocketBook>()({
  items: mapOf<number, Item>(whole(ITEM)),
  keys: mapOf<string, number>(),
  closed: listOf<number>(),
  nextId: 'stored',
  nextQuestion: 'stored',
  open: 'derived',
  subjects: 'derived',
  agents: 'derived',
});

export function createDocket(): DocketBook {
  return {
    items: new Map(),
    keys: new Map(),
    closed: [],
    nextId: 1,
    nextQuestion: 1,
    open: [],
    subjects: new Map(),
    agents: new Map(),
  };
}

export function freezeDocket(book: DocketBook): unknown {
  return BOOK.freeze(book, {});
}

export function thawDocket(frozen: unknown): DocketBook {
  const book = BOOK.thaw(frozen, { open: [], subjects: new Map(), agents: new Map() });
  for (const item of book.items.values()) {
    insertId(itemsOf(book, item.agent).kept, item.id);
    if (item.closed !== null) continue;
    enterOpen(book, item);
    for (const [place, subject] of item.subjects) indexSubject(book, item, place, subject);
  }
  return book;
}

export function placeOf(kind: ItemKind, subject: string): string {
  return `${kind} ${subject}`;
}

export function itemId(id: number): string {
  return `d${id}`;
}

export function parseItemId(text: string): number | null {
  return /^d[1-9]\d{0,15}$/.test(text) ? Number(text.slice(1)) : null;
}

export function itemsOf(book: DocketBook, agent: string): AgentItems {
  const known = book.agents.get(agent);
  if (known !== undefined) return known;
  const items = { kept: [], open: [], questions: 0 };
  book.agents.set(agent, items);
  return items;
}

export function enterOpen(book: DocketBook, { id, agent }: Item): void {
  insertId(book.open, id);
  insertId(itemsOf(book, agent).open, id);
}

export function leaveOpen(book: DocketBook, { id, agent }: Item): void {
  removeId(book.open, id);
  removeId(itemsOf(book, agent).open, id);
}

export function indexSubject(
  book: DocketBook,
  { id, agent }: Item,
  place: string,
  { kind }: Subject,
): void {
  book.subjects.set(place, id);
  if (kind === 'question') itemsOf(book, agent).questions++;
}

export function dropSubject(book: DocketBook, item: Item, place: string): void {
  const subject = item.subjects.get(place);
  if (subject === undefined) return;
  item.subjects.delete(place);
  book.subjects.delete(place);
  if (subject.kind === 'question') itemsOf(book, item.agent).questions--;
}

export function insertId(ids: number[], id: number): void {
  ids.splice(placeFrom(ids, id), 0, id);
}

export function removeId(ids: number[], id: number): void {
  const i = placeFrom(ids, id);
  assert(ids[i] === id, 'an item is where it was put');
  ids.splice(i, 1);
}

/** The first place in an ascending list whose id is this one or comes after it. */
export function placeFrom(ids: readonly number[], id: number): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] as number) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
