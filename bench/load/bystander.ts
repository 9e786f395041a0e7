/**
 * A bystander: one who does what agents do, one thing at a time, while others do what they like. It is a process
 * of its own, so that what the others do with their answers, and a thousand sockets of theirs, are no business of it.
 */
import { type Percentiles, percentiles } from '../percentiles.ts';
import { openLineSocket } from './lines.ts';
import { openLoadSocket } from './socket.ts';

export interface BystanderJob {
  readonly kind: 'bystander';
  readonly url: string;
  readonly trips: number;
}

/** The bus's Unix socket has a pool `alive`. */
export interface BusBystanderJob {
  readonly kind: 'bus-bystander';
  readonly path: string;
  readonly trips: number;
}

export async function bystander({ url, trips }: BystanderJob): Promise<Percentiles> {
  const socket = await openLoadSocket(url, `bystands-${process.pid}`);
  const takenMs: number[] = [];
  for (let n = 0; n < trips; n++) {
    const from = performance.now();
    await socket.call('channels.send', { channel: 'bench:bystander', body: { text: 'well?' } });
    takenMs.push(performance.now() - from);
  }
  socket.close();
  return percentiles(takenMs);
}

export async function busBystander({ path, trips }: BusBystanderJob): Promise<Percentiles> {
  let answered = Promise.withResolvers<string>();
  const socket = await openLineSocket(path, (line) => answered.resolve(line));
  const takenMs: number[] = [];
  for (let id = 1; id <= trips; id++) {
    answered = Promise.withResolvers();
    const from = performance.now();
    socket.write(`{"jsonrpc":"2.0","id":${id},"pool":"alive","method":"echo","params":{}}\n`);
    const line = await answered.promise;
    if (!line.includes('"result"')) throw new Error(`the bystander got ${line.slice(0, 200)}`);
    takenMs.push(performance.now() - from);
  }
  socket.destroy();
  return percentiles(takenMs);
}
