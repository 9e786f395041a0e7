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
