/** Idempotency keys: the same key runs once. */
import { expect, test } from 'vitest';
import {
  answered,
  hear,
  openSmallBus,
  refused,
  say,
  serve,
} from '../../../test/simulation/bus/small-bus.ts';

const keyed = (key = 'k', params: object = {}): object => ({
  params,
  _ext: { idempotencyKey: key },
});

test('[BU12] who repeats a key while it runs waits for the same answer; who comes later has it', async () => {
  const { bus, worker, connect, audits } = await openSmallBus();
  const [ada, bob] = [connect(), connect()];
  ada.ask(1, 'm', keyed());
  bob.ask('b', 'm', keyed());
  ada.ask(2, 'm', keyed());
  expect(serve(worker('a/0'))).toHaveLength(1);
  expect(ada.got()).toEqual([answered(1, 'm'), answered(2, 'm')]);
  expect(bob.got()).toEqual([answered('b', 'm')]);
  bob.ask('c', 'm', keyed());
  expect(bob.got()).toEqual([answered('c', 'm')]);
  expect(serve(worker('a/0'))).toEqual([]);
  expect(bus.counts().pending).toBe(0);
  expect(audits.map(({ outcome }) => outcome)).toEqual(['ok', 'repeated', 'repeated', 'repeated']);
});

test('[BU12] a key is one for each pool, agent and session; it may be one for all sessions of a pool', async () => {
  const small = await openSmallBus({
    pools: [
      { id: 'a', agents: ['x', 'y'] },
      { id: 'b', agents: ['z'] },
    ],
  });
  const client = small.connect();
  const places = [
    { pool: 'a' },
    { pool: 'b' },
    { agentId: 'x' },
    { agentId: 'y' },
    { agentId: 'z' },
    { pool: 'a', sessionId: 's1' },
    { pool: 'a', sessionId: 's2' },
    { pool: 'b', sessionId: 's1' },
  ];
  const runs = (): number => small.workers.flatMap((worker) => serve(worker)).length;
  for (const place of places) client.ask(1, 'm', { ...keyed(), ...place });
  expect(runs()).toBe(places.length);
  for (const place of places) client.ask(2, 'm', { ...keyed(), ...place });
  expect(runs()).toBe(0);
  expect(client.got()).toHaveLength(2 * places.length);
  const _ext = { idempotencyKey: 'once', idempotencyScope: 'pool' };
  for (const sessionId of ['s1', 's2', 's3']) client.ask(3, 'm', { pool: 'a', sessionId, _ext });
  client.ask(3, 'm', { pool: 'b', sessionId: 's1', _ext });
  expect(runs()).toBe(2);
  expect(client.got()).toHaveLength(4);
  client.ask(4, 'm', { _ext: { ..._ext, idempotencyScope: 'all' } });
  expect(client.got()).toEqual([refused(4, 'bus.invalid')]);
});

test('[BU12] an error the worker gave is an answer too, and is repeated', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.ask(1, 'm', keyed());
  const [{ id }] = hear(worker('a/0'));
  say(worker('a/0'), { id, error: { code: -1, message: 'no' } });
  client.ask(2, 'm', keyed());
  expect(client.got()).toMatchObject(
    [1, 2].map((id) => ({ id, error: { code: -1, message: 'no' } })),
  );
});

test('[BU12] a key for another request is refused, and the first one is not disturbed', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.ask(1, 'm', keyed());
  client.ask(2, 'other', keyed());
  client.ask(3, 'm', keyed('k', { x: 1 }));
  expect(client.got()).toEqual([refused(2, 'bus.key-reused'), refused(3, 'bus.key-reused')]);
  serve(worker('a/0'));
  expect(client.got()).toEqual([answered(1, 'm')]);
});

test('[BU12] a kept answer expires, and then the key runs again', async () => {
  const { clock, worker, connect } = await openSmallBus({ limits: { keyMs: 1_000 } });
  const client = connect();
  client.ask(1, 'm', keyed());
  serve(worker('a/0'));
  clock.advance(999);
  client.ask(2, 'm', keyed());
  expect(serve(worker('a/0'))).toEqual([]);
  clock.advance(2);
  client.ask(3, 'm', keyed());
  expect(serve(worker('a/0'))).toHaveLength(1);
  expect(client.got()).toHaveLength(3);
});

