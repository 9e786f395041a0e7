/**
 * Goal: what a pool can do to a bus, and a client to a pool, costs nobody else anything.
 * Method: a real bus, real workers that die, lie, flood, babble and never read, real sockets.
 */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isRunning, lookUntil } from '../bus/process/recorder.ts';
import { fixture } from '../bus/process/spec-of.ts';
import { type HardClient, openHardClient, peakMemoryOf } from './bus-hard-client.ts';
import { type BusHome, type BusProcess, openBusHome } from './bus-process.ts';

const WORKER = fileURLToPath(new URL('bus-hard-worker.ts', import.meta.url));
const node = (id: string, script: string, ...args: string[]) => ({
  id,
  command: process.execPath,
  args: [script, ...args],
  instances: 1,
});
const shell = (id: string, script: string, more: object = {}) => ({
  id,
  command: '/bin/sh',
  args: ['-c', script],
  instances: 1,
  ...more,
});

/** Two clients may have 1 MB waiting each; the rest is what a heap takes before it is swept. */
const GROWTH_BYTES_MAX = 80_000_000;

let home: BusHome;
let clients: HardClient[];
beforeEach(() => {
  home = openBusHome();
  clients = [];
});
afterEach(async () => {
  for (const { socket } of clients) socket.destroy();
  await home.close();
});

async function serve(document: object): Promise<BusProcess> {
  const bus = home.start(['--config', home.config(document), '--unix', home.path('s')]);
  await bus.logged(/ready on/);
  return bus;
}

async function join(): Promise<HardClient> {
  const client = await openHardClient(home.path('s'));
  clients.push(client);
  return client;
}

/** A bystander in its own pool is answered as if nothing else happened. */
async function goesOn(count = 20): Promise<void> {
  const bystander = await join();
  for (let id = 0; id < count; id += 1) {
    bystander.send({ id, method: 'm', pool: 'good', params: { token: `t${id}` } });
    await bystander.until(`answer ${id} of the good pool`, () => bystander.outcomes.has(id));
    expect(bystander.outcomes.get(id).result.token).toBe(`t${id}`);
  }
  bystander.socket.destroy();
}

const good = node('good', WORKER, 'steps');
const codeOf = (message: { error?: { data?: { code?: string } } }) => message.error?.data?.code;

test('[BU1] a request of 4 MB and 100 000 in one go, to one slow worker: none is lost', async () => {
  await serve({ pools: [node('slow', WORKER, 'slow')] });
  const client = await join();
  const text = 'grüße '.repeat(600_000);
  client.send({ id: -1, method: 'm', params: { token: 'big', text } });
  const many = Array.from({ length: 100_000 }, (_, id) => ({
    id,
    method: 'm',
    params: { token: `t${id}` },
  }));
  client.send(...many);
  await client.until('all are answered', () => client.outcomes.size === 100_001, 18_000);
  const sha256 = createHash('sha256').update(text).digest('hex');
  expect(client.outcomes.get(-1).result).toEqual({ token: 'big', sha256 });
  const wrong = many.filter(({ id }) => client.outcomes.get(id)?.result?.token !== `t${id}`);
  expect(wrong).toEqual([]);
});

test('[BU3] a worker dies at every byte of its answer: one outcome each, and the bus goes on', async () => {
  const answer = '{"jsonrpc":"2.0","id":"s01234567-1","result":"grüße"}\n';
  const bytes = Buffer.byteLength(answer) + 2;
  // In shell, because there is one process for every byte.
  const dies = `read -r line; id=\${line#*\\"id\\":}; id=\${id%%,*}; at=\${line##*\\"at\\":}; at=\${at%%\\}*}
    printf '{"jsonrpc":"2.0","id":%s,"result":"grüße"}\\n' "$id" | head -c "$at"; kill -9 $$`;
  await serve({
    pools: [shell('dies', dies, { instances: bytes, max_in_flight: 1, restart: 'never' }), good],
  });
  const client = await join();
  for (let at = 0; at < bytes; at += 1)
    client.send({ id: at, method: 'm', pool: 'dies', params: { at } });
  await client.until('all have an outcome', () => client.outcomes.size === bytes);
  const whole = Buffer.byteLength(answer) - 1;
  for (let at = 0; at < bytes; at += 1) {
    const message = client.outcomes.get(at);
    // Ids are one or two digits, so the last bytes may be either side of the end.
    if (message.result === undefined) {
      expect(message.error.data).toMatchObject({ code: 'bus.worker-died', mayHaveRun: true });
      expect(at).toBeLessThan(whole + 2);
    } else {
      expect(message.result).toBe('grüße');
      expect(at).toBeGreaterThanOrEqual(whole);
    }
  }
  expect(codeOf(client.outcomes.get(whole - 1))).toBe('bus.worker-died');
  expect(client.outcomes.get(bytes - 1).result).toBe('grüße');
  client.send({ id: 1_000, method: 'm', pool: 'dies', params: { at: 0 } });
  await client.until('the pool is empty', () => client.outcomes.has(1_000));
  expect(codeOf(client.outcomes.get(1_000))).toBe('bus.no-worker');
  await goesOn();
});

