/** Back-pressure: a client that does not read stops whoever writes to it, and nobody else. */
import { expect, test } from 'vitest';
import {
  hear,
  openSmallBus,
  type SmallBus,
  type SmallClient,
  say,
  serve,
} from '../../../test/simulation/bus/small-bus.ts';
import { SHARE_BYTES } from './to-client.ts';

const FILL = 'x'.repeat(300);
const KB = 1_024;

/** A client of pool `a` that has more waiting for it than it may. */
async function openSlow(): Promise<{ small: SmallBus; slow: SmallClient }> {
  const small = await openSmallBus({
    pools: [{ id: 'a' }, { id: 'b' }],
    limits: { queueBytesMax: 1_100, backpressureMs: 3_000 },
  });
  const slow = small.connect('slow');
  slow.ask(1, 'm', { sessionId: 's', pool: 'a' });
  hear(small.worker('a/0'));
  for (let n = 0; n < 4; n += 1)
    say(small.worker('a/0'), { method: 'n', sessionId: 's', params: { n, FILL } });
  return { small, slow };
}

test('[BU10] a slow client makes its worker stand still, is not read from, and others go on', async () => {
  const { small, slow } = await openSlow();
  expect(small.worker('a/0').isReading).toBe(false);
  expect(slow.peer.isReadable).toBe(false);
  const other = small.connect();
  other.ask(1, 'm', { pool: 'b' });
  serve(small.worker('b/0'));
  expect(other.got()).toMatchObject([{ id: 1, result: {} }]);
  expect(other.peer.isReadable).toBe(true);
});

test('[BU10] when half is read everything goes on, and nothing was dropped', async () => {
  const { small, slow } = await openSlow();
  const worker = small.worker('a/0');
  say(worker, { method: 'n', sessionId: 's', params: { n: 4 } });
  // Three of them wait, and one read leaves more than half of what may: nothing new comes yet.
  slow.peer.read(1);
  expect(worker.isReading).toBe(false);
  expect(slow.peer.queuedBytes).toBeLessThan(900);
  slow.peer.read(1);
  expect(worker.isReading).toBe(true);
  expect(slow.peer.isReadable).toBe(true);
  expect(slow.got().map(({ params }) => params.n)).toEqual([0, 1, 2, 3, 4]);
  small.clock.advance(10_000);
  expect(slow.peer.isClosed).toBe(false);
});

test('[BU10] a client that does not read in time is cut off, and its worker goes on', async () => {
  const { small, slow } = await openSlow();
  small.clock.advance(2_900);
  expect(slow.peer.isClosed).toBe(false);
  small.clock.advance(200);
  expect(slow.peer).toMatchObject({ isClosed: true, closedBy: 'timeout' });
  expect(small.worker('a/0').isReading).toBe(true);
  expect(small.logs.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/slow.*did not read for 3 s/),
  );
  const other = small.connect();
  other.ask(1, 'm', { pool: 'a' });
  serve(small.worker('a/0'));
  expect(other.got()).toMatchObject([{ id: 1, result: {} }]);
});

test('[BU10] a worker held by two clients goes on as soon as one of them reads', async () => {
  const small = await openSmallBus({ limits: { queueBytesMax: 1_000 } });
  const worker = small.worker('a/0');
  const [ada, bob] = [small.connect(), small.connect()];
  for (const client of [ada, bob]) client.ask(1, 'm', { sessionId: 's' });
  say(worker, { method: 'n', sessionId: 's', params: { FILL: FILL.repeat(4) } });
  say(worker, { method: 'n', sessionId: 's', params: { n: 'held' } });
  expect(worker.isReading).toBe(false);
  expect(ada.got()).toHaveLength(1);
  expect(worker.isReading).toBe(true);
  expect(ada.got()).toMatchObject([{ params: { n: 'held' } }]);
  expect(bob.got()).toHaveLength(2);
});

