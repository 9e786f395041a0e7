/** The end of a request: one answer, to whoever asked, under the id it was asked with. */
import { expect, test } from 'vitest';
import {
  answered,
  hear,
  openSmallBus,
  refused,
  say,
  serve,
} from '../../../test/simulation/bus/small-bus.ts';

test('[BU1] a worker that answers twice, late or what nobody asked gives nobody a second answer', async () => {
  const { bus, worker, connect } = await openSmallBus();
  const client = connect();
  client.ask(1, 'm');
  client.ask(2, 'gone', { _ext: { timeoutMs: 50 } });
  const [first, second] = hear(worker('a/0'));
  say(worker('a/0'), { id: first.id, result: { method: 'm' } });
  say(worker('a/0'), { id: first.id, error: { code: 1, message: 'no, wait' } });
  say(worker('a/0'), { id: 'made up', result: {} });
  say(worker('a/0'), { id: null, result: {} });
  expect(client.got()).toEqual([answered(1, 'm')]);
  client.send({ method: '$/cancelRequest', params: { id: 2 } });
  say(worker('a/0'), { id: second.id, result: {} });
  expect(client.got()).toEqual([refused(2, 'bus.cancelled', true)]);
  expect(bus.counts().pending).toBe(0);
});

test('[BU1] two requests under one id of one client are both answered', async () => {
  const { bus, worker, connect } = await openSmallBus();
  const client = connect();
  client.ask(1, 'first');
  client.ask(1, 'second');
  client.ask(1, 'third');
  serve(worker('a/0'));
  expect(client.got()).toEqual(['first', 'second', 'third'].map((method) => answered(1, method)));
  expect(bus.counts().pending).toBe(0);
  expect(client.peer.attachment?.owed).toBe(0);
});

test('[BU1] the newest of one id answered first, the oldest is still owed and can be taken back', async () => {
  const { bus, worker, connect } = await openSmallBus();
  const client = connect();
  for (const method of ['first', 'second', 'third']) client.ask(1, method);
  const [, second, third] = hear(worker('a/0'));
  for (const { id, method } of [third, second]) say(worker('a/0'), { id, result: { method } });
  expect(client.got()).toEqual([answered(1, 'third'), answered(1, 'second')]);
  expect(client.peer.attachment?.owed).toBe(1);
  client.send({ method: '$/cancelRequest', params: { id: 1 } });
  expect(client.got()).toEqual([refused(1, 'bus.cancelled', true)]);
  expect(client.peer.attachment?.owed).toBe(0);
  expect(bus.counts().pending).toBe(0);
});

test('[BU1] what no worker can get is answered at once', async () => {
  const { bus, worker, connect } = await openSmallBus();
  const client = connect();
  worker('a/0').crash(false);
  client.ask(1, 'm');
  expect(client.got()).toEqual([refused(1, 'bus.no-worker')]);
  expect(bus.counts().pending).toBe(0);
});

test('[BU2] two clients with the same id each get their own answer, whoever is served first', async () => {
  const { worker, connect } = await openSmallBus();
  const [ada, bob] = [connect(), connect()];
  ada.ask(1, 'of-ada');
  bob.ask(1, 'of-bob');
  const heard = hear(worker('a/0'));
  expect(new Set(heard.map(({ id }) => id)).size).toBe(2);
  for (const { id, method } of heard.reverse()) say(worker('a/0'), { id, result: { method } });
  expect(ada.got()).toEqual([answered(1, 'of-ada')]);
  expect(bob.got()).toEqual([answered(1, 'of-bob')]);
});

test.each([
  '1.5',
  '-7',
  '0',
  '"x"',
  'null',
  '"\\u00e9 \\" \\\\"',
  '"grüße 日本"',
  '1e3',
  '12345678901234567890',
  'true',
  '""',
  `"${'long '.repeat(100)}"`,
])('[BU2] the id %s comes back as it was written', async (id) => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.send(`{"jsonrpc":"2.0","id":${id},"method":"m"}`);
  const [{ id: wireId }] = hear(worker('a/0'));
  expect(wireId).toMatch(/^s/);
  say(worker('a/0'), { id: wireId, result: {} });
  expect(client.gotText()).toEqual([`{"jsonrpc":"2.0","id":${id},"result":{}}`]);
});

test('[BU2] the answers of a client that left go to nobody', async () => {
  const { bus, worker, connect } = await openSmallBus();
  const [ada, bob] = [connect(), connect()];
  ada.ask(1, 'm');
  bob.ask(1, 'm');
  ada.peer.close('closed', false);
  serve(worker('a/0'));
  expect(bob.got()).toEqual([answered(1, 'm')]);
  expect(bus.counts()).toMatchObject({ clients: 1, pending: 0 });
});
