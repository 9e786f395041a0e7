/**
 * Bad input at the bus. A flood of requests to a pool whose worker dies, again and again until told to end: every
 * request is answered, with an error that has a name, or counted as unanswered. And clients that ask and never read.
 */
import { connect, type Socket } from 'node:net';
import { openLineSocket } from './lines.ts';
import { begun } from './until-told.ts';

/** The bus's Unix socket has the pool `dead`. */
export interface DeadWorkerJob {
  readonly kind: 'dead-worker';
  readonly path: string;
  readonly asks: number;
}

export interface DeadWorkerResult {
  readonly refused: number;
  readonly unanswered: number;
}

/** The bus's Unix socket has the pool `talker`. */
export interface BusStoppedJob {
  readonly kind: 'bus-stopped';
  readonly path: string;
  readonly clients: number;
}

const DEADLINE_MS = 60_000;
const PAD = 'x'.repeat(8_000);
/** Of one client: more than may wait for it. */
const ASKS_OF_ONE = 400;

export async function deadWorker(job: DeadWorkerJob): Promise<DeadWorkerResult> {
  let refused = 0;
  let asked = 0;
  let done = Promise.withResolvers<void>();
  const flood = await openLineSocket(job.path, (line) => {
    if (line.includes('"error"')) refused += 1;
    if (refused >= asked) done.resolve();
  });
  const until = begun();
  do {
    done = Promise.withResolvers();
    asked += job.asks;
    for (let id = 1; id <= job.asks; id++) flood.write(ask(id, 'dead'));
    const timer = setTimeout(done.resolve, DEADLINE_MS);
    await done.promise;
    clearTimeout(timer);
  } while (!until.isOver && refused === asked);
  flood.destroy();
  return { refused, unanswered: asked - refused };
}

export async function busStopped({ path, clients }: BusStoppedJob): Promise<{ held: number }> {
  const sockets: Socket[] = [];
  let held = clients;
  for (let n = 0; n < clients; n++) {
    const socket = await connectPatiently(path);
    socket.on('error', () => {});
    socket.on('close', () => {
      held -= 1;
    });
    socket.pause();
    sockets.push(socket);
  }
  const until = begun();
  for (let id = 1; id <= ASKS_OF_ONE && !until.isOver; id++) {
    for (const socket of sockets) {
      const isTaking = !socket.destroyed && !socket.writableNeedDrain;
      if (isTaking) socket.write(ask(id, 'talker', PAD));
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until.over;
  const result = { held };
  for (const socket of sockets) socket.destroy();
  return result;
}

const ask = (id: number, pool: string, pad = '') =>
  `{"jsonrpc":"2.0","id":${id},"pool":"${pool}","method":"echo","params":{"pad":"${pad}"}}\n`;

/** A bus that is busy lets 511 wait to be taken in; who is not among them tries again. */
async function connectPatiently(path: string): Promise<Socket> {
  for (;;) {
    const socket = connect(path);
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    socket.once('connect', () => resolve(true));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EAGAIN') resolve(false);
      else reject(error);
    });
    if (await promise) return socket;
    await new Promise((later) => setTimeout(later, 20));
  }
}
