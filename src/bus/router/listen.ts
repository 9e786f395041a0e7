/**
 * The door for many clients: a Unix socket for this user, or TCP, which web pages and other users of
 * this machine reach too. Who comes over TCP shows a token with the first line, within a few seconds,
 * before anything is carried out [BD6]; without a token there is no TCP, also after a reload [BD7];
 * and a connection whose token a reload removed or changed is cut off [BD18].
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { ByteLine } from '../process/byte-line.ts';
import { type Admission, AUTH_WAIT_MS, type Gate, readIntroduction } from './auth.ts';
import type { Bus, BusLogLine } from './bus.ts';
import type { TransportConfig } from './config.ts';
import { type Connection, openConnection } from './connection.ts';
import type { Door } from './door.ts';
import { errorLine } from './errors.ts';
import {
  addressText,
  ListenError,
  portOf,
  resolveHost,
  type TcpAddress,
  untilListening,
} from './listen-address.ts';
import { clearSocketPath, listenUnix } from './listen-unix.ts';

/** So many may stand at the door without having said who they are; then the first of them goes. */
const UNKNOWN_MAX = 64;
const SHOW_TOKEN = 'show a token of this bus with the first line; ask for one whoever runs it';
const KEEP_ALIVE_MS = 60_000;
const BACKLOG = 511;

export type ListenAddress = { readonly path: string } | TcpAddress;

export interface ListenOptions {
  readonly bus: Bus;
  readonly address: ListenAddress;
  readonly framing: TransportConfig['framing'];
  readonly gate: Gate;
  readonly onLog?: (line: BusLogLine) => void;
}

