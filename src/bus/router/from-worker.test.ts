/** What a worker says, and whom it may say it to. */
import { expect, test } from 'vitest';
import {
  answered,
  hear,
  openSmallBus,
  refused,
  say,
  serve,
} from '../../../test/simulation/bus/small-bus.ts';

const TWO = { pools: [{ id: 'a' }, { id: 'b' }] };

test('[BU8] a worker cannot speak into a session of another, nor ask there', async () => {
  const { bus, worker, connect } = await openSmallBus(TWO);
  const [ada, bob] = [connect(), connect()];
  ada.ask(1, 'm', { sessionId: 'of-a', pool: 'a' });
  bob.ask(1, 'm', { sessionId: 'of-b', pool: 'b' });
  serve(worker('a/0'));
  serve(worker('b/0'));
  ada.got();
  const before = bus.stats().routing_errors;
  say(worker('b/0'), { method: 'update', sessionId: 'of-a', params: {} });
  say(worker('b/0'), { id: 5, method: 'fs/read', sessionId: 'of-a', params: {} });
  say(worker('b/0'), { method: 'update', sessionId: 'nobody', params: {} });
  say(worker('b/0'), { method: 'update', params: {} });
  expect(ada.got()).toEqual([]);
  expect(hear(worker('b/0'))).toEqual([refused(5, 'bus.no-client')]);
  expect(bus.stats().routing_errors).toBe(before + 4);
  say(worker('a/0'), { method: 'update', sessionId: 'of-a', params: {} });
  expect(ada.got()).toMatchObject([{ method: 'update' }]);
});

test('[BU8] not even by naming a request of its own from the same client', async () => {
  const { worker, connect } = await openSmallBus(TWO);
  const ada = connect();
  ada.ask(1, 'm', { sessionId: 'of-a', pool: 'a' });
  serve(worker('a/0'));
  ada.ask(2, 'm', { sessionId: 'of-b', pool: 'b' });
  ada.got();
  const [{ id: requestId }] = hear(worker('b/0'));
  say(worker('b/0'), { method: 'update', sessionId: 'of-a', _ext: { requestId } });
  say(worker('b/0'), { id: 5, method: 'fs/read', sessionId: 'of-a', _ext: { requestId } });
  expect(ada.got()).toEqual([]);
  expect(hear(worker('b/0'))).toEqual([refused(5, 'bus.no-client')]);
  say(worker('b/0'), { method: 'update', sessionId: 'of-b', _ext: { requestId } });
  expect(ada.got()).toMatchObject([{ method: 'update', _ext: { requestId: 2 } }]);
});

test('[BU8] a worker cannot answer what another was asked', async () => {
  const { worker, connect } = await openSmallBus(TWO);
  const client = connect();
  client.ask(1, 'm', { pool: 'a' });
  const [{ id }] = hear(worker('a/0'));
  say(worker('b/0'), { id, result: { method: 'forged' } });
  expect(client.got()).toEqual([]);
  say(worker('a/0'), { id, result: { method: 'm' } });
  expect(client.got()).toEqual([answered(1, 'm')]);
});

test('[BU20] what a session says belongs to its one request in flight', async () => {
  const { worker, connect } = await openSmallBus();
  const [ada, bob] = [connect(), connect()];
  const chunk = { method: 'session/update', sessionId: 's', params: {} };
  ada.send('{"id":1.50,"method":"m","sessionId":"s"}');
  bob.ask(9, 'stdio_bus/attach', { params: { sessionId: 's' } });
  bob.got();
  say(worker('a/0'), chunk);
  // As it was written: a number is not read and written again.
  expect(ada.gotText()).toEqual([expect.stringContaining('"_ext":{"seq":1,"requestId":1.50}')]);
  expect(bob.got()).toEqual([{ jsonrpc: '2.0', ...chunk, _ext: { seq: 1 } }]);
  ada.ask(2, 'm', { sessionId: 's' });
  say(worker('a/0'), chunk);
  expect(ada.got()).toEqual([{ jsonrpc: '2.0', ...chunk, _ext: { seq: 2 } }]);
});

test('[BU20] the request a worker names is translated for its client, and for nobody else', async () => {
  const { worker, connect } = await openSmallBus();
  const [ada, bob] = [connect(), connect()];
  ada.ask('x', 'm', { sessionId: 's' });
  ada.ask('y', 'm', { sessionId: 's' });
  bob.ask('z', 'm');
  const [, { id: requestId }, { id: ofBob }] = hear(worker('a/0'));
  bob.ask(9, 'stdio_bus/attach', { params: { sessionId: 's' } });
  bob.got();
  say(worker('a/0'), { method: 'update', sessionId: 's', _ext: { requestId, seq: 9, more: 'ü' } });
  expect(ada.got()).toMatchObject([{ _ext: { requestId: 'y', seq: 1, more: 'ü' } }]);
  const [{ _ext: ext }] = bob.got();
  expect(ext).toEqual({ seq: 1, more: 'ü' });
  // Without a session, who asked is who hears.
  say(worker('a/0'), { method: 'update', _ext: { requestId: ofBob } });
  expect(bob.got()).toMatchObject([{ _ext: { requestId: 'z' } }]);
  expect(ada.got()).toEqual([]);
});

test('[WO14] a worker is watched while it owes an answer, but not while it waits for one', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  const one = worker('a/0');
  client.send({ method: 'note', sessionId: 's' });
  expect(one.isAwaited).toBe(false);
  for (const id of [1, 2]) client.ask(id, 'm', { sessionId: 's' });
  const [, first, second] = hear(one);
  say(one, { id: first.id, result: {} });
  expect(one.isAwaited).toBe(true);
  say(one, { id: 'q', method: 'may/i', sessionId: 's' });
  expect(one.isAwaited).toBe(false);
  client.ask(3, 'm');
  expect(one.isAwaited).toBe(false);
  client.send({ id: client.got().at(-1).id, result: {} });
  expect(one.isAwaited).toBe(true);
  // Taken back or not, a worker that is asked must answer.
  for (const id of [2, 3]) client.send({ method: '$/cancelRequest', params: { id } });
  const [third] = hear(one);
  say(one, { id: second.id, result: {} });
  expect(one.isAwaited).toBe(true);
  say(one, { id: third.id, result: {} });
  expect(one.isAwaited).toBe(false);
});

test('[BU11] what is no message is given to the worker’s count of stray lines', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  for (const line of ['Loading …', '[]', '{}', '"x"', '{"id":{},"result":1}']) {
    say(worker('a/0'), line);
  }
  expect(worker('a/0').strays).toHaveLength(5);
  expect(client.got()).toEqual([]);
});