test('[BU10] others of the same worker are served meanwhile, and it stands still again without them', async () => {
  const { small, slow } = await openSlow();
  const worker = small.worker('a/0');
  const other = small.connect();
  other.ask(1, 'm', { pool: 'a' });
  expect(worker.isReading).toBe(true);
  serve(worker);
  expect(other.got()).toMatchObject([{ id: 1, result: {} }]);
  expect(worker.isReading).toBe(false);
  // Also who only listens; and who does so in the very session that nobody else reads.
  other.ask(2, 'stdio_bus/attach', { params: { sessionId: 's' } });
  expect(worker.isReading).toBe(true);
  say(worker, { method: 'n', sessionId: 's', params: { n: 'heard' } });
  expect(other.got()).toContainEqual(expect.objectContaining({ params: { n: 'heard' } }));
  other.peer.close('closed', false);
  expect(worker.isReading).toBe(false);
  expect(slow.peer.isClosed).toBe(false);
  expect(slow.got().at(-1)).toMatchObject({ params: { n: 'heard' } });
});

test('[BU10] whoever lets twice as much wait while others need the worker is cut off at once', async () => {
  const { small, slow } = await openSlow();
  const worker = small.worker('a/0');
  const other = small.connect();
  other.ask(1, 'm', { pool: 'a' });
  const [{ id }] = hear(worker);
  for (let n = 0; n < 10; n += 1) say(worker, { method: 'n', sessionId: 's', params: { n, FILL } });
  expect(slow.peer).toMatchObject({ isClosed: true, closedBy: 'timeout' });
  expect(worker.isReading).toBe(true);
  say(worker, { id, result: {} });
  expect(other.got()).toMatchObject([{ id: 1, result: {} }]);
  expect(small.logs.map(({ text }) => text).join()).toMatch(/slow.*did not read while others/);
});

test('[BU10] a worker that fills the client again in the moment it goes on is held again', async () => {
  const { small, slow } = await openSlow();
  const worker = small.worker('a/0');
  for (let n = 0; n < 20; n += 1) say(worker, { method: 'n', sessionId: 's', params: { n, FILL } });
  slow.peer.read(4);
  expect(slow.peer.queuedBytes).toBeLessThan(2_000);
  expect(worker.isReading).toBe(false);
  expect(slow.peer.isReadable).toBe(false);
});

test('[BU10] an answer larger than the whole queue is delivered', async () => {
  const { worker, connect } = await openSmallBus({ limits: { queueBytesMax: 1_000 } });
  const client = connect();
  client.ask(1, 'm');
  const [{ id }] = hear(worker('a/0'));
  say(worker('a/0'), { id, result: FILL.repeat(100) });
  expect(client.got()).toEqual([{ jsonrpc: '2.0', id: 1, result: FILL.repeat(100) }]);
  expect(worker('a/0').isReading).toBe(true);
});

test('[BU27] where too much waits for all clients together, each stops its worker at a share; with less they go on', async () => {
  const small = await openSmallBus({
    pools: ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id })),
    limits: { queueBytesMax: 4 * SHARE_BYTES },
  });
  const open = (pool: string): { client: SmallClient; tell: (bytes: number) => void } => {
    const client = small.connect(pool);
    client.ask(1, 'm', { sessionId: pool, pool });
    hear(small.worker(`${pool}/0`));
    const fill = 'x'.repeat(KB);
    return {
      client,
      tell(bytes) {
        for (let sent = 0; sent < bytes; sent += KB)
          say(small.worker(`${pool}/0`), { method: 'n', sessionId: pool, params: { fill } });
      },
    };
  };
  const isReading = (pool: string): boolean => small.worker(`${pool}/0`).isReading;
  const crowd = ['a', 'b', 'c'].map(open);
  // Twice what may wait for one may wait for all.
  for (const { tell } of crowd.slice(0, 2)) tell(3 * SHARE_BYTES);
  expect(['a', 'b'].map(isReading)).toEqual([true, true]);
  crowd[2]?.tell(3 * SHARE_BYTES);
  expect(isReading('c')).toBe(false);
  const late = open('d');
  late.tell(2 * SHARE_BYTES);
  expect(isReading('d')).toBe(false);
  // One that reads goes on, and so does one that has left nothing for others to count.
  for (let n = 0; n < 3; n++) late.client.got();
  expect(isReading('d')).toBe(true);
  crowd[0]?.client.peer.close('closed', false);
  crowd[1]?.client.got();
  const last = open('e');
  last.tell(2 * SHARE_BYTES);
  expect(isReading('e')).toBe(true);
});
