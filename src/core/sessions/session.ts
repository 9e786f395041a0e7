/**
 * Sessions: a history of typed items that outlives the process that works with it. Created under a key of
 * the creator's own it is created once [SN1]; appended to it is as long as the caller believed, or nothing
 * is appended [SN3]. Each change puts the end of its time off [SN6].
 */

import { isPerson } from '../docket/docket-commands.ts';
import { type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import { AGENT_NAME_RULE, isAgentName, type Principal, SERVER } from '../law/principal.ts';
import { checkShare } from '../law/shares.ts';
import type { World, WorldView } from '../law/state.ts';
import { isLine, isPrintable } from '../law/text.ts';
import { checkWriter } from '../law/writer.ts';
import { checkAgentRoom } from '../talk/agent.ts';
import { checkItems, unfit } from './items.ts';
import { findSession } from './session-access.ts';
import type {
  AppendItems,
  CloseSession,
  CreateSession,
  ForkSession,
  SessionDecided,
  SessionEnded,
  ShareSession,
} from './session-events.ts';
import {
  HANDOFF_WHY_CHARS_MAX,
  ITEMS_PER_SESSION_MAX,
  SESSION_KEY_CHARS_MAX,
  SESSION_TTL_MS,
  SESSION_TTL_MS_LONGEST,
  SESSION_TTL_MS_MIN,
  SHARED_PER_SESSION_MAX,
} from './session-limits.ts';
import { keyOf, type SessionView } from './session-state.ts';

export interface SessionAnswer {
  readonly id: string;
  /** Whether this made it; false when its key was in use by a session of the same creator. */
  readonly isNew?: boolean;
}

type Decided = Decision<SessionDecided, SessionAnswer>;

export function decideCreate(world: WorldView, command: CreateSession): Decided {
  const { by, at, items, key } = command;
  const holder = command.holder ?? by.id;
  const ttlMs = parseTtl(command.ttlMs);
  const unfitting = checkMaker(world, by) ?? checkHolder(by, holder) ?? checkKey(key);
  if (unfitting !== null) return unfitting;
  if (typeof ttlMs !== 'number') return ttlMs;
  const known = keyed(world, by, key);
  if (known !== undefined) return { events: [], answer: { id: known, isNew: false } };
  const refused = checkRoom(world, by, items.length) ?? checkItems(new Map(), items);
  if (refused !== null) return refused;
  const id = `s${world.sessions.next}`;
  const made = { id, holder, key, ttlMs, items };
  return {
    events: [{ type: 'session.created', at, by: by.id, ...made }],
    answer: { id, isNew: true },
  };
}

export function decideAppend(world: WorldView, command: AppendItems): Decided {
  const { by, at, id, items } = command;
  const session = findSession(world, by, id, 'append');
  if ('refused' in session) return session;
  const answer = { id };
  const refused =
    checkLength(session, command.expectedLength) ??
    checkGrowth(world, by, session, items.length) ??
    checkItems(session.open, items);
  if (refused !== null) return refused;
  if (items.length === 0) return { events: [], answer };
  return { events: [{ type: 'session.appended', at, by: by.id, id, items }], answer };
}

export function decideShare(world: WorldView, command: ShareSession): Decided {
  const { by, at, id, with: agent, access } = command;
  const session = findSession(world, by, id, 'work');
  if ('refused' in session) return session;
  const refused = checkWriter(by, world.settings) ?? checkLength(session, command.expectedLength);
  if (refused !== null) return refused;
  if (!isAgentName(agent)) return refuse('agent.name-invalid', AGENT_NAME_RULE);
  const answer = { id };
  const now = session.shared.get(agent) ?? null;
  if (now === access) return { events: [], answer };
  if (now === null && session.shared.size >= SHARED_PER_SESSION_MAX) {
    return refuseFull('SHARED_PER_SESSION_MAX', SHARED_PER_SESSION_MAX);
  }
  const event = { type: 'session.shared', at, by: by.id, id, with: agent, access } as const;
  return { events: [event], answer };
}

export function decideClose(world: WorldView, command: CloseSession): Decided {
  const { by, at, id, reason } = command;
  const ended = world.sessions.ended.get(id);
  const isAgain = ended?.how === 'closed' && ended.endedBy === by.id;
  if (isAgain) return { events: [], answer: { id } };
  const session = findSession(world, by, id, 'close');
  if ('refused' in session) return session;
  const refused = checkLength(session, command.expectedLength);
  if (refused !== null) return refused;
  if (reason !== null && !isLine(reason, HANDOFF_WHY_CHARS_MAX)) {
    return unfit('reason', `is one line of at most ${HANDOFF_WHY_CHARS_MAX} characters`);
  }
  return { events: [endOf(session, { at, by: by.id, how: 'closed', reason })], answer: { id } };
}

/** What falls due: nobody changed it in time [SN6]. */
export function lapsedSession(world: WorldView, id: string, at: number): SessionEnded[] {
  const session = world.sessions.live.get(id);
  if (session === undefined || session.ttlMs === 0 || session.changedAt + session.ttlMs > at) {
    return [];
  }
  return [endOf(session, { at, by: SERVER.id, how: 'lapsed', reason: null })];
}

function endOf(
  { id, places, lastCut }: SessionView,
  end: Pick<SessionEnded, 'at' | 'by' | 'how' | 'reason'>,
): SessionEnded {
  return { type: 'session.ended', id, ...end, cut: [...places], previousCut: lastCut };
}

/** Sees to it that the session is looked at when its time is over. */
export function armSession(world: World, id: string): void {
  const session = world.sessions.live.get(id);
  if (session === undefined || session.ttlMs === 0) return;
  world.deadlines.push({ at: session.changedAt + session.ttlMs, kind: 'sessions', agent: id });
}

/** A live session that its creator made under this key. */
export function keyed(world: WorldView, by: Principal, key: string | null): string | undefined {
  return key === null ? undefined : world.sessions.keys.get(keyOf(by.id, key));
}

/** An observer writes nothing; whoever makes the first one is known from then on. */
export function checkMaker(world: WorldView, by: Principal): Refusal | null {
  if (by.kind === 'observer') return refuse('access.denied', 'an observer writes nothing');
  return checkAgentRoom(world, by);
}

function checkHolder(by: Principal, holder: string): Refusal | null {
  if (!isAgentName(holder)) return refuse('agent.name-invalid', AGENT_NAME_RULE);
  if (holder === by.id || isPerson(by)) return null;
  return refuse('access.denied', `${by.id} creates sessions for itself, and hands them on`);
}

export function checkKey(key: CreateSession['key'] | ForkSession['key']): Refusal | null {
  if (key === null || isPrintable(key, SESSION_KEY_CHARS_MAX)) return null;
  return unfit('key', `has 1 to ${SESSION_KEY_CHARS_MAX} printable characters`);
}

export function parseTtl(ttlMs: number | null): number | Refusal {
  if (ttlMs === null) return SESSION_TTL_MS;
  const [min, max] = [SESSION_TTL_MS_MIN, SESSION_TTL_MS_LONGEST];
  if (ttlMs === 0 || (Number.isSafeInteger(ttlMs) && ttlMs >= min && ttlMs <= max)) return ttlMs;
  return unfit('ttl_ms', `is 0 for ever, or a whole number from ${min} to ${max}`);
}

/** Room for one session more, with so many items. */
export function checkRoom(world: WorldView, by: Principal, items: number): Refusal | null {
  const { live, made } = world.sessions;
  return (
    checkShare('SESSIONS_MAX', by, live.size, made.get(by.id) ?? 0) ??
    checkItemRoom(world, by, by.id, items)
  );
}

/** What a session holds counts against who created it, whoever appends [SN7]. */
export function checkGrowth(
  world: WorldView,
  by: Principal,
  { createdBy, places }: SessionView,
  more: number,
): Refusal | null {
  if (places.length + more > ITEMS_PER_SESSION_MAX) {
    return refuseFull('ITEMS_PER_SESSION_MAX', ITEMS_PER_SESSION_MAX);
  }
  return checkItemRoom(world, by, createdBy, more);
}

function checkItemRoom(
  world: WorldView,
  by: Principal,
  owner: string,
  more: number,
): Refusal | null {
  const { items, itemsTotal } = world.sessions;
  const whose = { id: owner, tier: by.id === owner ? by.tier : 'standard' } as const;
  return checkShare('SESSION_ITEMS_MAX', whose, itemsTotal, items.get(owner) ?? 0, more);
}

/** [SN3] */
export function checkLength(
  { id, places, version }: SessionView,
  expected: number | null,
): Refusal | null {
  if (expected === null || expected === places.length) return null;
  return refuse(
    'session.length',
    `${id} has ${places.length} items, not ${expected}: somebody changed it since; read it again`,
    { session_id: id, length: places.length, expected_length: expected, version },
  );
}
