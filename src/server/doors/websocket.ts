/**
 * The WebSocket door at `/ws`: JSON-RPC 2.0, methods are operation ids, pushes are notifications. Host,
 * Origin and credential are checked before the upgrade; `connection.ts` then serves the peer.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import { countConnection } from '../desk/activity.ts';
import type { Caller, Introduction } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';
import type { ReportFailure } from '../desk/failure.ts';
import { createConnections } from './connection.ts';
import { watchCredential } from './credential-watch.ts';
import type { CutOff } from './cut-off.ts';
import type { FanOut } from './fan-out.ts';
import type { HostLimit } from './host-limit.ts';
import { introductionOf, type OriginCheck, type TurnedAway } from './origin-check.ts';
import { sessionOnly, withSession } from './page/cookie.ts';
import type { Peer } from './peer.ts';
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
  readonly fanOut: FanOut;
}

/** Who was let in. */
interface Admitted {
  readonly introduction: Introduction;
  readonly caller: Caller;
  readonly address: string | undefined;
}

export function createWebSocketDoor(options: WebSocketDoorOptions): WebSocketDoor {
  const { desk, report, fanOut, hostLimit, slowFarewellMs } = options;
  let slowReaders = 0;
  const connect = createConnections({
    ...{ desk, report, fanOut, slowFarewellMs },
    limit: (address) => hostLimit?.check(address) ?? null,
    onSlowReader(caller, bytes) {
      slowReaders++;
      options.onCutOff(caller, bytes, 'WebSocket');
    },
  });
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
    const shown = introductionOf(headers, connectionId(), isOwnerSocket);
    const session = withSession(withProtocols(shown, request), headers, isSecure(arrival));
    const introduction = options.isForPages ? sessionOnly(session) : session;
    const caller = await desk.authenticate(introduction);
    if (isRefusal(caller)) return caller;
    const address = addressOf(arrival);
    return (ws) => sit(ws, stream, { introduction, caller, address });
  }

  /** Of its arrival nothing is held: a request and its headers are as large as all else of a connection that is idle. */
  function sit(ws: WebSocket, stream: Duplex, { introduction, caller, address }: Admitted): Peer {
    let stopWatching: (() => void) | null = null;
    const peer = connect(ws, stream, {
      caller,
      address,
      onGone() {
        stopWatching?.();
        countOut();
      },
    });
    const countOut = countConnection(caller.activity, Date.now);
    const end = (reason: string): void => peer.close(4001, reason);
    stopWatching = watchCredential(desk, { introduction, caller, end });
    // What opened it may be over already.
    if (!peer.isOpen) stopWatching();
    return peer;
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

/** Not a UUID: Node joins one of sixteen pieces, and an idle connection would hold them all. */
function connectionId(): string {
  return `ws-${randomBytes(16).toString('base64url')}`;
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
