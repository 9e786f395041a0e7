/**
 * Starts load processes and takes in their results.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { BoardJob, BoardResult } from './load/board.ts';
import type { BusJob, BusResult } from './load/bus.ts';
import type { BusBystanderJob, BystanderJob } from './load/bystander.ts';
import type { ClaimsJob, ClaimsResult } from './load/claims.ts';
import type { BusStoppedJob, DeadWorkerJob, DeadWorkerResult } from './load/dead-worker.ts';
import type { FloodJob, FloodResult } from './load/flood.ts';
import type { HoldJob } from './load/hold.ts';
import type { HostileJob, HostileResult } from './load/hostile.ts';
import type { HttpSendJob, HttpSendResult } from './load/http-send.ts';
import type { LatencyJob } from './load/latency.ts';
import type { RecvJob, RecvResult } from './load/recv.ts';
import type { ReplayJob, ReplayResult } from './load/replay.ts';
import type { StormJob, StormResult } from './load/storm.ts';
import type {
  ChatJob,
  ChatResult,
  ConnectsJob,
  WireClaimsJob,
  WireClaimsResult,
} from './load/synapse.ts';
import type { ThreadsJob, ThreadsResult } from './load/threads.ts';
import type { WideJob, WideResult } from './load/wide.ts';
import type { Percentiles } from './percentiles.ts';

/** Far beyond any job: a server that stops answering must not stop the bench. */
const TIMEOUT_MS = 300_000;

export function runLoad(job: FloodJob): Promise<FloodResult>;
export function runLoad(job: BoardJob): Promise<BoardResult>;
export function runLoad(job: BystanderJob | BusBystanderJob | LatencyJob): Promise<Percentiles>;
export function runLoad(job: BusJob): Promise<BusResult>;
export function runLoad(job: ClaimsJob): Promise<ClaimsResult>;
export function runLoad(job: RecvJob): Promise<RecvResult>;
export function runLoad(job: ReplayJob): Promise<ReplayResult>;
export function runLoad(job: StormJob): Promise<StormResult>;
export function runLoad(job: ThreadsJob): Promise<ThreadsResult>;
export function runLoad(job: WideJob): Promise<WideResult>;
export function runLoad(job: ChatJob): Promise<ChatResult>;
export function runLoad(job: WireClaimsJob): Promise<WireClaimsResult>;
export function runLoad(job: ConnectsJob): Promise<{ allMs: number }>;
export function runLoad(job: HttpSendJob): Promise<HttpSendResult>;
export async function runLoad(job: object): Promise<unknown> {
  return await runNode(join(import.meta.dirname, 'load/main.ts'), [JSON.stringify(job)]);
}

/** Runs a program that answers with one JSON line. */
export async function runNode(program: string, parameters: readonly string[]): Promise<unknown> {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, [program, ...parameters], {
    stdio: [...stdio],
    timeout: TIMEOUT_MS,
  });
  const ended = once(child, 'close');
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const [code] = await ended;
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${parameters.join(' ')}`);
  return JSON.parse(text);
}

/** Idle agents, connected until disposed. */
export async function openHold(job: HoldJob): Promise<AsyncDisposable> {
  const { end } = await start(job);
  return {
    async [Symbol.asyncDispose]() {
      await end();
    },
  };
}

/** Load that goes on until it is told to end, and says then what became of it. */
export interface Going<R> {
  end(): Promise<R>;
}

export function startLoad(job: HostileJob): Promise<Going<HostileResult>>;
export function startLoad(job: DeadWorkerJob): Promise<Going<DeadWorkerResult>>;
export function startLoad(job: BusStoppedJob): Promise<Going<{ held: number }>>;
export async function startLoad(job: object): Promise<Going<unknown>> {
  const { end } = await start(job);
  return {
    async end() {
      const said = await end();
      if (said === undefined) throw new Error(`the load said nothing: ${JSON.stringify(job)}`);
      return JSON.parse(said);
    },
  };
}

/** The first line says that it has begun; how it ends is answered with its last. */
async function start(job: object): Promise<{ end(): Promise<string | undefined> }> {
  const program = join(import.meta.dirname, 'load/main.ts');
  const child = spawn(process.execPath, [program, JSON.stringify(job)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const lines = createInterface({ input: child.stdout });
  const held = once(lines, 'line');
  let last: string | undefined;
  await Promise.race([
    held,
    ended.then(([code]) => Promise.reject(new Error(`the load ended with ${code}`))),
  ]);
  lines.on('line', (line) => {
    last = line;
  });
  return {
    async end() {
      child.stdin.end();
      await ended;
      return last;
    },
  };
}
