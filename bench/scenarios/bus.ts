/**
 * The bus beside a bare pipe to the same worker: round trips with 1, 8 and 64 in flight, one worker
 * and four, small and large messages, over stdio, a Unix socket and TCP. With SYNOD_BENCH_BUS set to
 * the path of another bus that takes `--config FILE --stdio`, that one runs beside it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BusEnd } from '../load/bus.ts';
import { runLoad } from '../load.ts';
import { type Measure, type Scenario, type Setting, type Sides, takeTurns } from '../scenario.ts';
import { HUB_ROOT } from '../server.ts';

const SYNOD = join(HUB_ROOT, 'bin/synod.js');
const WORKERS = {
  /** The worker in the box. */
  echo: [SYNOD, 'worker', 'echo'],
  plain: [join(import.meta.dirname, '../baseline/plain-worker.ts')],
} as const;
const OTHER_BUS = process.env.SYNOD_BENCH_BUS;
const READY_TIMEOUT_MS = 20_000;
/** Within 1.3 times of a bare pipe. */
const WITHIN = 0.77;

interface Shape {
  readonly worker: keyof typeof WORKERS;
  readonly workers: number;
  readonly inFlight: number;
  readonly bytes: number;
}

const SHAPES: readonly Shape[] = [
  { worker: 'plain', workers: 1, inFlight: 1, bytes: 100 },
  { worker: 'plain', workers: 1, inFlight: 8, bytes: 100 },
  { worker: 'plain', workers: 1, inFlight: 64, bytes: 100 },
  { worker: 'plain', workers: 4, inFlight: 64, bytes: 100 },
  { worker: 'echo', workers: 1, inFlight: 64, bytes: 100 },
  { worker: 'plain', workers: 1, inFlight: 8, bytes: 65_536 },
  { worker: 'plain', workers: 4, inFlight: 64, bytes: 65_536 },
  { worker: 'plain', workers: 1, inFlight: 1, bytes: 1_048_576 },
  { worker: 'plain', workers: 4, inFlight: 8, bytes: 1_048_576 },
];

export const bus: Scenario = {
  name: 'bus',
  async run(setting): Promise<Measure[]> {
    const dir = await mkdtemp(join(tmpdir(), 'synod-bench-bus-'));
    const measures: Measure[] = [];
    try {
      for (const shape of SHAPES) measures.push(...(await measure(shape, setting, dir)));
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
    return measures;
  },
};

async function measure(shape: Shape, setting: Setting, dir: string): Promise<Measure[]> {
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
  if (OTHER_BUS) sides['other bus'] = take([stdio([OTHER_BUS])]);
  const closers: (() => Promise<void>)[] = [];
  try {
    if (setting.hasHub) {
      sides.hub = take([stdio([process.execPath, SYNOD, 'bus'])]);
      const path = join(
        dir,
        `${shape.worker}-${shape.workers}-${shape.inFlight}-${shape.bytes}.sock`,
      );
      closers.push(await openBus(['--config', config, '--unix', path], () => connect(path)));
      sides['over unix'] = take([{ path }]);
      const port = 20_000 + Math.floor(Math.random() * 20_000);
      const open = () => connect(port, '127.0.0.1');
      closers.push(await openBus(['--config', config, '--tcp', `127.0.0.1:${port}`], open));
      sides['over tcp'] = take([{ port }]);
    }
    const figures = await takeTurns(setting.rounds, sides);
    const what = `${shape.inFlight} in flight, ${shape.workers} ${shape.worker} worker(s), ${sizeOf(shape.bytes)}`;
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
    await Promise.all(closers.map((close) => close()));
  }
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
async function openBus(
  args: readonly string[],
  open: () => ReturnType<typeof connect>,
): Promise<() => Promise<void>> {
  const child: ChildProcess = spawn(process.execPath, [SYNOD, 'bus', ...args], { stdio: 'ignore' });
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
  return async () => {
    child.kill('SIGTERM');
    await ended;
  };
}
