/**
 * Sessions: which worker a conversation lives on, who listens to it, and what they missed.
 *
 * There is no table to fill up [BU6]: a session is made by its first message, forgotten when not
 * used for `session_idle_sec`, and above `max_sessions` the one that has been idle for longest
 * makes room. A session with a request in flight is never forgotten. It outlives its clients:
 * notifications that find no client are kept, within bounds, for the next one [BU7].
 */

import { type ByteLine, messageOf } from '../process/byte-line.ts';
import { detached } from '../process/frames.ts';
import type { Limits } from './config-limits.ts';
import type { BusClient, Link, SessionRecord } from './state.ts';

export interface Sessions {
  readonly size: number;
  find(id: string): SessionRecord | undefined;
  /** The session of this id, made if need be, and used now by this client. */
  use(id: string, client: BusClient, now: number): SessionRecord;
  /** Hands out everything that was missed, in order, and answers how much that was. */
  deliverMissed(session: SessionRecord, send: (line: ByteLine) => void): MissedCount;
  keepMissed(session: SessionRecord, line: ByteLine): void;
  bind(session: SessionRecord, link: Link): void;
  unbind(session: SessionRecord): void;
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

export function createSessions(limits: () => Limits): Sessions {
  const sessions = new Map<string, SessionRecord>();
  const resting = new Set<SessionRecord>();
  let missedBytes = 0;

  const isIdle = (session: SessionRecord): boolean =>
    session.requests.size === 0 && session.queued === 0;

  const unbind = (session: SessionRecord): void => {
    session.link?.sessions.delete(session);
    session.link = null;
  };

  const dropMissed = (session: SessionRecord): void => {
    missedBytes -= session.missedBytes;
    session.missed = null;
    session.missedBytes = 0;
    session.dropped = 0;
  };

  const forget = (session: SessionRecord): void => {
    sessions.delete(session.id);
    resting.delete(session);
    unbind(session);
    dropMissed(session);
    for (const client of session.clients) client.sessions.delete(session);
    session.clients.clear();
  };

  /** Those without a request, in the order they came to rest; the first has been so for longest. */
  const makeRoom = (fresh: SessionRecord): void => {
    for (const session of resting) {
      if (sessions.size <= limits().sessionsMax) return;
      if (session !== fresh && isIdle(session)) forget(session);
    }
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
          link: null,
          clients: new Set(),
          requests: new Set(),
          queued: 0,
          queuedIn: null,
          lastUsed: now,
          missed: null,
          missedBytes: 0,
          dropped: 0,
        };
        sessions.set(id, session);
        if (sessions.size > limits().sessionsMax) makeRoom(session);
      }
      session.lastUsed = now;
      if (session.requests.size === 0) {
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
    bind(session, link) {
      if (session.link === link) return;
      unbind(session);
      session.link = link;
      link.sessions.add(session);
    },
    unbind,
    leave(client) {
      for (const session of client.sessions) session.clients.delete(client);
      client.sessions.clear();
    },
    forget,
    setBusy(session, isBusy) {
      if (isBusy) resting.delete(session);
      else if (sessions.get(session.id) === session) resting.add(session);
    },
    sweep(now) {
      const { sessionIdleMs } = limits();
      for (const session of resting) {
        if (isIdle(session) && now - session.lastUsed > sessionIdleMs) forget(session);
      }
    },
  };
}
