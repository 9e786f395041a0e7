/**
 * A real `synod bus`: its own process with a worker of ours, and clients that speak lines or frames
 * over real sockets. Everything that is waited for has a deadline; whatever still runs at the end
 * of a test is killed.
 */
import { type ChildProcess, type IOType, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { BIN, CACHE } from '../program.ts';
import { within } from './deadline.ts';

/** Answers after `delayMs`, says who it is and what it was given; `notify` sends one first. */
const WORKER = `
import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {}, sessionId, _ext } = JSON.parse(line);
  if (id === undefined) return;
  if (params.isSaid) process.stderr.write('at work on ' + method + '\\n');
  const env = params.env === undefined ? undefined : (process.env[params.env] ?? null);
  const answer = () =>
    say({ id, sessionId, result: { echo: params, method, ext: _ext, env, cwd: process.cwd(), pid: process.pid } });
  setTimeout(answer, params.delayMs ?? 0);
});
`;

export interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: Record<string, unknown>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data: Record<string, unknown>;
  };
}

export interface BusHome {
  readonly dir: string;
  path(name: string): string;
  /** Writes the config and answers its path. */
  config(document: object | string, name?: string): string;
  /** A pool that runs the worker above. */
  pool(id: string, more?: object): object;
  start(args: readonly string[], options?: StartOptions): BusProcess;
  connect(where: string, framing?: Framing): Promise<LineClient>;
  /** Over TCP, with the token that a bus without one of its own made. */
  enter(where: string): Promise<LineClient>;
  close(): Promise<void>;
}

type Framing = 'ndjson' | 'length';

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What descriptor 3 is. */
  readonly third?: IOType | Readable;
  /** Runs it through a shell with this in front. */
  readonly shell?: string;
}

export interface BusProcess {
  readonly child: ChildProcess;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly log: string;
  /** Waits until the log matches. */
  logged(pattern: RegExp): Promise<RegExpExecArray>;
  /** The exit code once it is gone; throws when it went by a signal. */
  exited(): Promise<number>;
}

