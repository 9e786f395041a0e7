/**
 * Sessions that lost their worker, and with it whatever the worker knew of them, or that the bus
 * forgot to make room [BU6]: their clients are told, and those who are away when they come back
 * [BU3].
 */
import { messageOf } from '../process/byte-line.ts';
import { scan } from '../process/scan-message.ts';
import type { Exchange } from './exchange.ts';
import { stamped } from './said.ts';
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
  const isFew = sessions.length <= TOLD_ALONE_MAX;
  const inLists: SessionRecord[] = [];
  for (const session of sessions) {
    const { id: sessionId, clients } = session;
    if (clients.size > 0 && !isFew) {
      inLists.push(session);
      continue;
    }
    const params = { sessionId, reason };
    const line = messageOf({ jsonrpc: '2.0', method: METHOD, sessionId, params });
    const seq = exchange.sessions.said.keep(session, line);
    const said = scan(line);
    if (!('line' in said)) continue;
    for (const client of clients) deliver(exchange, client, stamped(said, seq, null), null);
  }
  tellClients(exchange, inLists, reason);
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
