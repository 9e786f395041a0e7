/**
 * What puts something on the docket, and what takes it off. An item is raised and settled where
 * another event says so: there is no event of its own for what a gate, a turn or a held message
 * tells already.
 *
 * The same agent, kind, reason and thread are one item with a count [DK1]; an agent makes one new
 * item a minute at the most, and what it raises meanwhile is counted on its newest [DK2]. Everything
 * that waits is listed among the subjects of some item, so that nothing is hidden by that.
 */
import {
  DOCKET_CLOSED_KEPT_MAX,
  DOCKET_ITEMS_MAX,
  DOCKET_ITEMS_PER_AGENT_MAX,
  DOCKET_REASON_CHARS_MAX,
  DOCKET_TEXT_CHARS_MAX,
  NEW_ITEM_EVERY_MS,
  SUBJECTS_PER_ITEM_MAX,
} from '../law/limits.ts';
import { SERVER } from '../law/principal.ts';
import type { World } from '../law/state.ts';
import {
  type Closed,
  type DocketBook,
  dropSubject,
  enterOpen,
  type Item,
  type ItemKind,
  indexSubject,
  insertId,
  itemsOf,
  leaveOpen,
  placeOf,
  removeId,
  type Subject,
} from './docket-state.ts';

export interface Raised {
  readonly kind: ItemKind;
  /** On whose account: its share of the docket counts. */
  readonly agent: string;
  /** Why, in the hub's words: with agent, kind and thread it names the item. */
  readonly reason: string;
  readonly thread: string | null;
  /** What is shown to a person; may be in the agent's words. */
  readonly text: string;
  /** The id of the gate, turn, message, session or question. */
  readonly subject: string;
  /** Since when, if it is told late. */
  readonly since?: number;
  readonly to?: string | null;
  readonly until?: number | null;
}

/** Puts it on the docket, or counts it on the item that it belongs to. The id of the item. */
export function raiseItem(world: World, at: number, raised: Raised): number {
  const book = world.docket;
  const place = placeOf(raised.kind, raised.subject);
  const item = itemFor(book, at, raised, place);
  const text = clip(raised.text, DOCKET_TEXT_CHARS_MAX);
  item.count++;
  item.newestAt = at;
  item.text = text;
  const known = item.subjects.get(place);
  // Beyond the bound it is counted alone; whoever raises has a smaller bound of its own.
  if (known === undefined && item.subjects.size >= SUBJECTS_PER_ITEM_MAX) return item.id;
  const subject: Subject = {
    kind: raised.kind,
    subject: raised.subject,
    reason: clip(raised.reason, DOCKET_REASON_CHARS_MAX),
    thread: threadOf(raised.thread),
    text,
    at: known?.at ?? raised.since ?? at,
    to: raised.to ?? null,
    until: raised.until ?? null,
  };
  if (known === undefined) indexSubject(book, item, place, subject);
  item.subjects.set(place, subject);
  if (subject.until !== null) {
    world.deadlines.push({ at: subject.until, kind: 'docket', agent: item.agent });
  }
  return item.id;
}

/** It is decided, or needs no decision any more. An item about nothing else is closed with it. */
export function settleItem(
  world: World,
  at: number,
  kind: ItemKind,
  subject: string,
  outcome: string,
  by: string | null = null,
): void {
  const book = world.docket;
  const place = placeOf(kind, subject);
  const item = book.items.get(book.subjects.get(place) ?? 0);
  if (item === undefined) return;
  dropSubject(book, item, place);
  if (item.subjects.size === 0) closeItem(book, item, { by, at, outcome, note: null });
}

/** What an agent that is forgotten asked or was stuck on waits for nobody; gates and messages have their own end. */
export function settleAgent(world: World, at: number, agent: string, by: string): void {
  const book = world.docket;
  for (const id of [...(book.agents.get(agent)?.open ?? [])]) {
    const item = book.items.get(id);
    for (const { kind, subject } of [...(item?.subjects.values() ?? [])]) {
      if (!mustBeDecided(kind)) settleItem(world, at, kind, subject, 'the agent is gone', by);
    }
  }
}

/** What only its own decision ends: putting it off the list would leave an agent waiting unseen [DK5]. */
export function mustBeDecided(kind: ItemKind): boolean {
  return kind === 'gate' || kind === 'held';
}

