/**
 * Sessions that lost their worker, and with it whatever the worker knew of them, or that the bus
 * forgot to make room [BU6]: their clients are told, and those who are away when they come back
 * [BU3].
 */
import { messageOf } from '../process/byte-line.ts';
import type { Exchange } from './exchange.ts';
import type { LostSession } from './sessions.ts';
import type { BusClient, SessionRecord } from './state.ts';
import { deliver } from './to-client.ts';

/** So many sessions are told one by one; more, as of a client that opens one a call, in lists. */
const TOLD_ALONE_MAX = 16;
const LIST_LENGTH_MAX = 1_000;
const METHOD = 'stdio_bus/session_lost';

export function tellLost(
  exchange: Exchange,
  sessions: readonly SessionRecord[],
  reason: string,
): void {
  for (const session of sessions) {
    if (session.clients.size > 0) continue;
    const { id: sessionId } = session;
    const params = { sessionId, reason };
    const line = messageOf({ jsonrpc: '2.0', method: METHOD, sessionId, params });
    exchange.sessions.keepMissed(session, line);
  }
  tellClients(exchange, sessions, reason);
}

export function tellClients(
  exchange: Exchange,
  sessions: readonly LostSession[],
  reason: string,
): void {
  const lostOf = new Map<BusClient, string[]>();
  for (const { id, clients } of sessions) {
    for (const client of clients) {
      const ids = lostOf.get(client) ?? [];
      ids.push(id);
      lostOf.set(client, ids);
    }
  }
  for (const [client, ids] of lostOf) {
    const isAlone = ids.length <= TOLD_ALONE_MAX;
    for (let i = 0; i < ids.length; i += isAlone ? 1 : LIST_LENGTH_MAX) {
      const [sessionId] = ids.slice(i);
      const line = isAlone
        ? messageOf({ jsonrpc: '2.0', method: METHOD, sessionId, params: { sessionId, reason } })
        : messageOf({
            jsonrpc: '2.0',
            method: METHOD,
            params: { sessionIds: ids.slice(i, i + LIST_LENGTH_MAX), reason },
          });
      deliver(exchange, client, line, null);
    }
  }
}
