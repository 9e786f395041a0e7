/**
 * Goal: a worker's life as the port promises it, with real processes: how it begins, what is told
 * when it ends, and that it ends exactly once.
 */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { messageOf } from '../../../src/bus/process/byte-line.ts';
import { within } from '../../e2e/deadline.ts';
import { firstDown, lookUntil, record, startReady } from './recorder.ts';
import { fixture, specOf } from './spec-of.ts';

const restart = (changes: object) => ({ ...specOf('echo.mjs').restart, ...changes });

test('[WO3] a start ends in one ready, and a stop in one down', async () => {
  const recorder = record(specOf('echo.mjs'));
  expect(recorder.worker).toMatchObject({ name: 'p/0', pool: 'p', state: 'idle', pid: null });
  recorder.worker.start();
  recorder.worker.start();
  expect(recorder.worker.state).toBe('starting');
  await recorder.when('ready', () => recorder.worker.state === 'ready');
  expect(recorder.worker.starts).toBe(1);
  expect(recorder.worker.pid).toBeGreaterThan(0);
  const stops = [recorder.worker.stop(5_000), recorder.worker.stop(5_000)];
  expect(recorder.worker.state).toBe('stopping');
  await within('both stops end', Promise.all(stops));
  expect(recorder.worker).toMatchObject({ state: 'stopped', pid: null, queuedBytes: 0 });
  expect(recorder.outcomes).toEqual(['ready', 'down']);
  expect(recorder.downs[0]).toMatchObject({ reason: 'was stopped', restartInMs: null });
});

test('[WO3] a worker stopped in the tick of its start is never ready, and down once', async () => {
  const recorder = record(specOf('echo.mjs'));
  recorder.worker.start();
  await within('it is stopped', recorder.worker.stop(5_000));
  expect(recorder.outcomes).toEqual(['down']);
  expect(recorder.worker.state).toBe('stopped');
});

test('[WO3] a stopped worker can be started again, and one that waits can be stopped', async () => {
  const spec = specOf('dies-at-once.sh', {
    restart: restart({ policy: 'always', waitMsMin: 60_000, waitMsMax: 60_000 }),
  });
  const recorder = record(spec);
  recorder.worker.start();
  await firstDown(recorder);
  expect(recorder.worker.state).toBe('waiting');
  await recorder.worker.stop(0);
  expect(recorder.worker.state).toBe('stopped');
  recorder.worker.start();
  await recorder.when('down again', () => recorder.downs[1]);
  expect(recorder.worker.starts).toBe(2);
  expect(recorder.outcomes).toEqual(['ready', 'down', 'ready', 'down']);
});

test('[WO3] the listener may stop the worker while it is told that it is down', async () => {
  const spec = specOf('dies-at-once.sh', { restart: restart({ policy: 'always' }) });
  const recorder = record(spec);
  const stopped = recorder.when('down', () => recorder.downs[0] && recorder.worker.stop(0));
  recorder.worker.start();
  const down = await within(
    'it is stopped',
    stopped.then(() => firstDown(recorder)),
  );
  // It was told a time for the next start; that passes, and nothing comes.
  const over = performance.now() + (down.restartInMs ?? 0) + 100;
  await lookUntil('the time has passed', () => performance.now() > over);
  expect(recorder.worker).toMatchObject({ state: 'stopped', starts: 1 });
});

