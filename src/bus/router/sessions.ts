/**
 * Sessions: who takes part in a conversation, for how long it is remembered, and what was missed.
 * On which workers it lives is told in `stays.ts`.
 *
 * There is no table to fill up [BU6]: a session is made by its first message, forgotten when not
 * used for `session_idle_sec`, and above `max_sessions` those make room that were used once, then
 * those idle for longest. A session with a request in flight is never forgotten, and no client that
 * is here loses one without being told. It outlives its clients: what it said is kept,
 * within bounds, for those who come back [BU7].
 */

import { detached } from '../process/frames.ts';
import type { Limits } from './config-limits.ts';
import { PassingMap } from './passing-map.ts';
import { createSaid, type Said } from './said.ts';
import type { BusClient, SessionRecord } from './state.ts';
import { isQueued, unbind } from './stays.ts';

export interface Sessions {
  readonly size: number;
  find(id: string): SessionRecord | undefined;
  /** The session of this id, made if need be, and used now by this client. */
  use(id: string, client: BusClient, now: number): SessionRecord;
  /** What they said. */
  readonly said: Said;
  leave(client: BusClient): void;
  forget(session: SessionRecord): void;
  /** It has a request now, or its last one ended. */
  setBusy(session: SessionRecord, isBusy: boolean): void;
  /** Forgets what is idle; to be called now and then. */
  sweep(now: number): void;
}

/** A session that is no more, and who used it. */
export interface LostSession {
  readonly id: string;
  readonly clients: ReadonlySet<BusClient>;
}

/** So large a part of them makes room at a time: a list of many costs little more than one. */
const ROOM_SHARE = 64;

export function createSessions(
  limits: () => Limits,
  onForgotten: (lost: readonly LostSession[], reason: string) => void,
): Sessions {
  const sessions = new Map<string, SessionRecord>();
  /** Without a request, in the order they came to rest: those of one call apart from the others. */
  const usedOnce = new Set<SessionRecord>();
  const usedAgain = new Set<SessionRecord>();
  const said = createSaid(limits);
  /** The highest number a forgotten session gave: the next of the same id goes on above it. */
  let highest = 0;

  const restsWith = ({ isUsedAgain }: SessionRecord): Set<SessionRecord> =>
    isUsedAgain ? usedAgain : usedOnce;

  const isIdle = (session: SessionRecord): boolean =>
    session.requests.size === 0 && !isQueued(session);

  const forget = (session: SessionRecord): void => {
    sessions.delete(session.id);
    restsWith(session).delete(session);
    for (let stay = session.home; stay; stay = stay.next) unbind(stay);
    said.forget(session);
    highest = Math.max(highest, session.last);
    for (const client of session.clients) client.sessions.delete(session);
    session.clients.clear();
  };

  const forgetAll = (idle: readonly SessionRecord[], reason: string): void => {
    const lost: LostSession[] = [];
    for (const session of idle) {
      if (session.clients.size > 0)
        lost.push({ id: session.id, clients: new Set(session.clients) });
      forget(session);
    }
    if (lost.length > 0) onForgotten(lost, reason);
  };

  const makeRoom = (fresh: SessionRecord): void => {
    const { sessionsMax } = limits();
    const excess = sessions.size - sessionsMax + Math.floor(sessionsMax / ROOM_SHARE);
    const leaving: SessionRecord[] = [];
    for (const resting of [usedOnce, usedAgain]) {
      for (const session of resting) {
        if (leaving.length >= excess) break;
        if (session !== fresh && isIdle(session)) leaving.push(session);
      }
    }
    forgetAll(leaving, `the bus has room for ${sessionsMax} sessions (limits.max_sessions)`);
  };

  return {
    get size() {
      return sessions.size;
    },
    said,
    find: (id) => sessions.get(id),
    use(name, client, now) {
      let session = sessions.get(name);
      if (!session) {
        const id = detached(name);
        session = {
          id,
          subject: client.identity?.subjectId ?? null,
          home: null,
          clients: new Set(),
          requests: new PassingMap(),
          lastUsed: now,
          isUsedAgain: false,
          base: highest,
          last: highest,
          heard: highest,
          kept: null,
          keptBytes: 0,
        };
        sessions.set(id, session);
        if (sessions.size > limits().sessionsMax) makeRoom(session);
      } else if (!session.isUsedAgain) {
        usedOnce.delete(session);
        session.isUsedAgain = true;
      }
      session.lastUsed = now;
      if (session.requests.size === 0) {
        const resting = restsWith(session);
        resting.delete(session);
        resting.add(session);
      }
      if (!session.clients.has(client)) {
        session.clients.add(client);
        client.sessions.add(session);
      }
      return session;
    },
    leave(client) {
      for (const session of client.sessions) session.clients.delete(client);
      client.sessions.clear();
    },
    forget,
    setBusy(session, isBusy) {
      if (isBusy) restsWith(session).delete(session);
      else if (sessions.get(session.id) === session) restsWith(session).add(session);
    },
    sweep(now) {
      const { sessionIdleMs } = limits();
      const leaving: SessionRecord[] = [];
      for (const resting of [usedOnce, usedAgain]) {
        for (const session of resting) {
          if (isIdle(session) && now - session.lastUsed > sessionIdleMs) leaving.push(session);
        }
      }
      forgetAll(
        leaving,
        `it was not used for ${sessionIdleMs / 1_000} s (limits.session_idle_sec)`,
      );
    },
  };
}
