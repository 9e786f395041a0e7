/**
 * Takes and releases claims of twenty paths while many others are live.
 *
 * The live claims lie in the same worktree, each with files and globs of its own folder, spread over
 * agents as the quota wants it. They are taken once for each server; a run after that only
 * measures. A pair is a take and, when it is answered, its release.
 */
import { type Cost, createMeter } from '../process.ts';
import { encodeMasked, type LoadSocket, openLoadSocket } from './socket.ts';

export interface ClaimsJob {
  readonly kind: 'claims';
  readonly url: string;
  /** Claims to take first and leave; 0 when they are there. */
  readonly live: number;
  readonly agents: number;
  readonly measureMs: number;
  readonly pid: number;
}

export interface ClaimsResult extends Cost {
  readonly pairsPerSecond: number;
}

const PER_AGENT = 100;
const WINDOW = 50;

export async function claims(job: ClaimsJob): Promise<ClaimsResult> {
  for (let from = 0; from < job.live; from += PER_AGENT) {
    const socket = await openLoadSocket(job.url, `holder-${from}`);
    const names = Array.from({ length: Math.min(PER_AGENT, job.live - from) }, (_, i) => from + i);
    for (let n = 0; n < names.length; n += WINDOW)
      await takeAll(socket, names.slice(n, n + WINDOW));
    socket.close();
  }
  const run = process.pid.toString(36);
  const sockets: LoadSocket[] = [];
  for (let n = 0; n < job.agents; n++) sockets.push(await openLoadSocket(job.url, `${run}-${n}`));
  let pairs = 0;
  const meter = createMeter(job.pid);
  const from = performance.now();
  await Promise.all(
    sockets.map(async (socket, n) => {
      const wish = wishOf(`${run}-${n}`);
      while (performance.now() - from < job.measureMs) {
        await socket.call('claims.take', wish);
        await socket.call('claims.release', { task_id: wish.task_id });
        pairs++;
      }
    }),
  );
  const seconds = (performance.now() - from) / 1000;
  const cost = meter.costOf(pairs);
  for (const socket of sockets) socket.close();
  return { pairsPerSecond: pairs / seconds, ...cost };
}

function wishOf(name: string | number) {
  const folder = `packages/p${name}`;
  const files = Array.from({ length: 17 }, (_, i) => `${folder}/src/module-${i}.ts`);
  const paths = [...files, `${folder}/test/**/*.test.ts`, `${folder}/docs/*.md`, `${folder}/gen`];
  return { task_id: `task-${name}`, worktree: 'bench', paths, ttl_seconds: 86_400 };
}

function takeAll(socket: LoadSocket, names: readonly number[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const goal = socket.received + names.length;
  socket.onFrames = () => socket.received >= goal && resolve();
  const frames = names.map((name) => {
    const params = wishOf(name);
    return encodeMasked(
      JSON.stringify({ jsonrpc: '2.0', id: name + 1, method: 'claims.take', params }),
    );
  });
  socket.write(Buffer.concat(frames));
  return promise;
}