test('[WO6] what cannot be started is told with its command, its directory and a remedy', async () => {
  const cases = [
    [{ command: 'no-such-program-of-ours' }, /"no-such-program-of-ours" in ".*PATH.*ENOENT/],
    [{ command: './nothing-here' }, /no such file; correct "command".*ENOENT/],
    [{ command: fixture('echo.mjs') }, /echo\.mjs" in ".*may not be executed.*EACCES/],
    [{ cwd: '/no/such/place' }, /in "\/no\/such\/place": there is no such directory.*"cwd"/],
    [{ cwd: fixture('echo.mjs') }, /there is no such directory/],
    [{ args: ['hunter2\0'] }, /check "command", "args"/],
  ] as const;
  for (const [changes, reason] of cases) {
    const recorder = record(
      specOf('echo.mjs', { ...changes, restart: restart({ policy: 'always' }) }),
    );
    recorder.worker.start();
    const down = await firstDown(recorder);
    expect(down.reason).toMatch(reason);
    expect(down.reason).not.toContain('hunter2');
    expect(down).toMatchObject({ exitCode: null, signal: null, handedOver: 0, restartInMs: null });
    expect(recorder.outcomes).toEqual(['down']);
    expect(recorder.worker).toMatchObject({ state: 'failed', starts: 0, pid: null });
  }
});

test('[RS5] a program that ran before is tried again when it cannot be started', async () => {
  // The program goes away after the first start, as when its package is being replaced.
  const spec = specOf('echo.mjs', {
    command: '/bin/sh',
    args: ['-c', 'exit 1'],
    restart: restart({ policy: 'always', restartsMax: 2 }),
  });
  const changing = { ...spec };
  const recorder = record(changing);
  recorder.worker.start();
  await firstDown(recorder);
  Object.assign(changing, { command: '/no/such/shell' });
  await recorder.when('it is given up', () => recorder.worker.state === 'failed');
  expect(recorder.downs.map((down) => down.restartInMs === null)).toEqual([false, false, true]);
  expect(recorder.downs[1]?.reason).toContain('could not be started');
});

test('[WO3] exit code, signal and stderr are told', async () => {
  const died = record(specOf('dies-at-once.sh'));
  died.worker.start();
  expect(await firstDown(died)).toMatchObject({
    reason: 'exited with code 3',
    exitCode: 3,
    signal: null,
    restartInMs: null,
    stderrTail: ['cannot find my model'],
  });
  const killed = await startReady(specOf('echo.mjs'));
  process.kill(killed.worker.pid ?? 0, 'SIGSEGV');
  expect(await firstDown(killed)).toMatchObject({
    reason: 'was killed by SIGSEGV',
    exitCode: null,
    signal: 'SIGSEGV',
  });
});

test('[WO16] a worker is run without a shell, where it is told, with its own environment only', async () => {
  const recorder = record(
    specOf('echo.mjs', {
      command: '/usr/bin/env',
      args: [],
      env: { ODD: '$HOME; `id` "x"\n2' },
      cwd: fixture(''),
    }),
  );
  recorder.worker.start();
  await firstDown(recorder);
  const said = recorder.lines
    .join('\n')
    .split('\n')
    .filter((line) => !line.startsWith('PATH='));
  const marked = said.filter((line) => /^SYNOD_WORKER_OF=[0-9a-f]{32}$/.test(line));
  expect(marked).toHaveLength(1);
  expect(said.filter((line) => !marked.includes(line))).toEqual(['ODD=$HOME; `id` "x"', '2']);
  const where = record(specOf('echo.mjs', { command: '/bin/pwd', args: [], cwd: fixture('') }));
  where.worker.start();
  await firstDown(where);
  expect(existsSync(`${where.lines[0]}/echo.mjs`)).toBe(true);
});

test('[WO1] a message is taken only while the worker is ready', async () => {
  const recorder = record(specOf('echo.mjs'));
  expect(() => recorder.worker.send(messageOf({}))).toThrow('p/0 is idle');
  recorder.worker.start();
  expect(() => recorder.worker.send(messageOf({}))).toThrow('p/0 is starting');
  await recorder.when('ready', () => recorder.worker.state === 'ready');
  const stopped = recorder.worker.stop(1_000);
  expect(() => recorder.worker.send(messageOf({}))).toThrow('p/0 is stopping');
  expect(() => recorder.worker.start()).toThrow('is being stopped');
  await stopped;
});

test('[RS1] [RS2] a worker that dies again and again is given up, and says why', async () => {
  const spec = specOf('dies-at-once.sh', {
    restart: restart({ policy: 'always', restartsMax: 2 }),
  });
  const recorder = record(spec);
  recorder.worker.start();
  await recorder.when('it is given up', () => recorder.worker.state === 'failed');
  expect(recorder.downs.map((down) => down.restartInMs === null)).toEqual([false, false, true]);
  expect(recorder.worker.starts).toBe(3);
  expect(recorder.outcomes).toEqual(['ready', 'down', 'ready', 'down', 'ready', 'down']);
  expect(recorder.notes.at(-1)).toMatchObject({ what: 'failed', level: 'error' });
  expect(recorder.notes.at(-1)?.text).toContain('restarted 2 times within 60 s');
});

test('[RS1] a clean exit is restarted by always, and not by on-failure', async () => {
  const spec = specOf('echo.mjs', { command: '/bin/true', args: [] });
  const onFailure = record({ ...spec, restart: restart({ policy: 'on-failure' }) });
  onFailure.worker.start();
  expect(await firstDown(onFailure)).toMatchObject({ exitCode: 0, restartInMs: null });
  const always = record({ ...spec, restart: restart({ policy: 'always' }) });
  always.worker.start();
  await always.when('it was started again', () => always.worker.starts >= 2);
});
