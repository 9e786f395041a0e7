/**
 * The bus beside a bare pipe to the same worker: round trips with 1, 8 and 64 in flight, one worker
 * and four, small and large messages, over stdio, a Unix socket and TCP. Where the path of the original
 * is given it runs beside it; the rows that have a goal against it are those that `--peers` runs.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BusEnd } from '../load/bus.ts';
import { runLoad } from '../load.ts';
import { PEER_BUS } from '../peers.ts';
import { type Measure, type Scenario, type Setting, type Sides, takeTurns } from '../scenario.ts';
import { HUB_ROOT } from '../server.ts';

const SYNOD = join(HUB_ROOT, 'bin/synod.js');
const WORKERS = {
  /** The worker in the box. */
  echo: [SYNOD, 'worker', 'echo'],
  plain: [join(import.meta.dirname, '../baseline/plain-worker.ts')],
} as const;
const READY_TIMEOUT_MS = 20_000;
/** Within 1.3 times of a bare pipe. */
const WITHIN = 0.77;

interface Shape {
  readonly worker: keyof typeof WORKERS;
  readonly workers: number;
  readonly inFlight: number;
  readonly bytes: number;
  /** Of the original's round trips. */
  readonly atLeast?: number;
}

const SHAPES: readonly Shape[] = [
  { worker: 'plain', workers: 1, inFlight: 1, bytes: 100, atLeast: 0.95 },
  { worker: 'plain', workers: 1, inFlight: 8, bytes: 100, atLeast: 1 },
  { worker: 'plain', workers: 1, inFlight: 64, bytes: 100, atLeast: 1.1 },
  { worker: 'plain', workers: 4, inFlight: 64, bytes: 100, atLeast: 1.5 },
  { worker: 'echo', workers: 1, inFlight: 64, bytes: 100 },
  { worker: 'plain', workers: 1, inFlight: 8, bytes: 65_536, atLeast: 3 },
  { worker: 'plain', workers: 4, inFlight: 64, bytes: 65_536 },
  { worker: 'plain', workers: 1, inFlight: 1, bytes: 1_048_576 },
  { worker: 'plain', workers: 4, inFlight: 8, bytes: 1_048_576 },
];

function createBus(name: string, shapes: readonly Shape[], isPeer: boolean): Scenario {
  return {
    name,
    isPeer,
    async run(setting): Promise<Measure[]> {
      const dir = await mkdtemp(join(tmpdir(), 'synod-bench-bus-'));
      const measures: Measure[] = [];
      try {
        for (const shape of shapes) measures.push(...(await measure(shape, setting, dir, isPeer)));
      } finally {
        await rm(dir, { recursive: true, force: true });
      }
      return measures;
    },
  };
}

export const bus: Scenario = createBus('bus', SHAPES, false);
/** Over stdio alone, with what its process costs. */
export const busPeer: Scenario = createBus(
  'bus-peer',
  SHAPES.filter(({ atLeast }) => atLeast !== undefined),
  true,
);

