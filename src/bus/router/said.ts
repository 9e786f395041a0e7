/**
 * What a session said: its notifications are numbered, from one end of its life to the other, and the
 * last of them are kept, within bounds, whether somebody heard them or not [BU7]. A line can break
 * without anybody noticing, so only the client knows which number it heard last: it says so when it
 * attaches again, and gets what came after, or is told how much of that is gone.
 */

import { type ByteLine, lineOf, messageOf } from '../process/byte-line.ts';
import { detached } from '../process/frames.ts';
import { type Envelope, readExt, rewrite, scan } from '../process/scan-message.ts';
import type { Limits } from './config-limits.ts';
import type { SessionRecord } from './state.ts';

export interface MissedCount {
  readonly missed: number;
  readonly dropped: number;
}

export interface Said {
  /** Numbers what the session says now, and keeps it. */
  keep(session: SessionRecord, line: ByteLine): number;
  /** Hands out what came after this number, in order, and answers how much that was. */
  replay(session: SessionRecord, after: number, send: (line: ByteLine) => void): MissedCount;
  forget(session: SessionRecord): void;
}

export function createSaid(limits: () => Limits): Said {
  /** Sessions of which all that is kept was heard once: they make room for others. */
  const heard = new Set<SessionRecord>();
  let bytes = 0;

  const dropFirst = (session: SessionRecord): void => {
    const dropped = session.kept?.shift()?.length ?? 0;
    session.keptBytes -= dropped;
    bytes -= dropped;
  };

  const forget = (session: SessionRecord): void => {
    heard.delete(session);
    bytes -= session.keptBytes;
    session.kept = null;
    session.keptBytes = 0;
  };

  /** First copies of what was heard, of whoever has had them for longest, then its own oldest. */
  const makeRoom = (fresh: SessionRecord): void => {
    const { missedBytesMax } = limits();
    for (const session of heard) {
      if (bytes <= missedBytesMax) return;
      if (session !== fresh) forget(session);
    }
    while (bytes > missedBytesMax && fresh.keptBytes > 0) dropFirst(fresh);
  };

  return {
    keep(session, line) {
      const { missedMax, missedBytesMax } = limits();
      session.last += 1;
      if (session.clients.size > 0) {
        session.heard = session.last;
        heard.add(session);
      } else heard.delete(session);
      session.kept ??= [];
      session.kept.push(detached(line));
      session.keptBytes += line.length;
      bytes += line.length;
      if (session.kept.length > missedMax) dropFirst(session);
      if (bytes > missedBytesMax) makeRoom(session);
      return session.last;
    },
    replay(session, after, send) {
      const { last, id: sessionId } = session;
      const kept = session.kept ?? [];
      const first = Math.max(after, last - kept.length) + 1;
      const dropped = first - 1 - after;
      if (dropped > 0) {
        const params = { sessionId, dropped };
        send(messageOf({ jsonrpc: '2.0', method: 'stdio_bus/missed', sessionId, params }));
      }
      const lines = kept.slice(first - 1 - last + kept.length);
      for (const [i, line] of lines.entries()) {
        const envelope = scan(line);
        if ('line' in envelope) send(stamped(envelope, first + i, null));
      }
      if (session.clients.size > 0) {
        session.heard = last;
        if (kept.length > 0) heard.add(session);
      }
      return { missed: lines.length, dropped };
    },
    forget,
  };
}

/** A notification with its number, if it has one, and for its client the raw id of its request. */
export function stamped(
  envelope: Envelope,
  seq: number | null,
  requestId: string | null,
): ByteLine {
  const members = membersOf(seq, requestId);
  const { line, bodyStart, extStart } = envelope;
  // It has a method, so a comma is never wrong.
  if (extStart === -1) {
    return `${line.slice(0, bodyStart)}"_ext":{${members}},${line.slice(bodyStart)}` as ByteLine;
  }
  // Ids of one client mean nothing to another, and numbers are the bus's.
  const { requestId: _, seq: __, ...rest } = readExt(envelope) ?? {};
  const text = lineOf(JSON.stringify(rest));
  return rewrite(
    envelope,
    null,
    text === '{}' ? `{${members}}` : `${text.slice(0, -1)},${members}}`,
  );
}

/** The id is JSON already, and may be a number no double can hold: put in as it is. */
function membersOf(seq: number | null, requestId: string | null): string {
  if (seq === null) return `"requestId":${requestId}`;
  return requestId === null ? `"seq":${seq}` : `"seq":${seq},"requestId":${requestId}`;
}
