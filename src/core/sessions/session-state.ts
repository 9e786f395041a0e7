/**
 * What the space knows of sessions: who holds them, who may read them, and where their items lie. Bodies
 * stay in the log: a history is a list of places, one number an item, so that rewinding and forking only
 * point [SN5].
 */
import { fieldsOf, fifoOf, listOf, mapBy, mapOf, whole } from '../law/fields.ts';
import { FifoMap } from '../law/fifo-map.ts';
import { count } from '../law/shares.ts';
import type { View } from '../law/view.ts';

export type Sharing = 'read' | 'append';

export interface SessionBook {
  /** Not over, by id. */
  readonly live: Map<string, Session>;
  readonly ended: FifoMap<string, EndedSession>;
  /** The number of the next session. */
  next: number;
  /** The ids of `live` that an agent created, holds or was given a share in. */
  readonly byAgent: Map<string, Set<string>>;
  /** The id for a creator and its own key. */
  readonly keys: Map<string, string>;
  /** Live sessions, and items in them, by who created them; and all items. */
  readonly made: Map<string, number>;
  readonly items: Map<string, number>;
  itemsTotal: number;
}

export type SessionView = View<Session>;

export interface Session {
  /** `s1`, `s2`, … */
  readonly id: string;
  readonly key: string | null;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly forkedFrom: { readonly id: string; readonly length: number } | null;
  /** 0 is for ever. */
  readonly ttlMs: number;
  holder: string;
  changedAt: number;
  /** How often it was changed. */
  version: number;
  /** Where each item lies; see `placeAt`. */
  places: number[];
  /** Calls without a result, by call id. */
  readonly open: Map<string, OpenCall>;
  readonly shared: Map<string, Sharing>;
  /** The last holders, the newest last. */
  trail: readonly string[];
  /** Claims that were offered to the holder with it. */
  claims: readonly string[];
  /** The newest event that took places out of the history. */
  lastCut: number | null;
  cuts: number;
  /** Since when it waits for a person; null: it does not. */
  parkedAt: number | null;
}

export interface OpenCall {
  readonly callId: string;
  readonly name: string;
  /** Under which it can be asked what became of the call. */
  readonly key: string;
  readonly at: number;
}

/** What is remembered of one that is over; its items are found by the event that ended it. */
export interface EndedSession {
  readonly id: string;
  readonly key: string | null;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly holder: string;
  readonly length: number;
  readonly version: number;
  readonly endedAt: number;
  readonly endedBy: string;
  readonly how: 'closed' | 'lapsed';
  readonly reason: string | null;
  readonly cut: number;
  readonly cuts: number;
}

const OFFSETS = 128;
const TOOL = 2;
const WHOLE = 1;

/** A place: the position of the event, which of its items, whether it is of a tool, and whether all calls up to it have their result. */
export function placeAt(
  position: number,
  offset: number,
  isTool: boolean,
  isWhole: boolean,
): number {
  return (position * OFFSETS + offset) * 4 + (isTool ? TOOL : 0) + (isWhole ? WHOLE : 0);
}

export function positionOf(place: number): number {
  return Math.floor(place / 4 / OFFSETS);
}

export function offsetOf(place: number): number {
  return Math.floor(place / 4) % OFFSETS;
}

export function isToolAt(place: number): boolean {
  return place % 4 >= TOOL;
}

export function isWholeAt(place: number): boolean {
  return place % 2 === WHOLE;
}

/** The same place, where what was open before it is not in the history. */
export function wholeAt(place: number): number {
  return isWholeAt(place) ? place : place + WHOLE;
}

const SESSION = fieldsOf<Session>()({
  id: 'stored',
  key: 'stored',
  createdBy: 'stored',
  createdAt: 'stored',
  forkedFrom: 'stored',
  ttlMs: 'stored',
  holder: 'stored',
  changedAt: 'stored',
  version: 'stored',
  places: listOf<number>(),
  open: mapBy<OpenCall>(({ callId }) => callId),
  shared: mapOf<string, Sharing>(),
  trail: 'stored',
  claims: 'stored',
  lastCut: 'stored',
  cuts: 'stored',
  parkedAt: 'stored',
});

const BOOK = fieldsOf<SessionBook>()({
  live: mapBy<Session>(({ id }) => id, whole(SESSION)),
  ended: fifoOf<string, EndedSession>(),
  next: 'stored',
  byAgent: 'derived',
  keys: 'derived',
  made: 'derived',
  items: 'derived',
  itemsTotal: 'derived',
});

export function createSessions(): SessionBook {
  return { live: new Map(), ended: new FifoMap(), next: 1, ...createIndexes() };
}

function createIndexes(): Pick<SessionBook, 'byAgent' | 'keys' | 'made' | 'items' | 'itemsTotal'> {
  return {
    ...{ byAgent: new Map(), keys: new Map(), made: new Map(), items: new Map() },
    itemsTotal: 0,
  };
}

export function freezeSessions(book: SessionBook): object {
  return BOOK.freeze(book, {});
}

export function thawSessions(frozen: unknown): SessionBook {
  const book = BOOK.thaw(frozen, createIndexes());
  for (const session of book.live.values()) enterSession(book, session);
  return book;
}

/** For evolve. */
export function enterSession(book: SessionBook, session: Session): void {
  const { id, key, createdBy, places } = session;
  book.live.set(id, session);
  if (key !== null) book.keys.set(keyOf(createdBy, key), id);
  count(book.made, createdBy, 1);
  countItems(book, session, places.length);
  for (const agent of partiesOf(session)) enterParty(book, agent, id);
}

/** For evolve. */
export function leaveSession(book: SessionBook, session: Session): void {
  const { id, key, createdBy, places } = session;
  book.live.delete(id);
  if (key !== null) book.keys.delete(keyOf(createdBy, key));
  count(book.made, createdBy, -1);
  countItems(book, session, -places.length);
  for (const agent of partiesOf(session)) leaveParty(book, agent, id);
}

/** For evolve: the history has so many more places. */
export function countItems(book: SessionBook, { createdBy }: Session, more: number): void {
  count(book.items, createdBy, more);
  book.itemsTotal += more;
}

/** For evolve: who has to do with it changed. */
export function changeParties(book: SessionBook, session: Session, change: () => void): void {
  for (const agent of partiesOf(session)) leaveParty(book, agent, session.id);
  change();
  for (const agent of partiesOf(session)) enterParty(book, agent, session.id);
}

function partiesOf({ createdBy, holder, shared }: Session): Set<string> {
  return new Set([createdBy, holder, ...shared.keys()]);
}

function enterParty(book: SessionBook, agent: string, id: string): void {
  const mine = book.byAgent.get(agent);
  if (mine === undefined) book.byAgent.set(agent, new Set([id]));
  else mine.add(id);
}

function leaveParty(book: SessionBook, agent: string, id: string): void {
  const mine = book.byAgent.get(agent);
  mine?.delete(id);
  if (mine?.size === 0) book.byAgent.delete(agent);
}

/** No name of an agent has a blank in it. */
export function keyOf(createdBy: string, key: string): string {
  return `${createdBy} ${key}`;
}

/** What it is on the docket, when it is parked: no agent has a blank in its name. */
export const PARKED = 'session ';

export function subjectOf(id: string): string {
  return `${PARKED}${id}`;
}

/** Sessions are numbered as they are created. */
export function sessionNumber(id: string): number {
  return /^s\d{1,15}$/.test(id) ? Number(id.slice(1)) : 0;
}