export async function openListener(options: ListenOptions): Promise<Door> {
  const { bus, gate, address, framing, onLog } = options;
  const kind = 'path' in address ? 'unix' : 'tcp';
  const connections = new Set<Connection>();
  /** Those let in, with what they showed. */
  const inside = new Map<Connection, Admission | null>();
  /** How to take one off the list of those who have not said who they are. */
  const waiting = new Map<Connection, () => void>();
  let count = 0;
  const log = (level: BusLogLine['level'], text: string): void => onLog?.({ level, text });
  const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);

  function accept(socket: Socket): void {
    const label = `${kind}#${++count}`;
    if (kind === 'tcp') socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const isStranger = kind === 'tcp';
    const connection: Connection = openConnection({
      label,
      identity: null,
      input: socket,
      output: socket,
      framing,
      messageBytesMax: bus.config.limits.messageBytesMax,
      isFar: kind === 'tcp',
      ...(isStranger && { onIntroduction: (line) => introduce(connection, line) }),
    });
    connections.add(connection);
    void connection.closed.then(() => {
      connections.delete(connection);
      inside.delete(connection);
      waiting.get(connection)?.();
    });
    if (!isStranger) return enter(connection, null);
    makeRoom();
    const timer = setTimeout(
      () => refuseConnection(connection, 'null', `no token came within ${AUTH_WAIT_MS / 1_000} s`),
      AUTH_WAIT_MS,
    );
    timer.unref();
    waiting.set(connection, () => {
      waiting.delete(connection);
      clearTimeout(timer);
    });
  }

  /** A client with a token shows it at once: the one silent for longest is closed, not the newest. */
  function makeRoom(): void {
    const [oldest] = waiting.keys();
    if (oldest === undefined || waiting.size < UNKNOWN_MAX) return;
    const message = `${UNKNOWN_MAX} others wait to say who they are, and you were silent for longest`;
    refuseConnection(oldest, 'null', message, { retryable: true });
  }

  function introduce(connection: Connection, line: ByteLine | null): void {
    const shown = line === null ? null : readIntroduction(line);
    const admission = shown === null || shown.token === null ? null : gate.admit(shown.token);
    if (shown === null || admission === null) {
      const why =
        shown === null || shown.token === null
          ? 'this bus wants a token first: {"type":"auth","token":"…"}, or stdio_bus/hello with params.token'
          : 'the token is not known here';
      return refuseConnection(connection, shown?.id ?? 'null', why);
    }
    waiting.get(connection)?.();
    connection.identity = admission.identity;
    log('info', `[client=${connection.label}] is ${admission.identity.subjectId}`);
    enter(connection, admission, shown.rest);
  }

  function enter(
    connection: Connection,
    admission: Admission | null,
    first: ByteLine | null = null,
  ): void {
    const attachment = bus.attach(connection);
    if (attachment === null) {
      const isFull = bus.state === 'running' || bus.state === 'starting';
      const message = isFull
        ? `this bus has ${bus.config.limits.clientsMax} clients already`
        : 'this bus is stopping';
      const code = isFull ? 'bus.queue-full' : 'bus.draining';
      connection.send(errorLine('null', { code, message }));
      return connection.close('error', true);
    }
    inside.set(connection, admission);
    connection.open(attachment);
    if (first !== null) attachment.receive(first);
  }

  function refuseConnection(
    connection: Connection,
    id: string,
    message: string,
    more: { readonly retryable?: boolean } = {},
  ): void {
    waiting.get(connection)?.();
    log('warn', `[client=${connection.label}] turned away: ${message}`);
    const detail = { remedy: SHOW_TOKEN, ...more };
    connection.send(errorLine(id, { code: 'bus.policy', message, detail }));
    connection.close('error', true);
  }

  /** Null when it may stay. */
  function whyCut(admission: Admission | null): string | null {
    if (admission === null) return null;
    const { subjectId, role } = admission.identity;
    const now = gate.identityOf(admission.tokenHash);
    if (now === null) return 'its token is known no more';
    return now.subjectId === subjectId && now.role === role
      ? null
      : 'its token now stands for another subject or role';
  }

  const { where, remove } =
    'path' in address
      ? await openUnix(server, address.path)
      : await openTcp(server, address, gate.isGuarded);
  server.on('error', (error) => log('error', `listening on ${where}: ${error.message}`));

  const stopAccepting = (): void => {
    if (server.listening) server.close();
    remove();
  };

  return {
    address: where,
    // It never ends by itself.
    ended: new Promise<string>(() => {}),
    objection(clients) {
      if (kind === 'unix' || gate.wouldGuard(clients)) return null;
      return `no token would open ${where} any more; leave at least one of "clients"`;
    },
    recheck() {
      for (const [connection, admission] of [...inside]) {
        const why = whyCut(admission);
        if (why === null) continue;
        log('warn', `[client=${connection.label}] cut off: ${why}`);
        connection.close('error', false);
      }
    },
    stopAccepting,
    async close() {
      stopAccepting();
      for (const connection of connections) connection.close('draining', true);
      await Promise.all([...connections].map(({ closed }) => closed));
    },
  };
}

interface Opened {
  readonly where: string;
  remove(): void;
}

async function openUnix(server: Server, path: string): Promise<Opened> {
  await clearSocketPath(path);
  return { where: path, remove: await listenUnix(server, path) };
}

async function openTcp(server: Server, asked: TcpAddress, isGuarded: boolean): Promise<Opened> {
  const { address } = await resolveHost(asked.host);
  if (!isGuarded) {
    throw new ListenError(
      'bus.no-token',
      'any program and any web page of this machine reaches TCP, so a token is asked for, and ' +
        'there is none; give one, or "clients" in the config, or listen on a Unix socket',
    );
  }
  const where = addressText(asked.host, asked.port);
  await untilListening(
    server,
    (onListening) =>
      server.listen({ host: address, port: asked.port, backlog: BACKLOG }, onListening),
    (code) =>
      code === 'EADDRINUSE'
        ? `${where} is in use; choose another port`
        : `cannot listen on ${where} (${code})`,
  );
  return { where: addressText(address, portOf(server)), remove: () => {} };
}