test('[BU2] workers that lie, babble, flood and never read: one outcome each, the good pool goes on', async () => {
  const bus = await serve({
    pools: [
      node('liar', fixture('liar.mjs')),
      shell('babble', 'head -c 300000 /dev/urandom; exec cat >/dev/null', { restart: 'never' }),
      { ...node('flood', fixture('flood.mjs')), restart: 'never' },
      node('deaf', fixture('never-reads.mjs')),
      good,
    ],
    limits: { max_output_queue: 500_000 },
  });
  const client = await join();
  const asked: number[] = [];
  const ask = (id: number, pool: string, text: string): void => {
    asked.push(id);
    client.send({ id, method: 'm', pool, params: { token: pool, text }, _ext: { timeoutMs: 500 } });
  };
  for (let n = 0; n < 5; n += 1) {
    for (const [at, pool] of ['liar', 'babble', 'flood'].entries()) ask(at * 10 + n, pool, '');
  }
  for (let n = 0; n < 100; n += 1) ask(100 + n, 'deaf', 'x'.repeat(10_000));
  await goesOn();
  await client.until('all have an outcome', () => client.outcomes.size === asked.length);
  const codes = (from: number, to: number) =>
    new Set(
      asked.filter((id) => id >= from && id < to).map((id) => codeOf(client.outcomes.get(id))),
    );
  expect(codes(100, 200)).toEqual(new Set(['bus.timed-out', 'bus.queue-full']));
  // The liar asks back whatever it is told, until it has said too much that is no message.
  for (const code of codes(0, 30)) {
    expect(['bus.worker-died', 'bus.no-worker', 'bus.timed-out']).toContain(code);
  }
  await bus.logged(/flood.*lines that are no messages/);
  await bus.logged(/babble.*lines that are no messages/);
  await goesOn();
});

test('[BU10] a client that does not read, before a worker that floods: little memory, nothing dropped', async () => {
  const bus = await serve({
    pools: [{ ...node('flood', WORKER, 'flood'), instances: 2 }, good],
    limits: { max_output_queue: 1_000_000, backpressure_timeout_sec: 3 },
  });
  await goesOn(5);
  const before = peakMemoryOf(bus.child.pid);
  const grown = (): number => peakMemoryOf(bus.child.pid) - before;
  const [slow, dead] = [await join(), await join()];
  const numbers: number[] = [];
  slow.onNotification = ({ params }) => numbers.push(params.n);
  for (const [at, client] of [slow, dead].entries()) {
    client.socket.pause();
    client.send({ id: 1, method: 'm', pool: 'flood', sessionId: `s${at}` });
  }
  // Long enough to write hundreds of megabytes, were nobody to stop it; not so long that it is cut off.
  const stopAt = performance.now() + 1_000;
  while (performance.now() < stopAt) await goesOn(5);
  expect(grown()).toBeLessThan(GROWTH_BYTES_MAX);
  const { length } = numbers;
  slow.socket.resume();
  await slow.until('20 000 more', () => numbers.length > length + 20_000);
  slow.socket.pause();
  expect(numbers).toEqual(numbers.map((_, i) => i + 1));
  // The other one reads nothing at all, and is cut off; what it still has in its own buffers ends.
  await bus.logged(/did not read for 3 s with \d+ bytes waiting: closed/);
  slow.socket.destroy();
  dead.socket.resume();
  await dead.until('it is cut off', () => dead.isClosed);
  await goesOn(5);
  expect(grown()).toBeLessThan(GROWTH_BYTES_MAX);
});

test('[WO8] kill -9 of the bus: no worker stays, however stubborn, nor what it has started', async () => {
  const bus = await serve({
    pools: [{ ...node('stubborn', fixture('stubborn.mjs')), instances: 2 }, good],
  });
  const pids: number[] = [];
  await lookUntil('the stubborn told their pids', () => {
    const told = [...bus.log.matchAll(/"pids":\[([\d,]+)\]/g)].map(([, list]) => list ?? '');
    pids.splice(0, pids.length, ...told.flatMap((list) => list.split(',').map(Number)));
    return told.length === 2;
  });
  const workers = [...bus.log.matchAll(/started as process (\d+)/g)].map(([, pid]) => Number(pid));
  const all = new Set([...pids, ...workers]);
  expect(all.size).toBe(7);
  expect([...all].every(isRunning)).toBe(true);
  bus.child.kill('SIGKILL');
  await lookUntil(`none of ${[...all]} is left`, () => ![...all].some(isRunning));
});

test('[BU18] told to stop while a reload waits for a worker that never is ready: it ends, with 0', async () => {
  const bus = await serve({ pools: [good] });
  const ready = { method: 'are-you-there', timeout_sec: 600 };
  home.config({ pools: [good, shell('stuck', 'exec cat >/dev/null', { ready })] });
  bus.child.kill('SIGHUP');
  const [, pid] = await bus.logged(/stuck\/0\] started as process (\d+)/);
  await goesOn(3);
  bus.child.kill('SIGTERM');
  expect(await bus.exited()).toBe(0);
  expect(isRunning(Number(pid))).toBe(false);
});
