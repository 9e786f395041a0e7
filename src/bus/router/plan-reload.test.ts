/** A new config: nothing that was asked is lost, and nothing that did not change is touched. */
import { expect, test } from 'vitest';
import {
  answered,
  configOf,
  hear,
  openSmallBus,
  refused,
  serve,
} from '../../../test/simulation/bus/small-bus.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('[BU18] pools are added, removed and changed; what runs is finished where it runs', async () => {
  const small = await openSmallBus({ pools: [{ id: 'same' }, { id: 'other' }, { id: 'gone' }] });
  const client = small.connect();
  const [same, other, gone] = small.workers;
  for (const pool of ['same', 'other', 'gone']) client.ask(pool, pool, { pool, sessionId: pool });
  for (const worker of small.workers) hear(worker);
  const report = await small.reload({
    pools: [{ id: 'same', inFlightMax: 7 }, { id: 'other', args: ['-v'] }, { id: 'new' }],
  });
  expect(report).toEqual({ added: ['new'], removed: ['gone'], changed: ['same', 'other'] });
  expect(small.worker('same/0')).toBe(same);
  expect(small.worker('other/0')).not.toBe(other);
  expect([other?.state, gone?.state]).toEqual(['ready', 'ready']);
  client.ask(1, 'later', { pool: 'other' });
  client.ask(2, 'later', { pool: 'gone' });
  expect(hear(small.worker('other/0'))).toHaveLength(1);
  expect(client.got()).toEqual([refused(2, 'bus.pool-unknown')]);
  for (const worker of [same, other, gone]) worker?.answer(() => 0, false);
  await settled();
  expect(client.got().filter(({ result }) => result)).toHaveLength(3);
  expect([same?.state, other?.state, gone?.state]).toEqual(['ready', 'stopped', 'stopped']);
});

test('[BU18] what waited for a worker that leaves goes to the next, in order', async () => {
  const small = await openSmallBus({ pools: [{ id: 'a', inFlightMax: 1 }] });
  const client = small.connect();
  for (const id of [1, 2, 3]) client.ask(id, `m${id}`, { sessionId: 's' });
  const old = small.worker('a/0');
  hear(old);
  await small.reload({ pools: [{ id: 'a', inFlightMax: 1, args: ['-v'] }] });
  const next = small.worker('a/0');
  expect(hear(next)).toEqual([]);
  old.answer(() => 0, false);
  const order = [...serve(next), ...serve(next)].map(({ method }) => method);
  expect(order).toEqual(['m2', 'm3']);
  expect(client.got().filter(({ id }) => id)).toMatchObject([
    { id: 1 },
    answered(2, 'm2'),
    answered(3, 'm3'),
  ]);
});

test('[BU18] more and fewer instances: those that stay go on as they are', async () => {
  const small = await openSmallBus({ pools: [{ id: 'a', instances: 2 }] });
  await small.reload({ pools: [{ id: 'a', instances: 3 }] });
  expect(small.bus.counts().workers).toBe(3);
  await small.reload({ pools: [{ id: 'a', instances: 1 }] });
  await settled();
  expect(small.workers.map(({ state }) => state)).toEqual(['ready', 'stopped', 'stopped']);
  expect(small.bus.counts().workers).toBe(1);
});

test('[BU18] a config whose pool cannot start changes nothing', async () => {
  const small = await openSmallBus();
  const before = small.bus.config;
  const reloading = small.bus.reload(configOf({ pools: [{ id: 'a', instances: 2 }, { id: 'b' }] }));
  small.worker('b/0').crash(false);
  await expect(reloading).rejects.toMatchObject({ code: 'bus.not-started' });
  expect(small.bus.config).toBe(before);
  expect(small.workers.map(({ state }) => state)).toEqual(['ready', 'stopped', 'stopped']);
  const client = small.connect();
  client.ask(1, 'm');
  serve(small.worker('a/0'));
  expect(client.got()).toEqual([answered(1, 'm')]);
  // Nor is anything left that a later one would take for a worker.
  await small.reload({ pools: [{ id: 'a', instances: 2 }] });
  expect(small.bus.counts().workers).toBe(2);
});

