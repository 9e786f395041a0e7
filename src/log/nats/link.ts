/**
 * The connection to a JetStream, one for all logs of a process that name the same place. The packages that
 * speak NATS are loaded when somebody asks for such a log, and by nobody else.
 */
import { readFileSync } from 'node:fs';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { ConnectionOptions, MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { LogError } from '../log.ts';
import { natsFailure } from './failure.ts';
import { type NatsPlace, shownPlace } from './place.ts';
import { tlsOptions } from './tls.ts';

export interface Link {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly createHeaders: () => MsgHdrs;
  /** A subject for answers that nobody else has. */
  readonly createInbox: () => string;
  /** Bytes of a message, headers included. */
  readonly payloadMax: number;
  /** Told when the connection is there again after it was lost: what was said meanwhile did not come, from anybody. */
  onReturn(listener: () => void): () => void;
  release(): Promise<void>;
}

const CONNECT_MS = 5_000;
/** Of one request; who waits longer asks again. */
const REQUEST_MS = 5_000;

interface Shared {
  readonly opened: Promise<Omit<Link, 'release'>>;
  users: number;
}

const shared = new Map<string, Shared>();

export async function openLink(place: NatsPlace): Promise<Link> {
  const key = JSON.stringify(place);
  const known = shared.get(key) ?? { opened: open(place), users: 0 };
  shared.set(key, known);
  known.users++;
  let isHeld = true;
  const release = async (): Promise<void> => {
    if (!isHeld) return;
    isHeld = false;
    if (--known.users > 0) return;
    if (shared.get(key) === known) shared.delete(key);
    await known.opened.then(
      ({ connection }) => connection.close(),
      () => {},
    );
  };
  try {
    return { ...(await known.opened), release };
  } catch (error) {
    // The next one tries again.
    if (shared.get(key) === known) shared.delete(key);
    await release();
    throw natsFailure(shownPlace(place), 'connect to', error);
  }
}

async function open(place: NatsPlace): Promise<Omit<Link, 'release'>> {
  const { jetstream, jetstreamManager, transport } = await loadPackages();
  const { user, password, token, credentials, tls } = place;
  const nkey = place.nkey === null ? null : readNkey(place.nkey);
  const options: ConnectionOptions = {
    ...{
      servers: [...place.servers],
      name: 'synod',
      timeout: CONNECT_MS,
      maxReconnectAttempts: -1,
      // Else every request makes an error beforehand, for its stack: each append, each reading of a lease.
      noAsyncTraces: true,
    },
    ...(user !== null && { user }),
    ...(password !== null && { pass: password }),
    ...(token !== null && { token }),
    ...(credentials !== null && {
      authenticator: transport.credsAuthenticator(readFileSync(credentials)),
    }),
    ...(nkey !== null && {
      authenticator: transport.nkeyAuthenticator(nkey),
      // Answers come by subjects that no other user may listen to.
      inboxPrefix: inboxOf(transport.nkeys.fromSeed(nkey).getPublicKey()),
    }),
    ...(tls !== null && { tls: tlsOptions(place, tls.ca) }),
  };
  const connection = await transport.connect(options);
  try {
    const manager = await jetstreamManager(connection, { timeout: REQUEST_MS });
    const js = jetstream(connection, { timeout: REQUEST_MS });
    const payloadMax = connection.info?.max_payload ?? 1024 * 1024;
    const createInbox = (): string => transport.createInbox(options.inboxPrefix);
    const onReturn = watchReturns(connection);
    return {
      ...{ connection, js, manager, createHeaders: transport.headers, createInbox },
      ...{ payloadMax, onReturn },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Until the connection is closed. What was subscribed is subscribed again when it is told. */
function watchReturns(connection: NatsConnection): Link['onReturn'] {
  const listeners = new Set<() => void>();
  const watch = async (): Promise<void> => {
    for await (const { type } of connection.status())
      if (type === 'reconnect') for (const listener of [...listeners]) listener();
  };
  void watch();
  return (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
}

/** Where a user that NATS knows by its key is answered. */
export function inboxOf(nkey: string): string {
  return `_INBOX.${nkey}`;
}

function readNkey(path: string): Uint8Array {
  const text = readFileSync(path, 'utf8').trim();
  if (/^SU[A-Z2-7]{56}$/.test(text)) return Buffer.from(text);
  throw new LogError(
    'log.unavailable',
    `${path} holds no private key of a user of NATS (one line that begins with SU); "synod join" writes it`,
    { path },
  );
}

async function loadPackages() {
  try {
    const [transport, { jetstream, jetstreamManager }] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
    ]);
    return { transport, jetstream, jetstreamManager };
  } catch (cause) {
    throw absent(cause);
  }
}

function absent(cause: unknown): LogError {
  return new LogError(
    'log.unavailable',
    'a store at nats:// needs two packages that are not here: npm install @nats-io/transport-node @nats-io/jetstream',
    { cause },
  );
}
