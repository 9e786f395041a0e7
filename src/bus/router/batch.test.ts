/** Batches: one array for one array. */
import { expect, test } from 'vitest';
import {
  answered,
  hear,
  openSmallBus,
  refused,
  say,
  serve,
} from '../../../test/simulation/bus/small-bus.ts';

test('[BU9] a batch is answered with one array, when all of it is', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.send(
    '[{"id":1,"method":"m"},{"method":"note"},{"id":2,"method":"m"},{"id":3,"method":"stdio_bus/ping"},7,{"id":4,"method":"m","pool":"nowhere"}]',
  );
  const [first, note, second] = hear(worker('a/0'));
  expect(note).toMatchObject({ method: 'note' });
  say(worker('a/0'), { id: second.id, result: { method: 'm' } });
  expect(client.got()).toEqual([]);
  say(worker('a/0'), { id: first.id, result: { method: 'm' } });
  const [array, ...rest] = client.got();
  expect(rest).toEqual([]);
  expect(array).toHaveLength(5);
  expect(array).toEqual(
    expect.arrayContaining([
      answered(1, 'm'),
      answered(2, 'm'),
      { jsonrpc: '2.0', id: 3, result: { pong: true } },
      refused(null, 'bus.invalid'),
      refused(4, 'bus.pool-unknown'),
    ]),
  );
});

test('[BU9] notifications alone get no answer, an empty batch an error, cancelled parts theirs', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.send('[{"method":"note"},{"method":"note"}]');
  expect(serve(worker('a/0'))).toHaveLength(2);
  expect(client.got()).toEqual([]);
  client.send('[]');
  expect(client.got()).toEqual([refused(null, 'bus.invalid')]);
  client.send('[{"id":1,"method":"m"},{"id":2,"method":"m"}]');
  client.send({ method: '$/cancelRequest', params: { id: 1 } });
  expect(client.got()).toEqual([]);
  serve(worker('a/0'));
  expect(client.got()).toEqual([[refused(1, 'bus.cancelled', true), answered(2, 'm')]]);
});

test('[BU9] an attach does not stand in a batch: what it costs is what the session said', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.ask(1, 'm', { sessionId: 's' });
  serve(worker('a/0'));
  client.got();
  const attach = { method: 'stdio_bus/attach', params: { sessionId: 's', after: 0 } };
  client.send(`[${JSON.stringify({ id: 2, ...attach })},{"id":3,"method":"stdio_bus/ping"}]`);
  const [[refusal, pong]] = client.got();
  expect(refusal).toMatchObject({ id: 2, error: { data: { code: 'bus.invalid' } } });
  expect(pong).toMatchObject({ id: 3, result: { pong: true } });
});

test('[BU7] [BU9] one that is cut off within its batch leaves nothing behind that counts as listening', async () => {
  const { worker, connect } = await openSmallBus({
    limits: { queueBytesMax: 2_000 },
  });
  const owner = connect();
  owner.ask(1, 'm', { sessionId: 's' });
  const [{ id }] = hear(worker('a/0'));
  say(worker('a/0'), { id, result: {} });
  const client = connect();
  // It is told of each that is dropped, which is more than it may leave unread before its last element.
  const dropped = Array.from({ length: 100 }, () => ({ method: 'note', pool: 'nowhere' }));
  client.send(JSON.stringify([...dropped, { method: 'note', sessionId: 's' }]));
  expect(client.peer.closedBy).toBe('timeout');
  owner.peer.close('closed', false);
  say(worker('a/0'), { method: 'said', sessionId: 's' });
  const next = connect();
  next.ask(1, 'stdio_bus/attach', { params: { sessionId: 's' } });
  expect(next.got().at(-1)).toMatchObject({ id: 1, result: { missed: 1 } });
});
