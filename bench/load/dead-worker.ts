/**
 * A flood of requests to a pool whose worker dies, and a bystander on the same bus whose worker lives. Every
 * request is answered, with an error that has a name, or counted as unanswered. The two are processes of their
 * own: what the flood does with its answers is no business of the bystander.
 */
import { connect, type Socket } from 'node:net';
import { type Percentiles, percentiles } from '../percentiles.ts';

/** The bus's Unix socket has the pools `dead` and `alive`. */
export interface DeadWorkerJob {
  readonly kind: 'dead-worker';
  readonly path: string;
  readonly asks: number;
}

export interface BusBystanderJob {
  readonly kind: 'bus-bystander';
  readonly path: string;
  readonly trips: number;
}

export interface DeadWorkerResult {
  readonly refused: number;
  readonly unanswered: number;
}

const DEADLINE_MS = 60_000;

export async function deadWorker(job: DeadWorkerJob): Promise<DeadWorkerResult> {
  let refused = 0;
  const done = Promise.withResolvers<void>();
  const flood = await open(job.path, (line) => {
    if (line.includes('"error"')) refused += 1;
    if (refused >= job.asks) done.resolve();
  });
  for (let id = 1; id <= job.asks; id++) flood.write(ask(id, 'dead'));
  const timer = setTimeout(done.resolve, DEADLINE_MS);
  await done.promise;
  clearTimeout(timer);
  flood.destroy();
  return { refused, unanswered: job.asks - refused };
}

const ask = (id: number, pool: string) =>
  `{"jsonrpc":"2.0","id":${id},"pool":"${pool}","method":"echo","params":{}}\n`;

export async function busBystander({ path, trips }: BusBystanderJob): Promise<Percentiles> {
  let answered = Promise.withResolvers<string>();
  const socket = await open(path, (line) => answered.resolve(line));
  const takenMs: number[] = [];
  for (let id = 1; id <= trips; id++) {
    answered = Promise.withResolvers();
    const from = performance.now();
    socket.write(ask(id, 'alive'));
    const line = await answered.promise;
    if (!line.includes('"result"')) throw new Error(`the bystander got ${line.slice(0, 200)}`);
    takenMs.push(performance.now() - from);
  }
  socket.destroy();
  return percentiles(takenMs);
}

async function open(path: string, onLine: (line: string) => void): Promise<Socket> {
  const socket = connect(path);
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject);
  });
  let tail = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    const lines = (tail + text).split('\n');
    tail = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  socket.on('error', () => {});
  return socket;
}