test('[BU18] new limits and rules hold from then on', async () => {
  const small = await openSmallBus();
  const client = small.connect();
  await small.reload({ policy: [{ effect: 'deny', method: 'm' }] });
  client.ask(1, 'm');
  expect(client.got()).toEqual([refused(1, 'bus.policy')]);
});

test('[BU18] a bus that is stopped while it reloads leaves no worker behind', async () => {
  const small = await openSmallBus();
  const reloading = small.bus.reload(configOf({ pools: [{ id: 'a' }, { id: 'b' }] }));
  const refusal = expect(reloading).rejects.toMatchObject({
    code: expect.stringMatching(/^bus\./),
  });
  await small.bus.stop(0);
  await refusal;
  expect(small.bus.state).toBe('stopped');
  expect(small.workers.map(({ state }) => state)).toEqual(['stopped', 'stopped']);
});

test('[BU18] a second reload waits for the first, and its config is the one that stays', async () => {
  const small = await openSmallBus();
  const both = [
    small.bus.reload(configOf({ pools: [{ id: 'a' }, { id: 'b' }] })),
    small.bus.reload(configOf({ pools: [{ id: 'a' }, { id: 'c' }] })),
  ];
  for (let i = 0; i < 10; i += 1) {
    for (const worker of small.workers) worker.comeUp();
    await settled();
  }
  await Promise.all(both);
  await settled();
  expect(small.bus.config.pools.map(({ id }) => id)).toEqual(['a', 'c']);
  expect(small.workers.map(({ name, state }) => `${name} ${state}`)).toEqual([
    'a/0 ready',
    'b/0 stopped',
    'c/0 ready',
  ]);
});

test('[BU24] places that were given up are tried again, also in a pool that did not change', async () => {
  const small = await openSmallBus({ pools: [{ id: 'a' }, { id: 'b', instances: 2 }] });
  const [a, first, second] = small.workers;
  first?.crash(false);
  const report = await small.reload({ pools: [{ id: 'a' }, { id: 'b', instances: 2 }] });
  expect(report).toEqual({ added: [], removed: [], changed: ['b'] });
  first?.comeUp();
  expect([a?.starts, first?.starts, second?.starts]).toEqual([1, 2, 1]);
  expect(small.workers).toHaveLength(3);
  const client = small.connect();
  for (const id of [1, 2]) client.ask(id, 'm', { pool: 'b' });
  expect([first, second].map((worker) => worker && serve(worker).length)).toEqual([1, 1]);
});

test('[BU24] one that is still broken keeps nothing else of the config out', async () => {
  const small = await openSmallBus({ pools: [{ id: 'a' }, { id: 'b' }] });
  small.worker('b/0').crash(false);
  const again = small.bus.reload(configOf({ pools: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] }));
  small.worker('c/0').comeUp();
  expect(await again).toEqual({ added: ['c'], removed: [], changed: ['b'] });
  expect(small.worker('b/0').state).toBe('starting');
  small.worker('b/0').crash(false);
  await settled();
  // A reload that fails leaves it as it was.
  const failing = small.bus.reload(configOf({ pools: [{ id: 'a' }, { id: 'b' }, { id: 'd' }] }));
  await settled();
  small.worker('d/0').crash(false);
  await expect(failing).rejects.toMatchObject({ code: 'bus.not-started' });
  expect(small.worker('b/0').state).toBe('failed');
});

test.each([
  ['max_restarts', { restartsMax: 1 }],
  ['restart_window_sec', { restartWindowMs: 5 }],
  ['restart_delay_ms', { restartWaitMsMin: 5 }],
  ['max_stray_lines', { straysMax: 1 }],
  ['max_input_buffer', { messageBytesMax: 5_000 }],
])('[BU18] another %s makes the workers anew', async (_, limits) => {
  const small = await openSmallBus();
  const old = small.worker('a/0');
  expect((await small.reload({ limits })).changed).toEqual(['a']);
  await settled();
  expect(small.worker('a/0')).not.toBe(old);
  expect([old.state, small.worker('a/0').state]).toEqual(['stopped', 'ready']);
});

test('[BU18] a limit that is no worker’s leaves them alone', async () => {
  const small = await openSmallBus();
  const report = await small.reload({ limits: { requestMs: 5, clientsMax: 3, drainMs: 9 } });
  expect(report.changed).toEqual([]);
  expect(small.workers).toHaveLength(1);
});