test('[BU12] after an error of the bus it runs again; who waited for it had the same error', async () => {
  const { bus, worker, connect } = await openSmallBus();
  const [ada, bob] = [connect(), connect()];
  ada.ask(1, 'm', keyed());
  bob.ask(1, 'm', keyed());
  hear(worker('a/0'));
  worker('a/0').crash(true);
  worker('a/0').comeUp();
  expect(ada.got()).toEqual([refused(1, 'bus.worker-died', true)]);
  expect(bob.got()).toEqual([refused(1, 'bus.worker-died', true)]);
  bob.ask(2, 'm', keyed());
  expect(serve(worker('a/0'))).toHaveLength(1);
  expect(bob.got()).toEqual([answered(2, 'm')]);
  expect(bus.counts().pending).toBe(0);
});

test('[BU12] a repeat that is cancelled leaves the first one alone', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.ask(1, 'm', keyed());
  client.ask(2, 'm', keyed());
  client.send({ method: '$/cancelRequest', params: { id: 2 } });
  serve(worker('a/0'));
  expect(client.got()).toEqual([refused(2, 'bus.cancelled'), answered(1, 'm')]);
});

test('[BU12] the client leaves: the answer is kept for whoever comes back with the key', async () => {
  const { bus, worker, connect } = await openSmallBus({ pools: [{ id: 'a', inFlightMax: 1 }] });
  const first = connect();
  first.ask(1, 'm', keyed());
  hear(worker('a/0'));
  // This one no worker has yet, and nobody else wants it: it never runs.
  first.ask(2, 'never', keyed('other'));
  first.peer.close('closed', false);
  const second = connect();
  second.ask(1, 'm', keyed());
  worker('a/0').answer(() => 0, false);
  expect(second.got()).toMatchObject([{ id: 1, result: {} }]);
  expect(hear(worker('a/0'))).toEqual([]);
  const third = connect();
  third.ask(1, 'm', keyed());
  expect(third.got()).toMatchObject([{ id: 1, result: {} }]);
  expect(bus.counts().pending).toBe(0);
});

test('[BU12] a key is its owner’s: nobody else gets the answer with it', async () => {
  const { worker, connect } = await openSmallBus();
  const ada = connect('ada', { subjectId: 'ada', role: 'lead', assertedBy: 'bus' });
  const bob = connect('bob', { subjectId: 'bob', role: 'lead', assertedBy: 'bus' });
  ada.ask(1, 'secret', keyed());
  serve(worker('a/0'));
  bob.ask(1, 'secret', keyed());
  connect().ask(1, 'secret', keyed());
  expect(bob.got()).toEqual([]);
  expect(serve(worker('a/0'))).toHaveLength(2);
  // Her own next connection does.
  const again = connect('ada', { subjectId: 'ada', role: 'lead', assertedBy: 'bus' });
  again.ask(5, 'secret', keyed());
  expect(again.got()).toEqual([answered(5, 'secret')]);
});

test('[BU12] the first one is cancelled: it goes on for whoever waits for the same', async () => {
  const { worker, connect } = await openSmallBus();
  const [ada, bob] = [connect(), connect()];
  ada.ask(1, 'm', { _ext: { idempotencyKey: 'k' } });
  bob.ask(2, 'm', { _ext: { idempotencyKey: 'k' } });
  const [{ id }] = hear(worker('a/0'));
  ada.send({ method: '$/cancelRequest', params: { id: 1 } });
  expect(ada.got()).toMatchObject([{ id: 1, error: { data: { code: 'bus.cancelled' } } }]);
  // The worker is not told: it is still wanted.
  expect(hear(worker('a/0'))).toEqual([]);
  say(worker('a/0'), { id, result: { done: true } });
  expect(bob.got()).toEqual([{ jsonrpc: '2.0', id: 2, result: { done: true } }]);
  ada.ask(3, 'm', { _ext: { idempotencyKey: 'k' } });
  expect(ada.got()).toEqual([{ jsonrpc: '2.0', id: 3, result: { done: true } }]);
});
