/** The way to a worker: death, order, and how much may wait. */
import { expect, test } from 'vitest';
import {
  answered,
  hear,
  type Message,
  openSmallBus,
  refused,
  serve,
} from '../../../test/simulation/bus/small-bus.ts';

test('[BU3] a worker dies: what it may have seen is answered so, the rest goes to another', async () => {
  const { bus, worker, connect } = await openSmallBus({ pools: [{ id: 'a', instances: 2 }] });
  const client = connect();
  for (const id of [1, 2, 3]) client.ask(id, `m${id}`, { sessionId: 's' });
  const dying = worker('a/0');
  dying.take();
  dying.crash(true);
  const told = client.got();
  expect(told).toContainEqual(refused(1, 'bus.worker-died', true));
  expect(told).toContainEqual({
    jsonrpc: '2.0',
    method: 'stdio_bus/session_lost',
    sessionId: 's',
    params: { sessionId: 's', reason: expect.stringContaining('a/0') },
    _ext: { seq: 1 },
  });
  expect(told).toHaveLength(2);
  expect(serve(worker('a/1')).map(({ method }) => method)).toEqual(['m2', 'm3']);
  expect(client.got()).toEqual([answered(2, 'm2'), answered(3, 'm3')]);
  expect(bus.stats().worker_restarts).toBe(1);
});

test('[BU3] with no other worker it waits for the next life, and is refused when there is none', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.ask(1, 'm');
  worker('a/0').crash(true);
  expect(client.got()).toEqual([]);
  worker('a/0').comeUp();
  serve(worker('a/0'));
  expect(client.got()).toEqual([answered(1, 'm')]);
  client.ask(2, 'm');
  worker('a/0').crash(false);
  expect(client.got()).toEqual([refused(2, 'bus.no-worker')]);
});

test('[BU28] what waited for a pool that is lost is refused in pieces, in order, and nothing new overtakes it', async () => {
  const { clock, worker, connect } = await openSmallBus();
  const client = connect();
  const other = connect();
  worker('a/0').sink();
  const ids = Array.from({ length: 1_200 }, (_, id) => id);
  for (const id of ids) client.ask(id, 'm', { sessionId: 's' });
  worker('a/0').crash(false);
  const first = client.got().filter(({ id }) => id !== undefined);
  expect(first.length).toBeGreaterThan(0);
  expect(first.length).toBeLessThan(1_200);
  other.ask(1, 'm');
  expect(other.got()).toEqual([refused(1, 'bus.no-worker')]);
  client.ask(1_200, 'm', { sessionId: 's' });
  for (let turn = 0; turn < 5; turn++) clock.advance(1);
  const rest = client.got().filter(({ id }) => id !== undefined);
  expect([...first, ...rest]).toEqual([...ids, 1_200].map((id) => refused(id, 'bus.no-worker')));
});

test('[BU28] what is left of it runs when its pool gets a worker again', async () => {
  const { clock, worker, connect, reload } = await openSmallBus();
  const client = connect();
  worker('a/0').sink();
  for (let id = 0; id < 600; id++) client.ask(id, 'm');
  worker('a/0').crash(false);
  const refusedFirst = client.got().length;
  expect(refusedFirst).toBeGreaterThan(0);
  expect(refusedFirst).toBeLessThan(600);
  await reload({ pools: [{ id: 'a', instances: 2 }] });
  clock.advance(1);
  for (let left = 600 - refusedFirst; left > 0; ) {
    const served = serve(worker('a/1')).length + serve(worker('a/0')).length;
    expect(served).toBeGreaterThan(0);
    left -= served;
  }
  expect(client.got().every(({ error }) => error === undefined)).toBe(true);
});

test('[BU28] of what may wait for answers one client has half, whatever its ids, unless it is alone', async () => {
  const { worker, connect } = await openSmallBus({ limits: { pendingMax: 8 } });
  const greedy = connect();
  for (let n = 0; n < 8; n++) greedy.ask(1, 'm');
  greedy.ask(2, 'm');
  expect(greedy.got()).toEqual([refused(2, 'bus.queue-full')]);
  serve(worker('a/0'));
  expect(greedy.got()).toHaveLength(8);
  const other = connect();
  for (let n = 0; n < 5; n++) greedy.ask(3, 'm');
  expect(greedy.got()).toEqual([refused(3, 'bus.queue-full')]);
  for (let id = 0; id < 4; id++) other.ask(id, 'm');
  expect(other.got()).toEqual([]);
  expect(serve(worker('a/0'))).toHaveLength(8);
});

