/**
 * Goal: a supervised program stays within its limits, is given nothing that is not its own, and does not
 * outlive its host. Method: real programs that eat memory, time and files, fork, flood, and a killed host.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Supervisor } from '../../src/flow/process/supervisor.ts';
import { until, within } from './deadline.ts';
import {
  comesTo,
  gone,
  isAlive,
  openSupervisedScene,
  SLEEPS,
  type SupervisedScene,
} from './supervised-scene.ts';

const HOST = fileURLToPath(new URL('./supervised-host.ts', import.meta.url));

let scene: SupervisedScene;
beforeAll(async () => {
  scene = await openSupervisedScene();
});
afterEach(() => scene.settle());
afterAll(() => scene.close());

test('[SU6] the limits are on the program and its children before it begins', async () => {
  const limits = { files: 77, cpu: 1000, memory_mb: 256, wall: 5000 };
  const script = `(ulimit -n; ulimit -t; ulimit -d; ulimit -c) | tr '\\n' ' '; echo; ${SLEEPS}`;
  const lines: string[] = [];
  const { supervisor } = await scene.supervise(
    script,
    { ready: /ready/, onLine: (line) => void lines.push(line) },
    { limits },
  );
  await supervisor.start();
  expect(lines[0]?.trim()).toBe(`77 1000 ${(256 * 2 + 512) * 1024} 0`);
});

test('[SU6] what all its processes hold is measured, reported, and ended beyond the limit', async () => {
  const hungry = `const keep = []; setInterval(() => keep.push(Buffer.alloc(8e6, 1)), 20)`;
  const script = `echo ready; "${process.execPath}" -e '${hungry}' & wait`;
  const { supervisor, agent, seen } = await scene.supervise(
    script,
    { ready: /ready/, backoff: { minMs: 60_000, maxMs: 60_000 }, leaseMs: 3_000 },
    { limits: { memory_mb: 160 } },
  );
  const { pid } = await supervisor.start();
  await comesTo(supervisor, 'failed');
  expect(supervisor.status().reason).toMatch(/^it used [\d.]+ MB, and its limit memory_mb is 160/);
  expect(isAlive(pid)).toBe(false);
  expect(seen.at(-1)).toMatchObject({ state: 'failed' });
  const [told] = await until(
    'the hub knows',
    () => scene.instancesOf(agent),
    ([one]) => one?.state === 'failed',
  );
  expect(told).toMatchObject({ reason: expect.stringContaining('memory_mb is 160') });
  expect(told.usage?.memory_mb ?? 160).toBeGreaterThan(0);
});

test('[SU6] processor time beyond its limit ends it, whether in one process or in many', async () => {
  for (const script of [
    'echo ready; while :; do :; done',
    'echo ready; (while :; do :; done) & (while :; do :; done) & wait',
  ]) {
    const { supervisor } = await scene.supervise(
      script,
      { ready: /ready/, backoff: { minMs: 60_000, maxMs: 60_000 } },
      { limits: { cpu: 1 } },
    );
    await supervisor.start();
    await comesTo(supervisor, 'failed');
    expect(supervisor.status().reason).toMatch(
      /processor time, (and its limit cpu is 1|which is its limit cpu)/,
    );
  }
});

test('[SU6] so long and no longer: wall, and too many files are refused to it', async () => {
  const { supervisor } = await scene.supervise(
    SLEEPS,
    { ready: /ready/, backoff: { minMs: 60_000, maxMs: 60_000 } },
    { limits: { wall: 1 } },
  );
  await supervisor.start();
  await comesTo(supervisor, 'failed');
  expect(supervisor.status().reason).toMatch(/^it ran for 1 s, which is its limit wall/);
  const opens = `const fs = require('fs'); try { for (let n = 0; ; n++) fs.openSync('/dev/null'); } catch (error) { console.log(error.code); }`;
  const lines: string[] = [];
  const many = await scene.supervise(
    '',
    { command: [process.execPath, '-e', opens], onLine: (line) => void lines.push(line) },
    { limits: { files: 64 } },
  );
  await many.supervisor.start();
  await comesTo(many.supervisor, 'stopped');
  expect(lines).toContain('EMFILE');
});

test('[SU6] usage is told to the hub with each renewal', async () => {
  const script = `echo ready; exec "${process.execPath}" -e 'setInterval(() => {}, 1000)'`;
  const { supervisor, agent } = await scene.supervise(script, { ready: /ready/, leaseMs: 3_000 });
  await supervisor.start();
  const [told] = await until(
    'usage is told',
    () => scene.instancesOf(agent),
    ([one]) => (one?.usage?.memory_mb ?? 0) > 20,
  );
  expect(told.usage.files).toBeGreaterThan(3);
  expect(supervisor.status().usage?.memoryMb).toBeGreaterThan(20);
});

test('[SU7] a killed host leaves nothing behind, and the next one takes its place', async () => {
  const { agent, token, own } = await scene.defined();
  const script = 'setsid sleep 1000 & echo "pids $$ $!"; echo ready; while :; do sleep 1; done';
  const host: ChildProcess = spawn(
    process.execPath,
    [HOST, scene.hub.url, token, agent, '/bin/sh', '-c', script],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const lines = createInterface({ input: host.stdout as NonNullable<typeof host.stdout> });
  const pids = await within(
    'its program is ready',
    new Promise<number[]>((resolve) => {
      let found: number[] = [];
      lines.on('line', (line) => {
        if (line.startsWith('pids')) found = line.split(' ').slice(1).map(Number);
        if (line === 'ready') resolve(found);
      });
    }),
  );
  expect(pids.map(isAlive)).toEqual([true, true]);
  await until(
    'the hub knows',
    () => scene.instancesOf(agent),
    ([one]) => one?.state === 'running',
  );
  host.kill('SIGKILL');
  for (const pid of pids) await gone(pid);
  await until(
    'its lease lapsed',
    () => scene.instancesOf(agent),
    ([one]) => one?.state === 'failed',
  );
  const next = new Supervisor({
    hub: own,
    agent,
    command: ['/bin/sh', '-c', SLEEPS],
    ready: /ready/,
  });
  scene.open.push(next);
  await next.start();
  expect(next.status()).toMatchObject({ state: 'running', epoch: 2 });
});

test('[SU8] it is given what a program needs and what it was told, and no key of its host', async () => {
  process.env.SYNOD_TOKEN = 'secret-of-the-host';
  process.env.OPENAI_API_KEY = 'key-of-the-host';
  process.env.PLAIN_WORD = 'word';
  const lines: string[] = [];
  const { supervisor } = await scene.supervise('env; echo ready; exec sleep 1000', {
    ...{ ready: /^ready/, env: { OWN: 'set' }, inheritEnv: ['PLAIN_*'] },
    onLine: (line) => void lines.push(line),
  });
  await supervisor.start();
  delete process.env.SYNOD_TOKEN;
  delete process.env.OPENAI_API_KEY;
  const text = lines.join('\n');
  expect(text).toContain('OWN=set');
  expect(text).toContain('PLAIN_WORD=word');
  expect(text).not.toMatch(/of-the-host/);
});

test('[SU8] a flood keeps ten lines, and listeners that throw change nothing', async () => {
  const { agent, own } = await scene.defined();
  const supervisor = new Supervisor({
    ...{ hub: own, agent, restart: 'never', ready: /never/ },
    command: [
      '/bin/sh',
      '-c',
      `i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "line $i \\033[31m"; done; exit 2`,
    ],
    onLine() {
      throw new Error('mine');
    },
    onChange() {
      throw new Error('mine too');
    },
  });
  scene.open.push(supervisor);
  await expect(supervisor.start()).rejects.toMatchObject({ code: 'supervisor.given-up' });
  expect(supervisor.status().lines).toHaveLength(10);
  expect(supervisor.status().lines.at(-1)).toMatch(/^line 20000 /);
});