export function openBusHome(): BusHome {
  const dir = mkdtempSync(join(tmpdir(), 'synod-bus-'));
  writeFileSync(join(dir, 'worker.mjs'), WORKER);
  const alive = new Set<ChildProcess>();
  const clients = new Set<LineClient>();
  const path = (name: string): string => join(dir, name);
  return {
    dir,
    path,
    pool: (id, more) => ({
      id,
      command: process.execPath,
      args: [path('worker.mjs')],
      instances: 1,
      ...more,
    }),
    config(document, name = 'bus.json') {
      writeFileSync(path(name), typeof document === 'string' ? document : JSON.stringify(document));
      return path(name);
    },
    start(args, options = {}) {
      const command = [process.execPath, BIN, 'bus', ...args];
      const [first = '', ...rest] =
        options.shell === undefined
          ? command
          : ['/bin/sh', '-c', `${options.shell}; exec "$@"`, 'sh', ...command];
      const child = spawn(first, rest, {
        cwd: dir,
        env: {
          PATH: process.env.PATH ?? '',
          HOME: dir,
          XDG_CACHE_HOME: CACHE,
          ...options.env,
        },
        stdio: ['pipe', 'pipe', 'pipe', options.third ?? 'ignore'],
      });
      alive.add(child);
      child.once('close', () => alive.delete(child));
      return watch(child);
    },
    async connect(where, framing = 'ndjson') {
      const client = await openLineClient(where, framing);
      clients.add(client);
      return client;
    },
    async enter(where) {
      const client = await this.connect(where);
      client.send({ type: 'auth', token: readFileSync(path('.synod/bus-token'), 'utf8').trim() });
      return client;
    },
    async close() {
      for (const client of clients) client.socket.destroy();
      const ends = [...alive].map((child) => once(child, 'close'));
      for (const child of alive) child.kill('SIGKILL');
      await Promise.all(ends);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function watch(child: ChildProcess): BusProcess {
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('no pipes');
  let log = '';
  const gone = once(child, 'close');
  stderr.setEncoding('utf8').on('data', (text) => {
    log += text;
    child.emit('logged');
  });
  stdin.on('error', () => {});
  return {
    child,
    stdin,
    stdout,
    get log() {
      return log;
    },
    async logged(pattern) {
      const found = async (): Promise<RegExpExecArray> => {
        for (;;) {
          const match = pattern.exec(log);
          if (match !== null) return match;
          const more = await Promise.race([once(child, 'logged'), gone.then(() => null)]);
          if (more === null && !pattern.test(log)) {
            throw new Error(`it ended without ${pattern}: ${log}`);
          }
        }
      };
      return within(`${pattern} in the log`, found()).catch((cause) => {
        throw new Error(`${(cause as Error).message}; the log: ${log}`, { cause });
      });
    },
    async exited() {
      await within('the end of the bus', gone).catch((cause) => {
        throw new Error(`${(cause as Error).message}; the log: ${log}`, { cause });
      });
      if (child.exitCode === null) throw new Error(`ended by ${child.signalCode}: ${log}`);
      return child.exitCode;
    },
  };
}

/** One end of a conversation, whatever it runs over. */
export interface Talk {
  /** Sends as it is, a newline or a length added. */
  send(message: object | string): void;
  /** The next message of the other side. */
  next(): Promise<Message>;
  /** Sends a request and waits for the answer with its id; others stay to be read. */
  ask(method: string, params?: object, more?: object): Promise<Message>;
  /** Waits for the end of what the other side says. */
  ended(): Promise<void>;
}

export interface LineClient extends Talk {
  readonly socket: Socket;
}

export function talkOver(input: Readable, output: Writable, framing: Framing = 'ndjson'): Talk {
  let bytes = Buffer.alloc(0);
  let lastId = 0;
  let isOver = false;
  const messages: Message[] = [];
  const wake = (): boolean => input.emit('heard');
  input.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const frame = framing === 'length' ? cutFrame(bytes) : cutLine(bytes);
      if (frame === null) break;
      bytes = Buffer.from(frame.rest);
      messages.push(JSON.parse(frame.text));
    }
    wake();
  });
  const finish = (): void => {
    isOver = true;
    wake();
  };
  input.once('end', finish).once('close', finish).on('error', finish);
  output.on('error', () => {});

  async function take(what: string, isWanted: (message: Message) => boolean): Promise<Message> {
    const found = async (): Promise<Message> => {
      for (;;) {
        const at = messages.findIndex(isWanted);
        if (at >= 0) return messages.splice(at, 1)[0] as Message;
        if (isOver) throw new Error(`the other side is gone: no ${what}`);
        await once(input, 'heard');
      }
    };
    return within(what, found());
  }

  const talk: Talk = {
    send(message) {
      const body = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
      const head = Buffer.alloc(framing === 'length' ? 4 : 0);
      if (framing === 'length') head.writeUInt32BE(body.length);
      output.write(Buffer.concat([head, body, Buffer.from(framing === 'length' ? '' : '\n')]));
    },
    next: () => take('message', () => true),
    ask(method, params, more) {
      const id = `q${++lastId}`;
      talk.send({ jsonrpc: '2.0', id, method, ...(params && { params }), ...more });
      return take(`answer to ${method}`, (message) => message.id === id);
    },
    async ended() {
      const over = async (): Promise<void> => {
        while (!isOver) await once(input, 'heard');
      };
      await within('the end of the connection', over());
    },
  };
  return talk;
}

function cutLine(bytes: Buffer): { text: string; rest: Buffer } | null {
  const at = bytes.indexOf('\n');
  return at < 0 ? null : { text: bytes.toString('utf8', 0, at), rest: bytes.subarray(at + 1) };
}

function cutFrame(bytes: Buffer): { text: string; rest: Buffer } | null {
  if (bytes.length < 4) return null;
  const end = 4 + bytes.readUInt32BE(0);
  return bytes.length < end
    ? null
    : { text: bytes.toString('utf8', 4, end), rest: bytes.subarray(end) };
}

/** `where` is a path, or host and port. */
async function openLineClient(where: string, framing: Framing): Promise<LineClient> {
  const [, host, port] = /^(.+):(\d+)$/.exec(where) ?? [];
  const socket =
    port === undefined
      ? connect({ path: where, allowHalfOpen: true })
      : connect({ host: host ?? '', port: Number(port), allowHalfOpen: true });
  await within(`a connection to ${where}`, once(socket, 'connect'));
  return { socket, ...talkOver(socket, socket, framing) };
}