test('[BU3] while a worker ends, what is new waits for the next one, and its sessions are still told', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  const one = worker('a/0');
  client.ask(1, 'm', { sessionId: 's' });
  serve(one);
  client.got();
  one.sink();
  client.ask(2, 'm');
  client.ask(3, 'm', { sessionId: 's' });
  expect(client.got()).toEqual([]);
  one.crash(true);
  expect(client.got()).toMatchObject([{ method: 'stdio_bus/session_lost', sessionId: 's' }]);
  one.comeUp();
  serve(one);
  expect(client.got()).toHaveLength(2);
  one.sink();
  client.ask(4, 'm');
  one.crash(false);
  expect(client.got()).toContainEqual(refused(4, 'bus.no-worker'));
});

test('[BU3] a client that was away is told of the loss when it comes back', async () => {
  const { worker, connect } = await openSmallBus();
  const first = connect();
  first.ask(1, 'm', { sessionId: 's' });
  serve(worker('a/0'));
  first.peer.close('closed', false);
  worker('a/0').crash(true);
  const second = connect();
  second.ask(1, 'stdio_bus/attach', { params: { sessionId: 's' } });
  expect(second.got()).toMatchObject([
    { method: 'stdio_bus/session_lost', params: { sessionId: 's' } },
    { id: 1, result: { missed: 1, worker: null } },
  ]);
});

test('[BU3] a worker that stood still for a slow client when it died is read from in its next life', async () => {
  const { worker, connect } = await openSmallBus({ limits: { queueBytesMax: 10 } });
  const client = connect();
  client.ask(1, 'm');
  serve(worker('a/0'));
  expect(worker('a/0').isReading).toBe(false);
  worker('a/0').crash(true);
  worker('a/0').comeUp();
  expect(worker('a/0').isReading).toBe(true);
});

/** Who asked what the worker was given, in order. */
const askers = (heard: readonly Message[]): string[] => heard.map(({ method }) => method);

test('[BU29] who asks for one thing does not wait for a hundred of another', async () => {
  const { worker, connect } = await openSmallBus({ pools: [{ id: 'a', inFlightMax: 1 }] });
  const [greedy, other] = [connect(), connect()];
  for (let id = 0; id < 100; id++) greedy.ask(id, 'greedy');
  for (let id = 0; id < 2; id++) other.ask(id, 'other');
  const heard: Message[] = [];
  for (let n = 0; n < 5; n++) heard.push(...serve(worker('a/0')));
  expect(askers(heard)).toEqual(['greedy', 'greedy', 'other', 'greedy', 'other']);
  for (let n = 0; n < 97; n++) heard.push(...serve(worker('a/0')));
  const ids = greedy.got().map(({ id }) => id);
  expect(ids).toEqual(Array.from({ length: 100 }, (_, id) => id));
});

test('[BU29] who waits for one worker, in a session, does not go before who waits for any', async () => {
  const { worker, connect } = await openSmallBus({ pools: [{ id: 'a', inFlightMax: 1 }] });
  const [greedy, other] = [connect(), connect()];
  for (let id = 0; id < 100; id++) greedy.ask(id, 'greedy', { sessionId: 's' });
  for (let id = 0; id < 2; id++) other.ask(id, 'other');
  const heard: Message[] = [];
  for (let n = 0; n < 5; n++) heard.push(...serve(worker('a/0')));
  expect(askers(heard)).toEqual(['greedy', 'greedy', 'other', 'greedy', 'other']);
});

test('[BU29] a client leaves places at a worker to others, unless it is alone', async () => {
  const { worker, connect } = await openSmallBus({ pools: [{ id: 'a', inFlightMax: 8 }] });
  const greedy = connect();
  for (let id = 0; id < 9; id++) greedy.ask(id, 'greedy');
  expect(hear(worker('a/0'))).toHaveLength(8);
  worker('a/0').answer(() => 0, false);
  const other = connect();
  for (let n = 0; n < 8; n++) worker('a/0').answer(() => 0, false);
  for (let id = 10; id < 20; id++) greedy.ask(id, 'greedy');
  expect(hear(worker('a/0'))).toHaveLength(7);
  other.ask(1, 'other');
  expect(askers(hear(worker('a/0')))).toEqual(['other']);
});

