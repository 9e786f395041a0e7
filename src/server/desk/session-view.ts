/** Sessions and their items as the wire shows them. Items are read from the log, where their bodies are. */
import { assert } from '../../core/law/assert.ts';
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import { type Principal, SERVER } from '../../core/law/principal.ts';
import type { WorldView } from '../../core/law/state.ts';
import type { DurableEvent } from '../../core/law/world.ts';
import { callKey } from '../../core/sessions/items.ts';
import { findSession, mayReadCut, mayReadEnded } from '../../core/sessions/session-access.ts';
import { isSessionEvent } from '../../core/sessions/session-evolve.ts';
import {
  type EndedSession,
  type OpenCall,
  offsetOf,
  positionOf,
  type SessionView,
} from '../../core/sessions/session-state.ts';
import type { Hub } from '../../hub/hub.ts';
import type { SessionItem, SessionOut } from '../../wire/operations/sessions.ts';
import { readPage } from './log-page.ts';
import type { Room } from './room.ts';

export interface SessionRead {
  readonly view: SessionOut;
  readonly places: readonly number[];
  readonly open: readonly OpenCall[];
}

/** The session, whether over or not, if the caller may read it. */
export async function readSession(
  hub: Hub,
  by: Principal,
  id: string,
): Promise<SessionRead | Refusal> {
  const found = await hub.ask((world) => {
    const ended = world.sessions.ended.get(id);
    if (ended !== undefined && mayReadEnded(ended, by)) return { ended };
    const session = findSession(world, by, id, 'read');
    if ('refused' in session) return session;
    const open = [...session.open.values()];
    return { view: liveView(session), places: [...session.places], open };
  });
  if (isRefusal(found) || !('ended' in found)) return found;
  const places = await endedPlaces(hub, id);
  if (isRefusal(places)) return places;
  return { view: endedView(found.ended), places: places ?? [], open: [] };
}

/** The places of one that is over, whoever may read it; null of one that is not. */
export async function endedPlaces(
  hub: Hub,
  id: string,
): Promise<readonly number[] | null | Refusal> {
  const cut = await hub.ask((world) => world.sessions.ended.get(id)?.cut ?? null);
  if (cut === null || isRefusal(cut)) return cut;
  const [event] = await hub.eventsAt([cut]);
  return event?.type === 'session.ended' ? event.cut : [];
}

/** What a rewind, a compaction or a filter took away, and the cut before it. */
export async function readCut(
  hub: Hub,
  by: Principal,
  { session_id: id, created_by: createdBy }: SessionOut,
  position: number,
): Promise<{ places: readonly number[]; previous: number | null } | Refusal> {
  const [event] = await hub.eventsAt([position]);
  const isOurs = event !== undefined && 'cut' in event && event.id === id;
  if (!isOurs || event.cut === undefined || !mayReadCut({ createdBy }, by, event.by)) {
    return refuse(
      'session.not-found',
      `${position} is no cut of ${id} that you may read; last_cut of sessions.get says where the newest is`,
    );
  }
  return { places: event.cut, previous: event.previousCut ?? null };
}

/** Items from one index up to another, as many as fit. */
export function readItems(
  room: Pick<Room, 'hub' | 'by' | 'signal'>,
  places: readonly number[],
  { from, until }: { readonly from: number; readonly until: number },
): Promise<SessionItem[]> {
  const some = places.slice(from, until).map((place, i) => ({ place, index: from + i }));
  return readPage(room, some, {
    positionOf: ({ place }) => positionOf(place),
    show: ({ place, index }, event) => itemView(event, place, index),
  });
}

/** After a crash between a call and its result nobody knows what became of it: it can be asked by its key. */
export function unknownResult({ callId, key, at }: OpenCall): SessionItem {
  return {
    ...{ kind: 'tool_result', call_id: callId, state: 'unknown', output: null, key },
    ...{ index: null, item_id: null, at: at / 1000, by: SERVER.id },
  };
}

export function sessionOut(world: WorldView, id: string): SessionOut | Refusal {
  const live = world.sessions.live.get(id);
  if (live !== undefined) return liveView(live);
  const ended = world.sessions.ended.get(id);
  if (ended !== undefined) return endedView(ended);
  return refuse('session.not-found', `${id} is over and forgotten`);
}

export function liveView(session: SessionView): SessionOut {
  const { ttlMs, changedAt, parkedAt, forkedFrom } = session;
  return {
    ...{ session_id: session.id, key: session.key, state: parkedAt === null ? 'open' : 'parked' },
    ...{ agent_id: session.holder, created_by: session.createdBy },
    ...{ created_at: session.createdAt / 1000, changed_at: changedAt / 1000 },
    expires_at: ttlMs === 0 ? null : (changedAt + ttlMs) / 1000,
    ...{ length: session.places.length, version: session.version },
    open_calls: [...session.open.values()].map(({ callId, name, key, at }) => ({
      ...{ call_id: callId, name, key, since: at / 1000 },
    })),
    shared: [...session.shared].map(([agent_id, access]) => ({ agent_id, access })),
    forked_from:
      forkedFrom === null ? null : { session_id: forkedFrom.id, length: forkedFrom.length },
    ...{ claims: [...session.claims], cuts: session.cuts, last_cut: session.lastCut, reason: null },
  };
}

export function endedView(ended: EndedSession): SessionOut {
  return {
    ...{ session_id: ended.id, key: ended.key, state: ended.how, agent_id: ended.holder },
    ...{ created_by: ended.createdBy, created_at: ended.createdAt / 1000 },
    ...{ changed_at: ended.endedAt / 1000, expires_at: null, length: ended.length },
    ...{ version: ended.version, open_calls: [], shared: [], forked_from: null, claims: [] },
    ...{ cuts: ended.cuts, last_cut: ended.cut, reason: ended.reason },
  };
}

function itemView(event: DurableEvent | undefined, place: number, index: number): SessionItem {
  const offset = offsetOf(place);
  const position = positionOf(place);
  assert(event !== undefined && isSessionEvent(event), `${position} is an event of a session`);
  const item = 'items' in event ? event.items[offset] : undefined;
  assert(item !== undefined, `the event at ${position} has an item ${offset}`);
  const { kind, callId, name, outcome, body } = item;
  const made = callKey({ id: event.id, position }, offset);
  const key = kind === 'tool_call' ? (item.key ?? made) : undefined;
  return {
    kind,
    ...(callId !== undefined && { call_id: callId }),
    ...(name !== undefined && { name }),
    ...(key !== undefined && { key }),
    ...(outcome !== undefined && { state: outcome }),
    ...body,
    ...{ index, item_id: `${position}-${offset}`, at: event.at / 1000, by: event.by },
  } as SessionItem;
}
