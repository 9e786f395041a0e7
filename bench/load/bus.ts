/**
 * Round trips over a line of JSON-RPC: so many requests in flight, each answer sends the next. The
 * other end is a worker's own pipe, or a bus before the same worker: the client is the same code,
 * so what differs is the bus.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { percentiles } from '../percentiles.ts';
import { busyUsOf, memoryOf } from '../process.ts';

export interface BusJob {
  readonly kind: 'bus';
  /** One line for each: several workers without a bus, or one bus. */
  readonly ends: readonly BusEnd[];
  readonly inFlight: number;
  /** Of a request. */
  readonly bytes: number;
  readonly warmMs: number;
  readonly measureMs: number;
}

export type BusEnd =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly path: string }
  | { readonly port: number; readonly token: string };

export interface BusResult {
  readonly tripsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** From the start of the other end, or of the connection, to its first answer. */
  readonly firstMs: number;
  /** Requests without an answer, or with an error for one. */
  readonly lost: number;
  /** Of the process at the other end, where this one started it. */
  readonly residentMb?: number;
  /** Its processor time for one trip. */
  readonly busyUs?: number;
}

/** A request that has waited so long is lost, and another goes in its place. */
const LOST_MS = 3_000;
const FIRST_TIMEOUT_MS = 30_000;

interface End {
  readonly pid?: number | undefined;
  write(text: string): void;
  close(): void;
}

export async function bus(job: BusJob): Promise<BusResult> {
  const pad = 'x'.repeat(Math.max(0, job.bytes - 70));
  const sentAt = new Map<number, number>();
  const takenMs: number[] = [];
  let next = 0;
  let count = 0;
  let isMeasuring = false;
  let isOver = false;
  let lost = 0;
  let firstMs = Number.NaN;
  const begunAt = performance.now();
  const done = Promise.withResolvers<void>();

  const request = (): string => {
    next += 1;
    sentAt.set(next, performance.now());
    return `{"jsonrpc":"2.0","id":${next},"method":"echo","params":{"pad":"${pad}"}}\n`;
  };

  const onLines = (lines: readonly string[], end: End): void => {
    const now = performance.now();
    let more = '';
    for (const line of lines) {
      const at = line.indexOf('"id":') + 5;
      const id = Number(line.slice(at, line.indexOf(',', at)));
      const from = sentAt.get(id);
      // An answer to what was given up, or none at all: the place was filled.
      if (from === undefined) continue;
      sentAt.delete(id);
      if (line.includes('"error"')) {
        lost += 1;
      } else if (isMeasuring) {
        count += 1;
        takenMs.push(now - from);
      }
      if (Number.isNaN(firstMs)) firstMs = now - begunAt;
      if (!isOver) more += request();
    }
    if (more !== '') end.write(more);
    if (isOver && sentAt.size === 0) done.resolve();
  };

  const ends = await Promise.all(job.ends.map((end) => open(end, onLines, done.reject)));
  let begun = 0;
  while (begun < job.inFlight) {
    for (const end of ends) {
      if (begun < job.inFlight) end.write(request());
      begun += 1;
    }
  }
  const deadline = performance.now() + FIRST_TIMEOUT_MS;
  while (Number.isNaN(firstMs)) {
    if (performance.now() > deadline) throw new Error('the other end answers nothing');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  // Until the first answer everything waits for the start, which is no loss.
  const watchedFrom = performance.now();
  const watch = setInterval(() => {
    const now = performance.now();
    for (const [id, from] of sentAt) {
      if (now - Math.max(from, watchedFrom) < LOST_MS) continue;
      sentAt.delete(id);
      lost += 1;
      if (!isOver) ends[id % ends.length]?.write(request());
    }
    if (isOver && sentAt.size === 0) done.resolve();
  }, LOST_MS / 10);
  await new Promise((resolve) => setTimeout(resolve, job.warmMs));
  const [only, another] = ends;
  const pid = another === undefined ? only?.pid : undefined;
  const busy = pid === undefined ? 0 : busyUsOf(pid);
  isMeasuring = true;
  const from = performance.now();
  await Promise.race([new Promise((resolve) => setTimeout(resolve, job.measureMs)), done.promise]);
  // One of a megabyte may take longer than a smoke run measures.
  while (count === 0 && lost === 0 && performance.now() < from + FIRST_TIMEOUT_MS) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  // Refusals are answers too, and quick ones.
  if (count === 0) throw new Error(`the other end carried nothing out: ${lost} lost or refused`);
  const tripsPerSecond = (count / (performance.now() - from)) * 1_000;
  isMeasuring = false;
  const cost = pid !== undefined && {
    residentMb: memoryOf(pid).residentMb,
    busyUs: (busyUsOf(pid) - busy) / count,
  };
  isOver = true;
  await done.promise;
  clearInterval(watch);
  for (const end of ends) end.close();
  return { tripsPerSecond, ...percentiles(takenMs), firstMs, lost, ...cost };
}

async function open(
  end: BusEnd,
  onLines: (lines: readonly string[], end: End) => void,
  onError: (error: Error) => void,
): Promise<End> {
  const { input, output, close, pid } = await streams(end);
  output.on('error', onError);
  let parts: string[] = [];
  const opened: End = { pid, write: (text) => void output.write(text, 'latin1'), close };
  input.setEncoding('latin1').on('data', (chunk: string) => {
    if (!chunk.includes('\n')) {
      parts.push(chunk);
      return;
    }
    const lines = (parts.join('') + chunk).split('\n');
    parts = [lines.pop() ?? ''];
    onLines(lines, opened);
  });
  return opened;
}

async function streams(
  end: BusEnd,
): Promise<{ input: Readable; output: Writable; close: () => void; pid?: number | undefined }> {
  if ('command' in end) {
    const child: ChildProcess = spawn(end.command, [...end.args], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const { stdin, stdout } = child;
    if (!stdin || !stdout) throw new Error(`${end.command} has no pipes`);
    const close = () => {
      stdin.end();
      // One that does not end with its input would hold up the load for ever.
      setTimeout(() => child.kill('SIGTERM'), 500);
      setTimeout(() => child.kill('SIGKILL'), 5_000).unref();
      child.once('exit', () => stdout.destroy());
    };
    return { input: stdout, output: stdin, close, pid: child.pid };
  }
  const socket: Socket = 'path' in end ? connect(end.path) : connect(end.port, '127.0.0.1');
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject);
  });
  socket.setNoDelay(true);
  if ('token' in end) socket.write(`${JSON.stringify({ type: 'auth', token: end.token })}\n`);
  return { input: socket, output: socket, close: () => void socket.destroy() };
}