test('[BU29] what a client gave up counts as its own until the worker has answered it', async () => {
  const { clock, worker, connect } = await openSmallBus({ pools: [{ id: 'a', inFlightMax: 8 }] });
  const [greedy, other] = [connect(), connect()];
  for (let round = 0; round < 3; round++) {
    for (let id = 0; id < 7; id++) greedy.ask(id, 'greedy');
    for (let id = 0; id < 7; id++) greedy.send({ method: '$/cancelRequest', params: { id } });
  }
  expect(greedy.got()).toHaveLength(21);
  const requests = hear(worker('a/0')).filter(({ id }) => id !== undefined);
  expect(requests).toHaveLength(7);
  other.ask(1, 'other');
  expect(askers(hear(worker('a/0')))).toEqual(['other']);
  // The worker never answers what was given up: after a time it holds no place any more.
  clock.advance(60_000);
  for (let id = 30; id < 37; id++) greedy.ask(id, 'greedy');
  expect(askers(hear(worker('a/0')))).toContain('greedy');
});

test('[BU29] of the bytes that may wait a client leaves some to others', async () => {
  const { connect } = await openSmallBus({
    pools: [{ id: 'a', inFlightMax: 1 }],
    limits: { queueBytesMax: 8_000 },
  });
  const [greedy, other] = [connect(), connect()];
  const large = { params: { x: 'x'.repeat(900) } };
  for (let id = 0; id < 12; id++) greedy.ask(id, 'greedy', large);
  const refusals = greedy.got();
  expect(refusals.length).toBeGreaterThan(0);
  for (const refusal of refusals) expect(refusal).toEqual(refused(refusal.id, 'bus.queue-full'));
  other.ask(1, 'other', { params: { x: 'x'.repeat(500) } });
  expect(other.got()).toEqual([]);
});

test('[BU5] [BU29] a session keeps its order also where two clients speak in it', async () => {
  const { worker, connect } = await openSmallBus({ pools: [{ id: 'a', inFlightMax: 1 }] });
  const [one, two] = [connect(), connect()];
  one.ask(0, 'first');
  for (let n = 1; n <= 3; n++) one.ask(n, 'alone');
  const said: string[] = [];
  for (let n = 0; n < 6; n++) {
    const client = n % 2 === 0 ? one : two;
    client.ask(`s${n}`, `m${n}`, { sessionId: 's' });
    said.push(`m${n}`);
  }
  const heard: Message[] = [];
  for (let n = 0; n < 12; n++) heard.push(...serve(worker('a/0')));
  expect(askers(heard).filter((method) => method.startsWith('m'))).toEqual(said);
});

