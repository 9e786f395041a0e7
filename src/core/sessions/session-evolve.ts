/** What the events of sessions do to the state. */

import { settleItem } from '../docket/docket.ts';
import type { ItemClosed } from '../docket/docket-commands.ts';
import { unreachable } from '../law/assert.ts';
import { makeRoom } from '../law/make-room.ts';
import { SERVER } from '../law/principal.ts';
import type { World } from '../law/state.ts';
import { agentOf } from '../talk/agent.ts';
import { raiseParked, release, unpark } from './hand-off.ts';
import { takeItems } from './items.ts';
import { armSession } from './session.ts';
import type {
  Item,
  SessionEnded,
  SessionEvent,
  SessionForked,
  SessionHandedOff,
} from './session-events.ts';
import { ENDED_SESSIONS_MAX, HANDOFF_TRAIL } from './session-limits.ts';
import {
  changeParties,
  countItems,
  enterSession,
  leaveSession,
  PARKED,
  placeAt,
  type Session,
  type SessionBook,
  sessionNumber,
  subjectOf,
} from './session-state.ts';

const KINDS: Readonly<Record<SessionEvent['type'], true>> = {
  'session.created': true,
  'session.forked': true,
  'session.appended': true,
  'session.rewound': true,
  'session.compacted': true,
  'session.handed-off': true,
  'session.parked': true,
  'session.shared': true,
  'session.ended': true,
};

export function isSessionEvent(event: { readonly type: string }): event is SessionEvent {
  return event.type in KINDS;
}

export function evolveSessions(world: World, event: SessionEvent, position: number): void {
  const book = world.sessions;
  // Who only ever works with sessions can be handed one.
  if (event.by !== SERVER.id) agentOf(world, event.by);
  if (event.type === 'session.created' || event.type === 'session.forked') {
    return evolveMade(world, event, position);
  }
  const session = book.live.get(event.id);
  if (session === undefined) return;
  if (event.type === 'session.ended') return evolveEnded(world, session, event, position);
  session.version++;
  session.changedAt = event.at;
  armSession(world, session.id);
  switch (event.type) {
    case 'session.appended':
      return append(world, session, event.items, position, event.at);
    case 'session.rewound':
      replace(world, session, session.places.slice(0, event.length));
      session.open.clear();
      return cutAt(session, position);
    case 'session.compacted': {
      const summary = placeAt(position, 0, false, true);
      replace(world, session, [summary, ...session.places.slice(event.count)]);
      return cutAt(session, position);
    }
    case 'session.handed-off':
      return evolveHandedOff(world, session, event, position);
    case 'session.parked':
      session.parkedAt = event.at;
      return raiseParked(world, event);
    case 'session.shared':
      return changeParties(book, session, () => {
        if (event.access === null) session.shared.delete(event.with);
        else session.shared.set(event.with, event.access);
      });
    default:
      return unreachable(event);
  }
}

function evolveMade(
  world: World,
  event: Extract<SessionEvent, { type: 'session.created' | 'session.forked' }>,
  position: number,
): void {
  const book = world.sessions;
  const { id, by, at, key, ttlMs } = event;
  book.next = Math.max(book.next, sessionNumber(id) + 1);
  const holder = event.type === 'session.created' ? event.holder : by;
  const session: Session = {
    ...{ id, key, createdBy: by, createdAt: at, ttlMs, holder, changedAt: at, version: 1 },
    forkedFrom: event.type === 'session.forked' ? { id: event.from, length: event.length } : null,
    places: event.type === 'session.forked' ? forkedPlaces(book, event) : [],
    ...{ open: new Map(), shared: new Map(), trail: [holder], claims: [] },
    ...{ lastCut: null, cuts: 0, parkedAt: null },
  };
  enterSession(book, session);
  if (event.type === 'session.created') append(world, session, event.items, position, at);
  armSession(world, id);
}

function forkedPlaces(book: SessionBook, { from, length, places }: SessionForked): number[] {
  return [...(places ?? book.live.get(from)?.places.slice(0, length) ?? [])];
}

function append(
  world: World,
  session: Session,
  items: readonly Item[],
  position: number,
  at: number,
): void {
  const { places, open } = takeItems(session.open, items, { id: session.id, position, at });
  for (const place of places) session.places.push(place);
  countItems(world.sessions, session, places.length);
  session.open.clear();
  for (const [callId, call] of open) session.open.set(callId, call);
}

function evolveHandedOff(
  world: World,
  session: Session,
  event: SessionHandedOff,
  position: number,
): void {
  const { to, kept, items, at, claims, by } = event;
  if (kept !== undefined) {
    replace(world, session, [...kept]);
    cutAt(session, position);
  }
  append(world, session, items, position, at);
  changeParties(world.sessions, session, () => {
    session.holder = to;
  });
  session.claims = claims;
  session.trail = [...session.trail, to].slice(-HANDOFF_TRAIL);
  // Only a person hands on what is parked.
  release(world, session, at, by);
}

function evolveEnded(world: World, session: Session, event: SessionEnded, position: number): void {
  const { id, key, createdBy, createdAt, holder, places, version, cuts } = session;
  const { at, by, how, reason } = event;
  leaveSession(world.sessions, session);
  const { ended } = world.sessions;
  ended.set(id, {
    ...{ id, key, createdBy, createdAt, holder, length: places.length, version: version + 1 },
    ...{ endedAt: at, endedBy: by, how, reason, cut: position, cuts },
  });
  makeRoom(ended, ENDED_SESSIONS_MAX, (_, one) => one.createdBy);
  settleItem(world, at, 'alert', subjectOf(id), 'the session is over', by);
}

function replace(world: World, session: Session, places: number[]): void {
  countItems(world.sessions, session, places.length - session.places.length);
  session.places = places;
}

function cutAt(session: Session, position: number): void {
  session.lastCut = position;
  session.cuts++;
}

/** For evolve, before the item is closed: a person looked at what it is about. */
export function releaseClosed(world: World, { id, subject }: ItemClosed): void {
  const subjects = [...(world.docket.items.get(id)?.subjects.values() ?? [])];
  for (const one of subjects) {
    if (one.kind !== 'alert' || (subject !== null && one.subject !== subject)) continue;
    const session = world.sessions.live.get(one.subject.slice(PARKED.length));
    if (!one.subject.startsWith(PARKED) || session === undefined) continue;
    unpark(session);
  }
}