async function measure(
  shape: Shape,
  setting: Setting,
  dir: string,
  isPeer: boolean,
): Promise<Measure[]> {
  const config = join(dir, `${shape.worker}-${shape.workers}.json`);
  await writeFile(config, JSON.stringify(configOf(shape)));
  const worker: BusEnd = { command: process.execPath, args: WORKERS[shape.worker] };
  const job = {
    kind: 'bus',
    inFlight: shape.inFlight,
    bytes: shape.bytes,
    warmMs: setting.isQuick ? 300 : 1_500,
    measureMs: setting.isQuick ? 300 : setting.measureMs,
  } as const;
  const take = (ends: readonly BusEnd[]) => async () => ({ ...(await runLoad({ ...job, ends })) });
  const stdio = (program: readonly string[]): BusEnd => ({
    command: program[0] as string,
    args: [...program.slice(1), '--config', config, '--stdio'],
  });
  const sides: Sides = { 'bare pipe': take(Array.from({ length: shape.workers }, () => worker)) };
  if (PEER_BUS) sides.original = take([stdio([PEER_BUS])]);
  const closers: { close(): Promise<void> }[] = [];
  try {
    if (setting.hasHub) {
      sides.hub = take([stdio([process.execPath, SYNOD, 'bus'])]);
    }
    if (setting.hasHub && !isPeer) {
      const path = join(
        dir,
        `${shape.worker}-${shape.workers}-${shape.inFlight}-${shape.bytes}.sock`,
      );
      closers.push(await openBus(['--config', config, '--unix', path], () => connect(path)));
      sides['over unix'] = take([{ path }]);
      const port = 20_000 + Math.floor(Math.random() * 20_000);
      const open = () => connect(port, '127.0.0.1');
      // Given, and not the one that a bus makes for itself, which older ones do not.
      const token = randomBytes(16).toString('hex');
      const tcp = ['--config', config, '--tcp', `127.0.0.1:${port}`];
      closers.push(await openBus(tcp, open, { SYNOD_BUS_TOKEN: token }));
      sides['over tcp'] = take([{ port, token }]);
    }
    const figures = await takeTurns(setting.rounds, sides);
    const what = `${shape.inFlight} in flight, ${shape.workers} ${shape.worker} worker(s), ${sizeOf(shape.bytes)}`;
    if (isPeer) return peerRows(what, shape, figures);
    return [
      {
        what: `bus round trips over stdio, ${what}`,
        unit: '/s',
        sides: figures('tripsPerSecond'),
        ...(shape.inFlight === 64 && { goal: { against: 'bare pipe', atLeast: WITHIN } }),
      },
      { what: `bus round trip p50, ${what}`, unit: 'ms', sides: figures('p50') },
      { what: `bus round trip p99, ${what}`, unit: 'ms', sides: figures('p99') },
    ];
  } finally {
    await Promise.all(closers.map((bus) => bus.close()));
  }
}

function peerRows(
  what: string,
  { atLeast, inFlight }: Shape,
  figures: (figure: string) => Record<string, number[]>,
): Measure[] {
  const only = (figure: string) => {
    const { 'bare pipe': _, ...sides } = figures(figure);
    return sides;
  };
  const rows: Measure[] = [
    {
      ...{ what: `bus, ${what}`, unit: '/s', sides: figures('tripsPerSecond') },
      goal: { against: 'original', atLeast: atLeast ?? 1 },
    },
    { what: `bus, ${what}: processor time of one`, unit: 'µs', sides: only('busyUs') },
    { what: `bus, ${what}: lost`, unit: '', sides: figures('lost'), goal: { atMost: 0 } },
    {
      ...{ what: `bus, ${what}: resident`, unit: 'MB', sides: only('residentMb') },
      goal: { atMost: 60 },
    },
  ];
  if (inFlight > 1) return rows;
  const first = { what: 'bus, start to first answer', unit: 'ms', sides: figures('firstMs') };
  return [...rows, { ...first, goal: { atMost: 120 } }];
}

const sizeOf = (bytes: number): string =>
  bytes < 1_024
    ? `${bytes} B`
    : bytes < 1_048_576
      ? `${bytes / 1_024} KB`
      : `${bytes / 1_048_576} MB`;

function configOf({ worker, workers }: Shape): object {
  const args = WORKERS[worker];
  return { pools: [{ id: worker, command: process.execPath, args, instances: workers }] };
}

/** A bus that listens, until closed; it is there when it takes a connection. */
export async function openBus(
  args: readonly string[],
  open: () => ReturnType<typeof connect>,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly pid: number; close(): Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, [SYNOD, 'bus', ...args], {
    env: { ...process.env, ...environment },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  const until = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = open();
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) break;
    if (performance.now() > until || child.exitCode !== null) {
      throw new Error(`the bus did not start: ${args.join(' ')}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    pid: child.pid as number,
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
