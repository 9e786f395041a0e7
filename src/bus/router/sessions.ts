/**
 * Sessions: who takes part in a conversation, for how long it is remembered, and what was missed.
 * On which workers it lives is told in `stays.ts`.
 *
 * There is no table to fill up [BU6]: a session is made by its first message, forgotten when not
 * used for `session_idle_sec`, and above `max_sessions` those make room that were used once, then
 * those idle for longest. A session with a request in flight is never forgotten, and no client that
 * is here loses one without being told. It outlives its clients: notifications that find no client
 * are kept, within bounds, for the next one [BU7].
 */

import { type ByteLine, messageOf } from '../process/byte-line.ts';
import { detached } from '../process/frames.ts';
import type { Limits } from './config-limits.ts';
import type { BusClient, SessionRecord } from './state.ts';
import { isQueued, unbind } from './stays.ts';

export interface Sessions {
  readonly size: number;
  find(id: string): SessionRecord | undefined;
  /** The session of this id, made if need be, and used now by this client. */
  use(id: string, client: BusClient, now: number): SessionRecord;
  /** Hands out everything that was missed, in order, and answers how much that was. */
  deliverMissed(session: SessionRecord, send: (line: ByteLine) => void): MissedCount;
  keepMissed(session: SessionRecord, line: ByteLine): void;
  leave(client: BusClient): void;
  forget(session: SessionRecord): void;
  /** It has a request now, or its last one ended. */
  setBusy(session: SessionRecord, isBusy: boolean): void;
  /** Forgets what is idle; to be called now and then. */
  sweep(now: number): void;
}

export interface MissedCount {
  readonly missed: number;
  readonly dropped: number;
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
  let missedBytes = 0;

  const restsWith = ({ isUsedAgain }: SessionRecord): Set<SessionRecord> =>
    isUsedAgain ? usedAgain : usedOnce;

  const isIdle = (session: SessionRecord): boolean =>
    session.requests.size === 0 && !isQueued(session);

  const dropMissed = (session: SessionRecord): void => {
    missedBytes -= session.missedBytes;
    session.missed = null;
    session.missedBytes = 0;
    session.dropped = 0;
  };

  const forget = (session: SessionRecord): void => {
    sessions.delete(session.id);
    restsWith(session).delete(session);
    for (let stay = session.home; stay; stay = stay.next) unbind(stay);
    dropMissed(session);
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
          requests: new Set(),
          lastUsed: now,
          isUsedAgain: false,
          missed: null,
          missedBytes: 0,
          dropped: 0,
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
    deliverMissed(session, send) {
      const { missed, dropped } = session;
      if (!missed && dropped === 0) return { missed: 0, dropped: 0 };
      if (dropped > 0) {
        send(
          messageOf({
            jsonrpc: '2.0',
            method: 'stdio_bus/missed',
            sessionId: session.id,
            params: { sessionId: session.id, dropped },
          }),
        );
      }
      for (const line of missed ?? []) send(line);
      dropMissed(session);
      return { missed: missed?.length ?? 0, dropped };
    },
    keepMissed(session, line) {
      session.missed ??= [];
      session.missed.push(detached(line));
      session.missedBytes += line.length;
      missedBytes += line.length;
      const { missedMax, missedBytesMax } = limits();
      while (
        session.missed.length > 0 &&
        (session.missed.length > missedMax || missedBytes > missedBytesMax)
      ) {
        const oldest = session.missed.shift();
        session.missedBytes -= oldest?.length ?? 0;
        missedBytes -= oldest?.length ?? 0;
        session.dropped += 1;
      }
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
