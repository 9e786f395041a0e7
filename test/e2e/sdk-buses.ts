/** The same bus behind every backend: how the tests of the SDK open one, and see it gone afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type BusConfigOptions, StdioBus, type StdioBusOptions } from '../../src/bus/sdk/index.ts';
import { BIN } from '../program.ts';

export const SYNOD: string = BIN;
const WORKER = fileURLToPath(new URL('sdk-worker.ts', import.meta.url));
const READY_MS = 60_000;

export interface Pools {
  readonly [id: string]: number;
}

/** Pools of the test worker, by id and number of instances. */
export function configOf(pools: Pools, more: BusConfigOptions = {}): BusConfigOptions {
  const list = Object.entries(pools).map(([id, instances]) => ({
    ...{ id, instances, command: process.execPath, args: [WORKER] },
  }));
  return { pools: list, ...more };
}

export interface BusProcess {
  readonly path: string;
  readonly child: ChildProcess;
  /** kill -9 */
  kill(): Promise<void>;
  stop(): Promise<number | null>;
}

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

export function scratch(): { dir: string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'synod-sdk-test-'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** `synod bus --unix` as a user starts it. */
export async function startBusProcess(dir: string, config: object): Promise<BusProcess> {
  const file = join(dir, 'bus.json');
  const path = join(dir, 'bus.sock');
  writeFileSync(file, JSON.stringify(config));
  const args = [SYNOD, 'bus', '--config', file, '--unix', path];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  children.add(child);
  child.once('exit', () => children.delete(child));
  const said: string[] = [];
  const ready = Promise.withResolvers<void>();
  createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
    said.push(line);
    if (line.includes('ready on')) ready.resolve();
  });
  child.once('exit', () => ready.reject(new Error(`the bus ended: ${said.join('\n')}`)));
  const timer = setTimeout(() => ready.reject(new Error(said.join('\n'))), READY_MS);
  await ready.promise.finally(() => clearTimeout(timer));
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    child.kill(signal);
    await once(child, 'exit');
    return child.exitCode;
  };
  return {
    ...{ path, child },
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}

/** An engine that runs what it is told to run in a container as a process of this machine. */
export function fakeEngine(dir: string): string {
  const path = join(dir, 'engine');
  const script = `#!${process.execPath}
const { spawn } = require('node:child_process');
const args = process.argv.slice(2);
if (args[0] !== 'run') process.exit(0);
const value = (name) => args[args.indexOf(name) + 1];
const [, source] = /source=([^,]+),target=\\/app\\/config.json,readonly$/.exec(value('--mount'));
const [host, port] = value('--publish').split(':');
require('node:fs').writeFileSync(${JSON.stringify(join(dir, 'engine-args.json'))}, JSON.stringify(args));
const child = spawn(process.execPath,
  [${JSON.stringify(SYNOD)}, 'bus', '--config', source, '--tcp', host + ':' + port],
  { stdio: ['ignore', 'inherit', 'inherit'] });
for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => child.kill(name));
child.on('exit', (code) => process.exit(code ?? 1));
`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return path;
}

export interface OpenedBus {
  readonly bus: StdioBus;
  close(): Promise<void>;
}

export type OpenBus = (pools: Pools, more?: StdioBusOptions) => Promise<OpenedBus>;

/** Every backend, each with a bus of its own; they must all behave the same. */
export const BACKENDS: Readonly<Record<string, OpenBus>> = {
  embedded: (pools, more) => open({ config: configOf(pools), backend: 'embedded', ...more }),
  subprocess: (pools, more) =>
    open({
      ...{ config: configOf(pools), backend: 'subprocess' },
      subprocess: { startTimeoutSec: READY_MS / 1_000 },
      ...more,
    }),
  async socket(pools, more) {
    const { dir, remove } = scratch();
    const { path, stop } = await startBusProcess(dir, configOf(pools));
    const opened = await open({ socket: { unixPath: path }, ...more });
    return {
      bus: opened.bus,
      async close() {
        await opened.close();
        await stop();
        remove();
      },
    };
  },
  async docker(pools, more) {
    const { dir, remove } = scratch();
    const docker = { enginePath: fakeEngine(dir), image: 'synod', startupTimeoutSec: 20 };
    const opened = await open({ config: configOf(pools), backend: 'docker', docker, ...more });
    return {
      bus: opened.bus,
      async close() {
        await opened.close();
        remove();
      },
    };
  },
};

async function open(options: StdioBusOptions): Promise<OpenedBus> {
  const bus = new StdioBus({ onLog() {}, ...options });
  await bus.start();
  return { bus, close: () => bus.stop(5) };
}

/** The next notification of this method. */
export function nextNotification(bus: StdioBus, method: string): Promise<Record<string, unknown>> {
  return new Promise((resolve) => {
    const off = bus.onNotification((one) => {
      if (one.method !== method) return;
      off();
      resolve(one as Record<string, unknown>);
    });
  });
}
