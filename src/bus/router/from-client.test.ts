/** What a client says, and that none of it disappears. */
import { expect, test } from 'vitest';
import { answered, openSmallBus, refused, serve } from '../../../test/simulation/bus/small-bus.ts';

test.each<[string, string, number, string]>([
  ['no JSON', '{"id":1,', -32_700, 'bus.parse'],
  ['broken inside', '{"id":1,"method":"m","params":{"x":}}', -32_700, 'bus.parse'],
  ['no object', '"m"', -32_700, 'bus.parse'],
  ['more than one message', '{"id":1,"method":"m"} {"id":2}', -32_700, 'bus.parse'],
  ['too deep', `{"id":1,"x":${'['.repeat(600)}${']'.repeat(600)}}`, -32_700, 'bus.parse'],
  ['two ids', '{"id":1,"method":"m","\\u0069d":2}', -32_600, 'bus.invalid'],
])('[BU11] a line that is %s is answered, and the next one is read', async (_, line, rpc, code) => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.send(line);
  client.ask(2, 'm');
  serve(worker('a/0'));
  expect(client.got()).toMatchObject([
    { id: null, error: { code: rpc, data: { code } } },
    answered(2, 'm'),
  ]);
});

test.each<[string, object, string]>([
  ['an object that is no message', { id: 7 }, 'bus.invalid'],
  ['an _ext that is none', { id: 7, method: 'm', _ext: 'x' }, 'bus.invalid'],
  ['a time that is none', { id: 7, method: 'm', _ext: { timeoutMs: 0 } }, 'bus.invalid'],
  ['a key that is none', { id: 7, method: 'm', _ext: { idempotencyKey: '' } }, 'bus.invalid'],
  ['a method the bus does not have', { id: 7, method: 'stdio_bus/no' }, 'bus.method-unknown'],
])('[BU11] %s is refused under its id, and no worker sees it', async (_, message, code) => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.send(message);
  expect(client.got()).toEqual([refused(7, code)]);
  expect(serve(worker('a/0'))).toEqual([]);
});

test.each<[string, object, string]>([
  ['an unknown pool', { pool: 'nowhere' }, 'bus.pool-unknown'],
  ['a full queue', {}, 'bus.queue-full'],
  ['an _ext that is none', { _ext: [] }, 'bus.invalid'],
  ['a name of the bus’s own', { method: 'stdio_bus/session_lost' }, 'bus.method-unknown'],
])(
  '[BU11] a notification that cannot be passed on, for %s, is told by stdio_bus/dropped',
  async (_, more, code) => {
    const { bus, worker, connect } = await openSmallBus({ limits: { queueBytesMax: 100 } });
    const client = connect();
    client.ask(1, 'fill', { params: { x: 'x'.repeat(200) } });
    const message = { method: 'note', ...more };
    client.send(message);
    expect(client.got()).toEqual([
      {
        jsonrpc: '2.0',
        method: 'stdio_bus/dropped',
        params: { method: message.method, code, reason: expect.any(String) },
      },
    ]);
    expect(bus.stats().routing_errors).toBe(1);
    expect(serve(worker('a/0'))).toHaveLength(1);
  },
);

test('[BU11] an answer of a client to no question is counted', async () => {
  const { bus, connect, worker } = await openSmallBus();
  connect().send({ id: 'w1', result: {} });
  expect(bus.stats().routing_errors).toBe(1);
  expect(serve(worker('a/0'))).toEqual([]);
});

test('[BU11] a notification a worker never took before it died is in the log', async () => {
  const { connect, worker, logs } = await openSmallBus();
  connect().send({ method: 'note' });
  worker('a/0').crash(true);
  expect(logs).toContainEqual({
    level: 'warn',
    text: expect.stringMatching(/a\/0.*1 messages without an id were not delivered/),
  });
});

test('[BU11] a frame that was too large is answered, with the limit', async () => {
  const { connect, bus } = await openSmallBus({ limits: { messageBytesMax: 50 } });
  const client = connect();
  client.peer.attachment?.tooLarge(51, 'length');
  expect(client.got()).toMatchObject(
    [
      {
        id: null,
        error: {
          code: -32_600,
          message: /^Frame too large/,
          data: { code: 'bus.too-large', limit: 50 },
        },
      },
    ].map((one) => ({
      ...one,
      error: { ...one.error, message: expect.stringMatching(/^Frame too large/) },
    })),
  );
  expect(bus.stats().routing_errors).toBe(1);
});