export function closeItem(book: DocketBook, item: Item, closed: Closed): void {
  for (const place of [...item.subjects.keys()]) dropSubject(book, item, place);
  item.closed = closed;
  leaveOpen(book, item);
  const key = keyOf(item);
  if (book.keys.get(key) === item.id) book.keys.delete(key);
  book.closed.push(item.id);
  if (book.closed.length > DOCKET_CLOSED_KEPT_MAX) forget(book, book.closed.shift() ?? 0);
}

/** Sees to it that the soonest question of an agent is looked at when it is no longer asked. */
export function armDocket(world: World, agent: string): void {
  let soonest = Number.POSITIVE_INFINITY;
  for (const id of world.docket.agents.get(agent)?.open ?? []) {
    for (const { until } of world.docket.items.get(id)?.subjects.values() ?? []) {
      if (until !== null && until < soonest) soonest = until;
    }
  }
  if (soonest < Number.POSITIVE_INFINITY) {
    world.deadlines.push({ at: soonest, kind: 'docket', agent });
  }
}

function itemFor(book: DocketBook, at: number, raised: Raised, place: string): Item {
  const listed = book.items.get(book.subjects.get(place) ?? 0);
  if (listed !== undefined) return listed;
  const same = book.items.get(book.keys.get(keyOf(raised)) ?? 0);
  if (same !== undefined && hasRoom(same)) return same;
  const mine = book.agents.get(raised.agent);
  const newest = book.items.get(mine?.kept.at(-1) ?? 0);
  const isWithinMinute = newest !== undefined && at - newest.madeAt < NEW_ITEM_EVERY_MS;
  const waiting = book.items.get(mine?.open.at(-1) ?? 0);
  if (isWithinMinute) {
    const item = waiting ?? reopen(book, newest, at);
    if (hasRoom(item)) return item;
  }
  if (waiting !== undefined && (mine?.open.length ?? 0) >= DOCKET_ITEMS_PER_AGENT_MAX)
    return waiting;
  if (book.open.length >= DOCKET_ITEMS_MAX) return waiting ?? overflow(book, at);
  return create(book, at, raised);
}

/** One item of the hub's own for all that a full docket cannot list under its agent. */
function overflow(book: DocketBook, at: number): Item {
  const reason = 'the docket is full: close what is done; the rest is counted here';
  const full = { agent: SERVER.id, kind: 'alert', reason, thread: null } as const;
  return book.items.get(book.keys.get(keyOf(full)) ?? 0) ?? create(book, at, full);
}

function create(
  book: DocketBook,
  at: number,
  { agent, kind, reason, thread }: Pick<Raised, 'agent' | 'kind' | 'reason' | 'thread'>,
): Item {
  const item: Item = {
    id: book.nextId++,
    ...{ agent, kind, reason: clip(reason, DOCKET_REASON_CHARS_MAX), thread: threadOf(thread) },
    ...{ madeAt: at, since: at, newestAt: at },
    ...{ count: 0, text: '', subjects: new Map() },
    ...{ taken: null, closed: null, noticedAt: null },
  };
  book.items.set(item.id, item);
  insertId(itemsOf(book, agent).kept, item.id);
  enterOpen(book, item);
  book.keys.set(keyOf(item), item.id);
  return item;
}

function reopen(book: DocketBook, item: Item, at: number): Item {
  item.closed = null;
  item.taken = null;
  item.since = at;
  book.closed.splice(book.closed.indexOf(item.id), 1);
  enterOpen(book, item);
  book.keys.set(keyOf(item), item.id);
  return item;
}

function forget(book: DocketBook, id: number): void {
  const item = book.items.get(id);
  if (item === undefined) return;
  book.items.delete(id);
  const mine = itemsOf(book, item.agent);
  removeId(mine.kept, id);
  if (mine.kept.length === 0) book.agents.delete(item.agent);
}

function keyOf({
  agent,
  kind,
  reason,
  thread,
}: Pick<Raised, 'agent' | 'kind' | 'reason' | 'thread'>): string {
  return JSON.stringify([agent, kind, clip(reason, DOCKET_REASON_CHARS_MAX), threadOf(thread)]);
}

function threadOf(thread: string | null): string | null {
  return thread === null ? null : clip(thread, DOCKET_REASON_CHARS_MAX);
}

function hasRoom(item: Item): boolean {
  return item.subjects.size < SUBJECTS_PER_ITEM_MAX;
}

/** Whatever the words, an item is of a bounded size. */
export function clip(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`;
}