test('[BU5] order within a session is kept over full workers, deaths and queues', async () => {
  const { worker, connect } = await openSmallBus({
    pools: [{ id: 'a', instances: 2, inFlightMax: 1 }],
  });
  const [client, other] = [connect(), connect()];
  const order: string[] = [];
  for (let n = 1; n <= 6; n += 1) client.ask(n, `m${n}`, { sessionId: 's' });
  other.ask(1, 'other');
  client.send({ method: 'note', sessionId: 's' });
  worker('a/0').crash(true);
  worker('a/0').comeUp();
  for (let round = 0; round < 10; round += 1) {
    for (const name of ['a/0', 'a/1']) {
      for (const { method, sessionId } of serve(worker(name))) {
        if (sessionId === 's') order.push(method);
      }
    }
  }
  expect(order).toEqual(['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'note']);
  expect(
    client
      .got()
      .filter(({ result }) => result)
      .map(({ id }) => id),
  ).toEqual([1, 2, 3, 4, 5, 6]);
});

test('[BU5] what a worker never took goes before what came later, also when it dies twice', async () => {
  const { worker, connect } = await openSmallBus({ pools: [{ id: 'a', inFlightMax: 1 }] });
  const client = connect();
  const one = worker('a/0');
  for (const id of [1, 2, 3]) client.ask(id, `m${id}`, { sessionId: 's' });
  for (let deaths = 0; deaths < 2; deaths += 1) {
    one.crash(true);
    one.comeUp();
  }
  const order = [...serve(one), ...serve(one), ...serve(one)].map(({ method }) => method);
  expect(order).toEqual(['m1', 'm2', 'm3']);
});

test('[BU5] while something of a session waits, what comes later waits behind it', async () => {
  const { worker, connect } = await openSmallBus({ pools: [{ id: 'a' }, { id: 'b' }] });
  const client = connect();
  client.ask(1, 'm1', { sessionId: 's', pool: 'a' });
  worker('a/0').crash(true);
  client.ask(2, 'm2', { sessionId: 's' });
  expect(hear(worker('b/0'))).toEqual([]);
  worker('a/0').comeUp();
  expect(serve(worker('a/0')).map(({ method }) => method)).toEqual(['m1', 'm2']);
});

test('[BU21] a worker that does not read: over the bound it is refused, and what was taken is kept', async () => {
  const { worker, connect } = await openSmallBus({ limits: { queueBytesMax: 1_000 } });
  const client = connect();
  const big = { params: { x: 'x'.repeat(5_000) } };
  client.ask(1, 'big', big);
  client.ask(2, 'm');
  expect(client.got()).toMatchObject([
    { id: 2, error: { code: 9, data: { code: 'bus.queue-full', limit: 1_000, retryable: true } } },
  ]);
  expect(hear(worker('a/0'))).toMatchObject([{ method: 'big', ...big }]);
  client.ask(3, 'm');
  expect(client.got()).toEqual([]);
  expect(hear(worker('a/0'))).toMatchObject([{ method: 'm' }]);
});

test('[BU21] what waits for a busy worker is bounded likewise, and one message always may', async () => {
  const { worker, connect } = await openSmallBus({
    pools: [{ id: 'a', inFlightMax: 1 }],
    limits: { queueBytesMax: 1_000, pendingMax: 4 },
  });
  const client = connect();
  client.ask(1, 'first');
  client.ask(2, 'big', { params: { x: 'x'.repeat(5_000) } });
  client.ask(3, 'third');
  expect(client.got()).toEqual([refused(3, 'bus.queue-full')]);
  serve(worker('a/0'));
  serve(worker('a/0'));
  expect(client.got()).toEqual([answered(1, 'first'), answered(2, 'big')]);
  for (const id of [4, 5, 6, 7, 8]) client.ask(id, 'm');
  expect(client.got()).toEqual([refused(8, 'bus.queue-full')]);
});

test('[BU21] what waits goes on once the worker has read what stood before it, also notifications', async () => {
  const { clock, worker, connect } = await openSmallBus({
    pools: [{ id: 'a', inFlightMax: 1 }],
    limits: { queueBytesMax: 1_000 },
  });
  const client = connect();
  client.ask(1, 'first', { sessionId: 's' });
  worker('a/0').take();
  client.send({ method: 'note', sessionId: 's', params: { x: 'x'.repeat(900) } });
  client.ask(2, 'second', { sessionId: 's' });
  worker('a/0').answer(() => 0, false);
  expect(hear(worker('a/0'))).toMatchObject([{ method: 'note' }]);
  clock.advance(5_000);
  expect(serve(worker('a/0'))).toMatchObject([{ method: 'second' }]);
});

test('[BU3] a bus with one client says in the first error what the worker said last', async () => {
  const { worker, connect } = await openSmallBus({ isPrivate: true });
  const client = connect();
  client.ask(1, 'm');
  hear(worker('a/0'));
  worker('a/0').crash(true, ['the cause', '   at line 7']);
  expect(client.got()[0].error).toMatchObject({
    message: expect.stringContaining('it said last: the cause |    at line 7'),
    data: { stderr: ['the cause', '   at line 7'], retryable: false },
  });
});

test('[BU3] what a worker wrote to stderr is told to nobody who shares the bus', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.ask(1, 'm');
  hear(worker('a/0'));
  worker('a/0').crash(true, ['password: hunter2']);
  const text = client.gotText().join();
  expect(text).toContain('bus.worker-died');
  expect(text).not.toContain('hunter2');
});
