/**
 * Goal: a supervised program is what the hub says it is, however it behaves, and nothing of it is ever left.
 * Method: a hub with its doors open, and real programs that crash, hang and ignore signals. Each defect that
 * was found in an earlier supervisor of this kind is looked for by name.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Client, connect } from '../../src/client/client.ts';
import { Supervisor } from '../../src/flow/process/supervisor.ts';
import { createGuard } from '../../src/guard/guard.ts';
import { until, within } from './deadline.ts';
import {
  comesTo,
  gone,
  isAlive,
  openSupervisedScene,
  SLEEPS,
  type SupervisedScene,
  tick,
} from './supervised-scene.ts';

let scene: SupervisedScene;
beforeAll(async () => {
  scene = await openSupervisedScene();
});
afterEach(() => scene.settle());
afterAll(() => scene.close());

test('[SU1] start resolves when the program runs and has said that it is ready', async () => {
  const gate = join(scene.folder, 'gate');
  const script = `while [ ! -e ${gate} ]; do sleep 0.01; done; ${SLEEPS}`;
  const { supervisor, agent, states } = await scene.supervise(script, { ready: /^ready$/ });
  const running = supervisor.start();
  expect(supervisor.start()).toBe(running);
  const found = () => scene.instancesOf(agent);
  await until(
    'it has a process',
    async () => tick(supervisor.pid),
    (pid) => pid !== null,
  );
  expect(supervisor.state).toBe('starting');
  expect(await found()).toMatchObject([{ state: 'starting', epoch: 1, held_by: agent }]);
  writeFileSync(gate, '');
  const { pid, instanceId } = await within('it is ready', running);
  expect(isAlive(pid)).toBe(true);
  const [told] = await until('the hub knows', found, ([one]) => one?.state === 'running');
  expect(told).toMatchObject({ instance_id: instanceId, pid });
  await supervisor.stop();
  expect(isAlive(pid)).toBe(false);
  expect(await found()).toMatchObject([{ state: 'stopped' }]);
  expect(states()).toEqual(['starting', 'running', 'stopping', 'stopped']);
});

test('[SU1] a program that is not there is never started, runs nowhere and is not tried again', async () => {
  for (const command of [['/no/such/program'], ['no-such-program']]) {
    const { supervisor, agent, states } = await scene.supervise('', { command });
    await expect(supervisor.start()).rejects.toMatchObject({
      code: 'supervisor.given-up',
      message: expect.stringMatching(
        /there is no program ".*no-?.*such.*program" to run; install it/,
      ),
    });
    expect(supervisor.pid).toBeNull();
    expect(states()).toEqual(['starting', 'given_up']);
    await until(
      'the hub gave it up',
      () => scene.instancesOf(agent),
      ([one]) => one?.state === 'given_up',
    );
    // It left its place: the next start meets no holder.
    await expect(supervisor.start()).rejects.toMatchObject({ code: 'supervisor.given-up' });
  }
});

test('[SU1] a file whose interpreter is missing is not taken for a program that runs', async () => {
  const path = join(scene.folder, 'bad-interpreter');
  writeFileSync(path, '#!/no/such/interpreter\n', { mode: 0o755 });
  const limits = { files: 64 };
  const { supervisor, states } = await scene.supervise('', { command: [path] }, { limits });
  await expect(supervisor.start()).rejects.toMatchObject({ code: 'supervisor.given-up' });
  expect(states()).not.toContain('running');
});

test('[SU1] one too many is refused by the hub, and nothing is started', async () => {
  const first = await scene.supervise(SLEEPS, { ready: /ready/ });
  await first.supervisor.start();
  const second = new Supervisor({
    hub: first.own,
    agent: first.agent,
    command: ['/bin/sh', '-c', ':'],
  });
  await expect(second.start()).rejects.toMatchObject({
    code: 'supervisor.refused',
    message: expect.stringContaining('its place is held: i'),
  });
  expect(second.status()).toMatchObject({ state: 'given_up', pid: null, starts: 0 });
});

test.each([
  [{ agent: '' }, /agent/],
  [{ command: [] }, /command/],
  [{ command: ['a\0b'] }, /command/],
  [{ cwd: '' }, /cwd/],
  [{ env: { 'A=B': 'x' } }, /"A=B"/],
  [{ readyTimeoutMs: 0 }, /readyTimeoutMs/],
  [{ leaseMs: Number.NaN }, /leaseMs/],
  [{ graceMs: -1 }, /graceMs/],
  [{ backoff: { minMs: 10, maxMs: 5 } }, /maxMs/],
])('[SU1] what cannot be asked for is refused at once: %j', (wrong, words) => {
  const good = { hub: scene.client, agent: 'a', command: ['/bin/true'] };
  expect(() => new Supervisor({ ...good, ...wrong })).toThrow(words);
});

test('[SU1] not ready in time is a failure, and it is ended', async () => {
  const { supervisor, seen } = await scene.supervise('exec sleep 1000', {
    ...{ ready: /never/, readyTimeoutMs: 50 },
  });
  await expect(within('it is given up', supervisor.start())).rejects.toThrow(
    'it failed 5 times in a row: it was not ready within 0.05 s',
  );
  expect(seen.filter(({ state }) => state === 'failed')).toHaveLength(5);
});

test('[SU2] stop during the wait for a restart stops that restart', async () => {
  const { supervisor, agent } = await scene.supervise('echo x >> starts; exit 3', {
    ...{ ready: /never/, backoff: { minMs: 400, maxMs: 400 } },
  });
  const starting = supervisor.start();
  await comesTo(supervisor, 'failed');
  expect(supervisor.status().restartInMs).toBeGreaterThan(0);
  await supervisor.stop('enough');
  await expect(starting).rejects.toMatchObject({ code: 'supervisor.stopped' });
  expect(supervisor.status()).toMatchObject({
    state: 'given_up',
    reason: 'enough',
    restartInMs: null,
  });
  const [told] = await scene.instancesOf(agent);
  expect(told).toMatchObject({ state: 'given_up', reason: 'enough' });
  // Longer than the wait would have been, seen by the clock of another process.
  await once(spawn('sleep', ['0.6']), 'exit');
  expect(scene.linesIn('starts')).toEqual(['x']);
});

test('[SU2] [SU3] stop and start at once leave one process, and the old exit does not touch it', async () => {
  // It takes its time to end, so that its exit comes long after the next start was asked for.
  const script = `trap 'sleep 0.15; exit 0' TERM; echo "$$" >> pids; echo ready; while :; do sleep 0.02; done`;
  const { supervisor, agent } = await scene.supervise(script, { ready: /ready/, graceMs: 2_000 });
  const first = await supervisor.start();
  const stopping = supervisor.stop();
  expect(isAlive(first.pid)).toBe(true);
  const second = await within('it is there again', supervisor.start());
  await stopping;
  expect(second.pid).not.toBe(first.pid);
  expect([isAlive(first.pid), isAlive(second.pid)]).toEqual([false, true]);
  expect(supervisor.status()).toMatchObject({ state: 'running', pid: second.pid });
  const live = (await scene.instancesOf(agent)).filter(({ state }) => state !== 'stopped');
  expect(live).toMatchObject([{ instance_id: second.instanceId }]);
  // A stop, a start and a stop again: the start is taken back.
  const again = supervisor.stop();
  const third = supervisor.start();
  const last = supervisor.stop();
  await expect(third).rejects.toMatchObject({ code: 'supervisor.stopped' });
  await Promise.all([again, last]);
  expect(supervisor.state).toBe('stopped');
  expect(scene.linesIn('pids')).toEqual([String(first.pid), String(second.pid)]);
});

test('[SU2] who ignores being asked to end is killed, with its children', async () => {
  const script = `trap '' TERM; sleep 1000 & echo "child $!" >> family; echo ready; while :; do sleep 1; done`;
  const { supervisor } = await scene.supervise(script, { ready: /ready/, graceMs: 50 });
  const { pid } = await supervisor.start();
  const child = Number(scene.linesIn('family').at(-1)?.split(' ')[1]);
  await within('it is stopped', supervisor.stop());
  expect([isAlive(pid), isAlive(child)]).toEqual([false, false]);
});

test('[SU2] stop in the very moment of the start leaves nothing at the hub or here', async () => {
  const { supervisor, agent } = await scene.supervise('echo x >> moment; exec sleep 1000');
  const starting = supervisor.start();
  await supervisor.stop();
  await expect(starting).rejects.toMatchObject({ code: 'supervisor.stopped' });
  expect(supervisor.pid).toBeNull();
  const live = (await scene.instancesOf(agent)).filter(({ state }) => state !== 'stopped');
  expect(live).toEqual([]);
});

test('[SU4] it is started again, ever later, and a crash loop is a state with the last lines', async () => {
  const script = 'echo "to out"; echo "to err $SECRET_KEY" >&2; exit 7';
  const { supervisor, agent, seen } = await scene.supervise(script, {
    ...{ ready: /never/, backoff: { minMs: 20, maxMs: 10_000 } },
  });
  const error = await within('it is given up', supervisor.start()).catch((thrown) => thrown);
  expect(error).toMatchObject({
    code: 'supervisor.given-up',
    message: 'it failed 5 times in a row: it exited with code 7 before it was ready',
    lines: ['to out', 'to err '],
  });
  expect(supervisor.status()).toMatchObject({ state: 'given_up', starts: 5, restartInMs: null });
  const waits = seen.flatMap(({ state, restartInMs }) =>
    state === 'failed' ? [restartInMs ?? 0] : [],
  );
  // Between half and all of 20, 40, 80, 160, 320 ms.
  for (const [at, waitMs] of waits.entries()) {
    expect(waitMs).toBeGreaterThan(20 * 2 ** at * 0.5 - 6);
    expect(waitMs).toBeLessThanOrEqual(20 * 2 ** at + 1);
  }
  const [told] = await scene.instancesOf(agent);
  expect(told).toMatchObject({ state: 'given_up', lines: ['to out', 'to err '] });
  // Nothing comes back by itself, and a start of ours is heeded.
  await expect(supervisor.start()).rejects.toMatchObject({ code: 'supervisor.given-up' });
});

test('[SU4] after health the waits begin anew', async () => {
  const { supervisor, seen } = await scene.supervise('echo ready; sleep 0.15; exit 1', {
    ...{ ready: /ready/, backoff: { minMs: 30, maxMs: 10_000, healthyMs: 100 } },
  });
  await supervisor.start();
  const waits = () =>
    seen.flatMap(({ state, restartInMs }) => (state === 'failed' ? [restartInMs] : []));
  await until(
    'it failed three times',
    async () => tick(waits()),
    (all) => all.length >= 3,
  );
  for (const waitMs of waits()) expect(waitMs).toBeLessThanOrEqual(31);
});

test('[SU4] an exit with 0 is an end, unless it is to run always', async () => {
  const once_ = await scene.supervise('echo ready; exit 0', { ready: /ready/ });
  await once_.supervisor.start();
  await comesTo(once_.supervisor, 'stopped');
  expect(once_.states()).toEqual(['starting', 'running', 'stopped']);
  await until(
    'the hub knows',
    () => scene.instancesOf(once_.agent),
    ([one]) => one?.state === 'stopped',
  );
  const always = await scene.supervise('echo ready; exit 0', { ready: /ready/, restart: 'always' });
  await always.supervisor.start();
  await until(
    'it was started twice',
    async () => tick(always.supervisor.status().starts),
    (n) => n >= 2,
  );
  const never = await scene.supervise('exit 4', { restart: 'never', ready: /never/ });
  await expect(never.supervisor.start()).rejects.toThrow('it exited with code 4');
  expect(never.supervisor.status()).toMatchObject({ state: 'given_up', starts: 1 });
});

test('[SU5] stopped at the hub, it ends here', async () => {
  const { supervisor, agent } = await scene.supervise(SLEEPS, { ready: /ready/, leaseMs: 3_000 });
  const { pid } = await supervisor.start();
  supervisor.idle();
  await until(
    'it is idle',
    () => scene.instancesOf(agent),
    ([one]) => one?.state === 'idle',
  );
  supervisor.busy();
  await scene.client.call('agents.stop', { agent_id: agent, reason: 'for tonight' });
  await comesTo(supervisor, 'stopped');
  expect(isAlive(pid)).toBe(false);
  expect(supervisor.status().reason).toBe('for tonight');
  expect(await scene.instancesOf(agent)).toMatchObject([{ state: 'stopped' }]);
});

test('[SU5] stopped while a word of it is on its way, it ends for the reason that was given', async () => {
  const { agent, own } = await scene.defined();
  const stop = () => scene.client.call('agents.stop', { agent_id: agent, reason: 'for tonight' });
  const crossed = {
    call: (async (...of: Parameters<Client['call']>) => {
      if (of[0] === 'agents.report' && Object(of[1]).state === 'idle') await stop();
      return own.call(...of);
    }) as Client['call'],
  };
  const supervisor = new Supervisor({
    ...{ hub: crossed, agent, command: ['/bin/sh', '-c', SLEEPS], ready: /ready/ },
    graceMs: 50,
  });
  scene.open.push(supervisor);
  await supervisor.start();
  supervisor.idle();
  await comesTo(supervisor, 'stopped');
  expect(supervisor.status().reason).toBe('for tonight');
  expect(await scene.instancesOf(agent)).toMatchObject([{ state: 'stopped' }]);
});

test('[SU5] out of reach of the hub for most of its lease, it ends before another may begin', async () => {
  const { agent, own, token } = await scene.defined();
  let isCut = false;
  const flaky = {
    call: ((...of: Parameters<Client['call']>) =>
      isCut ? Promise.reject(new Error('no route')) : own.call(...of)) as Client['call'],
  };
  const supervisor = new Supervisor({
    ...{ hub: flaky, agent, command: ['/bin/sh', '-c', SLEEPS], ready: /ready/, leaseMs: 3_000 },
    ...{ graceMs: 50, backoff: { minMs: 5, maxMs: 20 } },
  });
  scene.open.push(supervisor);
  const { pid } = await supervisor.start();
  isCut = true;
  const [held] = await scene.instancesOf(agent);
  await gone(pid);
  expect(Date.now() / 1000).toBeLessThan(held.lease_until);
  await until(
    'the lease lapsed',
    () => scene.instancesOf(agent),
    ([one]) => one?.held_by === null,
  );
  // Another host takes the same instance, under the next epoch, and ours is refused from then on.
  const other = await connect({ url: scene.hub.url, token });
  scene.clients.push(other);
  const taken = await other.call('agents.take', { agents: [agent] });
  expect(taken.instance).toMatchObject({ instance_id: held.instance_id, epoch: 2 });
  isCut = false;
  await comesTo(supervisor, 'given_up');
  expect(supervisor.status().reason).toMatch(/its place is held/);
});

test('[SU5] an instance that waits for a host is taken before a new one is started', async () => {
  const { supervisor, agent } = await scene.supervise(SLEEPS, { ready: /ready/ });
  const waiting = await scene.client.call('agents.start', { agent_id: agent });
  const { instanceId } = await supervisor.start();
  expect(instanceId).toBe(waiting.instance_id);
  expect(await scene.instancesOf(agent)).toHaveLength(1);
});

test('[PO16] with a guard it is started through it, and what that refuses is told once and not tried again', async () => {
  const mark = join(scene.folder, 'was-here');
  const command = ['/bin/sh', '-c', `echo "$HOME" > ${mark}; ${SLEEPS}`];
  const env = { SECRET: 'x' };
  const none = createGuard({ read: [scene.folder] });
  const refused = await scene.supervise('', { command, env, guard: none });
  await expect(refused.supervisor.start()).rejects.toMatchObject({
    ...{ code: 'supervisor.given-up', message: expect.stringContaining('execute') },
  });
  expect([refused.states(), existsSync(mark)]).toEqual([['starting', 'given_up'], false]);
  const decided: string[] = [];
  const guard = createGuard(
    {
      ...{ read: ['/'], write: [scene.folder], delete: [scene.folder] },
      execute: [{ program: '/bin/sh', args: ['**'] }],
    },
    { record: ({ kind, allowed }) => decided.push(`${kind} ${allowed}`) },
  );
  const unset = await scene.supervise('', { command, env, guard });
  await expect(unset.supervisor.start()).rejects.toThrow('have the variable SECRET');
  const { supervisor } = await scene.supervise('', { command, guard, ready: /^ready$/ });
  const { pid } = await within('it is ready', supervisor.start());
  // The policy lets nobody have that one.
  expect(readFileSync(mark, 'utf8')).toBe('\n');
  expect(decided).toContain('execute true');
  await supervisor.stop();
  expect(isAlive(pid)).toBe(false);
});
