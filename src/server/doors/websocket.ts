/**
 * The WebSocket door at `/ws`: JSON-RPC 2.0, methods are operation ids, pushes are notifications. Host,
 * Origin and credential are checked before the upgrade; `connection.ts` then serves the peer.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import { countConnection } from '../desk/activity.ts';
import type { Introduction } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';
import type { ReportFailure } from '../desk/failure.ts';
import { createConnection } from './connection.ts';
import { watchCredential } from './credential-watch.ts';
import type { CutOff } from './cut-off.ts';
import type { HostLimit } from './host-limit.ts';
import { introductionOf, type OriginCheck, type TurnedAway } from './origin-check.ts';
import { sessionOnly, withSession } from './page/cookie.ts';
import { type Arrival, addressOf, createUpgrades, isSecure, type Seat } from './upgrade.ts';

/** A frame larger than this closes the connection with 1009. */
export const FRAME_BYTES_MAX: number = 4 * 1024 * 1024;
export const CONNECTIONS_MAX = 10_000;
const PING_MS = 30_000;

export interface WebSocketDoor {
  upgrade(arrival: Arrival): void;
  readonly size: number;
  /** How many were cut off because they did not read. */
  readonly slowReaders: number;
  close(): void;
}

export interface WebSocketDoorOptions {
  readonly desk: Desk;
  readonly origins: OriginCheck;
  readonly report: ReportFailure;
  /** Only sessions of the page are let in. */
  readonly isForPages?: boolean;
  readonly pingMs?: number | undefined;
  readonly slowFarewellMs?: number | undefined;
  readonly hostLimit?: HostLimit;
  readonly onCutOff: CutOff;
}

export function createWebSocketDoor(options: WebSocketDoorOptions): WebSocketDoor {
  const { desk, report, hostLimit } = options;
  let slowReaders = 0;
  const upgrades = createUpgrades({
    ...options,
    frameBytesMax: FRAME_BYTES_MAX,
    pingMs: options.pingMs ?? PING_MS,
    handleProtocols: (offered) => (offered.has('synod.v1') ? 'synod.v1' : false),
    admit,
  });

  async function admit(arrival: Arrival): Promise<Seat | Refusal | TurnedAway> {
    const { request, stream, isOwnerSocket } = arrival;
    if (!/^\/ws(\?|$)/.test(request.url ?? '')) {
      return refuse('operation.unknown', 'WebSockets are at /ws alone');
    }
    if (upgrades.size >= CONNECTIONS_MAX) {
      const message = `the hub holds ${CONNECTIONS_MAX} connections already; close one, or ask over HTTP`;
      const detail = { reason: 'limit.reached', limit: 'CONNECTIONS_MAX' };
      return { status: 503, envelope: { error_code: 'rate_limited', message, detail } };
    }
    const { headers } = request;
    const shown = introductionOf(headers, `ws-${randomUUID()}`, isOwnerSocket);
    const session = withSession(withProtocols(shown, request), headers, isSecure(arrival));
    const introduction = options.isForPages ? sessionOnly(session) : session;
    const caller = await desk.authenticate(introduction);
    if (isRefusal(caller)) return caller;
    return (ws) => {
      const { peer, gone } = createConnection(desk, ws, stream, caller, {
        report,
        limit: () => hostLimit?.check(addressOf(arrival)) ?? null,
        onSlowReader(bytes) {
          slowReaders++;
          options.onCutOff(caller, bytes, 'WebSocket');
        },
        slowFarewellMs: options.slowFarewellMs,
      });
      const countOut = countConnection(caller.activity, Date.now);
      const end = (reason: string): void => peer.close(4001, reason);
      const stopWatching = watchCredential(desk, { introduction, caller, end });
      gone.addEventListener('abort', () => {
        stopWatching();
        countOut();
      });
      return peer;
    };
  }

  return {
    upgrade: (arrival) => upgrades.receive(arrival),
    get slowReaders() {
      return slowReaders;
    },
    get size() {
      return upgrades.size;
    },
    close: () => upgrades.close(),
  };
}

/** A browser cannot set headers on a WebSocket; its credential comes as subprotocols. */
function withProtocols(introduction: Introduction, request: IncomingMessage): Introduction {
  const offered = (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((one) => one.trim());
  const read = (prefix: string): string | null => {
    const found = offered.find((one) => one.startsWith(prefix));
    return found === undefined
      ? null
      : Buffer.from(found.slice(prefix.length), 'base64url').toString();
  };
  return {
    ...introduction,
    token: introduction.token ?? read('synod.token.'),
    agent: introduction.agent ?? read('synod.agent.'),
    space: introduction.space ?? read('synod.space.'),
    clientVersion: introduction.clientVersion ?? read('synod.version.'),
    isPerson: introduction.isPerson === true || offered.includes('synod.person'),
  };
}
