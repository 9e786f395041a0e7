/**
 * Goal: whatever ends, nothing of a worker stays: not after its own exit, not after a stop, not
 * after kill -9 of the process that ran it; and nothing else is killed by mistake.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, onTestFailed, test } from 'vitest';
import { lineOf } from '../../../src/bus/process/byte-line.ts';
import { bornAt, isGroupGone, signalGroup } from '../../../src/bus/process/process-groups.ts';
import { REAPER_SCRIPT } from '../../../src/bus/process/reaper-script.ts';
import { within } from '../../e2e/deadline.ts';
import { firstDown, isRunning, lookUntil, startReady } from './recorder.ts';
import { specOf } from './spec-of.ts';

const PARENT = fileURLToPath(new URL('parent.ts', import.meta.url));
const ours = new Set<ChildProcess>();
afterEach(() => {
  for (const child of ours) child.kill('SIGKILL');
  ours.clear();
});

/** Runs the parent until its workers have told their pids. */
async function runParent(ending: string, workers = 1) {
  const child = spawn(process.execPath, [PARENT, ending, String(workers)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ours.add(child);
  const exited = once(child, 'exit');
  const pids: number[] = [];
  const lines = createInterface({ input: child.stdout });
  const told = new Promise<void>((resolve) => {
    let count = 0;
    lines.on('line', (line) => {
      pids.push(...JSON.parse(line).pids);
      count += 1;
      if (count === workers) resolve();
    });
  });
  await within('the workers told their pids', told);
  expect(pids).toHaveLength(3 * workers);
  return { child, exited, pids };
}

/** The mark a process carries, read while it lives. */
function markOf(pid: number): string {
  const [, mark] = /SYNOD_WORKER_OF=([0-9a-f]{32})/.exec(readProc(pid, 'environ')) ?? [];
  if (mark === undefined) throw new Error(`process ${pid} carries no mark`);
  return mark;
}

function reapersOf(mark: string): number[] {
  return processes().filter((pid) => readProc(pid, 'cmdline').includes(`synod-reaper\0${mark}`));
}

function carriers(variable: string): number[] {
  return processes().filter((pid) => readProc(pid, 'environ').includes(variable));
}

function processes(): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter(isRunning);
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

async function noneIsLeft(pids: readonly number[]): Promise<void> {
  await lookUntil(`none of ${pids} is left`, () => !pids.some(isRunning));
}

test('[WO7] a worker that ignores all but SIGKILL is stopped after the grace, with its children', async () => {
  const recorder = await startReady(specOf('stubborn.mjs', { env: { ESCAPEE: 'no' } }));
  const line = await recorder.when('it told its pids', () => recorder.lines[0]);
  const { pids } = JSON.parse(line);
  const began = performance.now();
  await within('it is stopped', recorder.worker.stop(300));
  expect(performance.now() - began).toBeGreaterThanOrEqual(295);
  expect(pids.filter(isRunning)).toEqual([]);
  expect(recorder.downs[0]).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
  expect(recorder.downs[0]?.reason).toBe('was stopped; it did not end by itself and was killed');
});

test('[WO7] a second stop can shorten the grace of the first', async () => {
  const recorder = await startReady(specOf('stubborn.mjs'));
  await recorder.when('it told its pids', () => recorder.lines[0]);
  // More than a timer can hold, which must not make it go off at once.
  const first = recorder.worker.stop(Number.MAX_SAFE_INTEGER);
  await once(spawn('true'), 'exit');
  expect(recorder.worker).toMatchObject({ state: 'stopping', pid: expect.any(Number) });
  await within('both stops end', Promise.all([first, recorder.worker.stop(10)]));
});

test('[WO7] on the way down the children have the same grace as the leader', async () => {
  // The leader obeys at once; its child takes its time to say goodbye.
  const child = `trap 'sleep 0.2; echo "{\\"bye\\":true}"; exit 0' TERM; echo '{"up":true}'; while :; do sleep 0.05; done`;
  const args = ['-c', `sh -c '${child.replaceAll("'", `'\\''`)}' & trap 'exit 0' TERM; wait`];
  const recorder = await startReady(specOf('echo.mjs', { command: '/bin/sh', args }));
  await recorder.when('the child is up', () => recorder.lines[0]);
  await within('it is stopped', recorder.worker.stop(8_000));
  expect(recorder.lines).toEqual(['{"up":true}', '{"bye":true}']);
  expect(recorder.downs[0]).toMatchObject({ reason: 'was stopped', exitCode: 0 });
});

test('[WO7] a child that stays when the worker exits is killed before the worker is down', async () => {
  const recorder = await startReady(specOf('leaves-grandchild.sh'));
  const { left } = JSON.parse(await recorder.when('the child', () => recorder.lines[0]));
  expect(isRunning(left)).toBe(true);
  recorder.worker.send(lineOf('{}'));
  expect(await firstDown(recorder)).toMatchObject({ reason: 'exited with code 0', exitCode: 0 });
  expect(isRunning(left)).toBe(false);
});

test('[WO15] one that left the group and holds the pipe delays the end, but not for ever', async () => {
  const recorder = await startReady(specOf('leaves-grandchild.sh', { env: { SETSID: 'yes' } }));
  const { left } = JSON.parse(await recorder.when('the child', () => recorder.lines[0]));
  recorder.worker.send(lineOf('{}'));
  expect(await firstDown(recorder)).toMatchObject({ exitCode: 0 });
  expect(isRunning(left)).toBe(true);
  process.kill(left, 'SIGKILL');
});

test('[WO8] after kill -9 of the bus nothing is left: worker, child, escaped child, reaper', async () => {
  const { child, exited, pids } = await runParent('stay', 2);
  const mark = markOf(pids[0] ?? 0);
  expect(pids.every(isRunning)).toBe(true);
  expect(reapersOf(mark)).toHaveLength(1);
  child.kill('SIGKILL');
  await exited;
  await noneIsLeft(pids);
  await lookUntil('the reaper is gone', () => reapersOf(mark).length === 0);
});

test('[WO8] a bus killed while it starts and stops workers leaves none of them', async () => {
  for (const delayMs of [0, 5, 15, 40]) {
    const tag = randomUUID();
    const child = spawn(process.execPath, [PARENT, 'storm', '3', tag], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    ours.add(child);
    await within('the storm begins', once(child.stdout, 'data'));
    // Nothing is waited for: it is killed at moments that nobody chose.
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    child.kill('SIGKILL');
    await once(child, 'exit');
    await lookUntil('nobody carries the tag', () => carriers(`TAG=${tag}`).length === 0);
  }
});

test('[WO8] the reaper ignores what would end a terminal, and is replaced when it is killed', async () => {
  const { child, exited, pids } = await runParent('stay');
  const mark = markOf(pids[0] ?? 0);
  const [first = 0] = reapersOf(mark);
  // SIGHUP, SIGINT and SIGTERM, as bits of the signals it ignores.
  const ignored = (): number =>
    Number.parseInt(/SigIgn:\t\w*(\w{8})/.exec(readProc(first, 'status'))?.[1] ?? '0', 16);
  await lookUntil('it ignores signals', () => (ignored() & 0x4003) === 0x4003);
  process.kill(first, 'SIGKILL');
  await lookUntil('another has come', () => {
    const [now] = reapersOf(mark);
    return now !== undefined && now !== first;
  });
  child.kill('SIGKILL');
  await exited;
  await noneIsLeft(pids);
});

test('[WO10] a process that exits without stopping its workers takes them with it', async () => {
  const { child, exited, pids } = await runParent('exit');
  const [reaper = 0] = reapersOf(markOf(pids[0] ?? 0));
  // Without the reaper the group dies by our own hand; only who left it has to wait.
  process.kill(reaper, 'SIGSTOP');
  onTestFailed(() => void process.kill(reaper, 'SIGCONT'));
  child.kill('SIGUSR2');
  expect(await within('the parent ends', exited)).toEqual([0, null]);
  await noneIsLeft(pids.slice(0, 2));
  expect(isRunning(pids[2] ?? 0)).toBe(true);
  process.kill(reaper, 'SIGCONT');
  await noneIsLeft([...pids, reaper]);
});

test('[WO10] the reaper neither keeps its process alive nor outlives it', async () => {
  const { exited, pids } = await runParent('stop');
  const mark = markOf(pids[2] ?? 0);
  expect(await within('the parent ends by itself', exited)).toEqual([0, null]);
  await lookUntil('the reaper is gone', () => reapersOf(mark).length === 0);
  await noneIsLeft(pids);
});

/** Feeds a reaper by hand; resolves when it has done its work. */
async function reap(lines: string, proc: string, mark: string = randomUUID()): Promise<void> {
  const child = spawn('/bin/sh', ['-c', REAPER_SCRIPT, 'synod-reaper', mark, proc], {
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  ours.add(child);
  const exited = once(child, 'exit');
  child.stdin?.end(lines);
  await within('the reaper ends', exited);
}

interface Bystander {
  readonly pid: number;
  /** Whether it lives. One that was sent SIGKILL may look alive for a moment, but answers nothing. */
  isAnswering(): Promise<boolean>;
}

function bystander(env: Record<string, string> = {}): Bystander {
  const child = spawn('/bin/cat', { detached: true, env, stdio: ['pipe', 'pipe', 'ignore'] });
  ours.add(child);
  child.stdin.on('error', () => {});
  const gone = once(child, 'exit').then(() => false);
  return {
    pid: child.pid ?? 0,
    isAnswering() {
      const answered = new Promise<boolean>((resolve) => {
        child.stdout.once('data', () => resolve(true));
      });
      child.stdin.write('?');
      return within('it answers or is gone', Promise.race([answered, gone]));
    },
  };
}

test('[WO9] once its leader was reaped, a group whose number is taken again is not ours', async () => {
  const owner = bystander();
  expect(signalGroup(owner.pid, 'SIGKILL', true)).toBe(false);
  expect(isGroupGone(owner.pid)).toBe(true);
  expect(await owner.isAnswering()).toBe(true);
  expect(signalGroup(owner.pid, 'SIGKILL', false)).toBe(true);
  expect(await owner.isAnswering()).toBe(false);
});

test('[WO9] a number that has a new owner is not killed: it began at another time', async () => {
  const [owner, mine] = [bystander(), bystander()];
  await reap(`+ ${owner.pid} 1\n+ ${mine.pid} ${bornAt(mine.pid)}\n`, '/proc');
  expect(await mine.isAnswering()).toBe(false);
  expect(await owner.isAnswering()).toBe(true);
});

test('[WO9] without a process table the reaper looks up itself when a process began', async () => {
  const [owner, mine] = [bystander(), bystander()];
  const longAgo = 'ps_Thu_Jan_1_00:00:00_1970_';
  await reap(`+ ${owner.pid} ${longAgo}\n+ ${mine.pid} -\n`, '/nowhere');
  expect(await mine.isAnswering()).toBe(false);
  expect(await owner.isAnswering()).toBe(true);
});

test('[WO9] who was struck off is not killed, and a similar number strikes off nobody', async () => {
  const [struck, mine] = [bystander(), bystander()];
  const told = [struck, mine].map(({ pid }) => `+ ${pid} ${bornAt(pid)}\n`).join('');
  const similar = String(mine.pid).slice(0, -1);
  await reap(`${told}- ${similar}\n- ${struck.pid}\n`, '/proc');
  expect(await mine.isAnswering()).toBe(false);
  expect(await struck.isAnswering()).toBe(true);
});

test('[WO9] only who carries the whole mark of this bus is killed for it', async () => {
  const [mark, other] = [randomUUID(), randomUUID()];
  const marked = bystander({ SYNOD_WORKER_OF: mark });
  const stranger = bystander({ SYNOD_WORKER_OF: other });
  await lookUntil('both carry theirs', () =>
    [mark, other].every((one) => carriers(`SYNOD_WORKER_OF=${one}`).length === 1),
  );
  await reap('', '/proc', mark);
  expect(await marked.isAnswering()).toBe(false);
  expect(await stranger.isAnswering()).toBe(true);
});
