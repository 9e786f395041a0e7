/** What a client is made from, and what it assumes where nothing is said. */
import { type Address, type Credential, parseAddress } from './address.ts';
import { createBackoff, type ReconnectOptions } from './backoff.ts';
import { type Connection, type ConnectionEvents, openConnection } from './connection.ts';
import { BUFFER_MESSAGES_MAX, type CommitMode } from './messages.ts';
import { type OpenSocket, openGlobalSocket } from './socket.ts';

export interface ClientOptions extends Credential {
  /** `http://127.0.0.1:8765`; https, ws and wss will do as well. `/ws` is added. */
  readonly url: string;
  /** Opens the socket instead of the platform's WebSocket: over a Unix socket, or with headers. */
  readonly openSocket?: OpenSocket;
  readonly reconnect?: ReconnectOptions;
  /** How long an answer may take, reconnecting included. Default 30 s. */
  readonly requestTimeoutMs?: number;
  /** Who moves the read cursor behind `messages()`. Default `auto`. */
  readonly commit?: CommitMode;
  /** Messages an iterator holds before it hangs up and resumes later. Default 10,000. */
  readonly bufferMax?: number;
  /** Silence after which the hub is asked for a sign of life. Default 30 s. */
  readonly livenessMs?: number;
}

export interface Settings {
  readonly address: Address;
  readonly requestTimeoutMs: number;
  readonly commit: CommitMode;
  readonly bufferMax: number;
  /** Each line has a back-off of its own. */
  openConnection(events: ConnectionEvents): Connection;
}

const REQUEST_TIMEOUT_MS = 30_000;
const LIVENESS_MS = 30_000;

export function settle(options: ClientOptions): Settings {
  const address = parseAddress(options.url, options);
  const openSocket = options.openSocket ?? openGlobalSocket;
  return {
    address,
    requestTimeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    commit: options.commit ?? 'auto',
    bufferMax: options.bufferMax ?? BUFFER_MESSAGES_MAX,
    openConnection: (events) =>
      openConnection(
        {
          address,
          openSocket,
          doesAskWhy: options.openSocket === undefined,
          backoff: createBackoff(options.reconnect),
          livenessMs: options.livenessMs ?? LIVENESS_MS,
        },
        events,
      ),
  };
}
