/**
 * How a WebSocket gets in, for every door that speaks WebSocket. Host, Origin and the measure of the
 * remote address are looked at before the upgrade; a peer that is turned away is told why in HTTP and
 * cannot keep the socket open [W6]. Peers that are in are pinged, and closed with 1001 at the end [W8].
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { isRefusal, type Refusal } from '../../core/law/decider.ts';
import { type ErrorEnvelope, REFUSALS, toEnvelope } from '../../wire/errors.ts';
import type { ReportFailure } from '../desk/failure.ts';
import type { HostLimit } from './host-limit.ts';
import type { OriginCheck, TurnedAway } from './origin-check.ts';
import type { Peer } from './peer.ts';

/** Imported, it would bring the whole of `fetch` with it. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

export interface Arrival {
  readonly request: IncomingMessage;
  readonly stream: Duplex;
  readonly head: Buffer;
  readonly isOwnerSocket: boolean;
}

/** Makes the peer once the upgrade is done; null when it was closed there. */
export type Seat = (ws: WebSocket) => Peer | null;

export interface UpgradeOptions {
  readonly origins: OriginCheck;
  readonly hostLimit?: HostLimit | undefined;
  readonly report: ReportFailure;
  /** A larger frame closes the connection with 1009. */
  readonly frameBytesMax: number;
  readonly pingMs: number;
  readonly handleProtocols?: NonNullable<ServerOptions['handleProtocols']>;
  admit(arrival: Arrival): Promise<Seat | Refusal | TurnedAway>;
  /** With every round of pings. */
  onPing?(): void;
}

export interface Upgrades {
  readonly size: number;
  receive(arrival: Arrival): void;
  close(): void;
}

export function createUpgrades(options: UpgradeOptions): Upgrades {
  const { handleProtocols } = options;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: options.frameBytesMax,
    perMessageDeflate: false,
    clientTracking: false,
    ...(handleProtocols && { handleProtocols }),
  });
  const peers = new Set<Peer>();
  const pings = setInterval(() => {
    for (const peer of peers) peer.ping();
    options.onPing?.();
  }, options.pingMs);
  pings.unref();

  async function receive(arrival: Arrival): Promise<void> {
    const { request, stream, head } = arrival;
    const no =
      options.origins.check(request.headers, arrival.isOwnerSocket) ??
      options.hostLimit?.check(addressOf(arrival)) ??
      null;
    const seat = no ?? (await options.admit(arrival));
    if (typeof seat !== 'function') return turnAway(stream, seat);
    server.handleUpgrade(request, stream, head, (ws) => {
      stream.off('error', destroy);
      const peer = seat(ws);
      if (peer !== null) hold(peer, ws);
    });
  }

  /** For itself, so that what is called at the end does not hold the request. */
  function hold(peer: Peer, ws: WebSocket): void {
    peers.add(peer);
    ws.on('close', () => peers.delete(peer));
  }

  return {
    get size() {
      return peers.size;
    },
    receive(arrival) {
      const { stream } = arrival;
      stream.on('error', destroy);
      receive(arrival).catch((cause) => {
        turnAway(stream, options.report('a WebSocket was not let in', cause));
      });
    },
    close() {
      clearInterval(pings);
      for (const peer of peers) peer.close(1001, 'shutting_down');
      server.close();
    },
  };
}

/** Until the WebSocket looks after it. */
function destroy(this: Duplex): void {
  this.destroy();
}

/** Undefined for the Unix socket, which has none. */
export function addressOf({ stream }: Arrival): string | undefined {
  return (stream as Socket).remoteAddress;
}

/** Whether it came over TLS. */
export function isSecure({ stream }: Arrival): boolean {
  return (stream as Partial<TLSSocket>).encrypted === true;
}

function turnAway(stream: Duplex, why: Refusal | TurnedAway): void {
  const [status, envelope]: [number, ErrorEnvelope] = isRefusal(why)
    ? [REFUSALS[why.refused].http, toEnvelope(why)]
    : [why.status, why.envelope];
  const body = JSON.stringify(envelope);
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    // No timeout of the HTTP server applies to an upgrade: a peer that does not close would stay.
    () => stream.destroy(),
  );
}
