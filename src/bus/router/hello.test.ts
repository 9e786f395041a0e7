/** The handshake, answered by the bus itself. */
import { expect, test } from 'vitest';
import { openSmallBus, refused, serve } from '../../../test/simulation/bus/small-bus.ts';

test('[BU15] hello is answered by the bus: the version, a session, and what is active', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  const extensions = {
    cancel: { version: '1.0', required: true },
    identity: {},
    audit: { version: '2.0' },
    telepathy: { version: '1.0', required: false },
  };
  client.ask(1, 'stdio_bus/hello', { params: { protocolVersion: '0.1.0', extensions } });
  expect(client.got()).toEqual([
    {
      jsonrpc: '2.0',
      id: 1,
      result: {
        negotiatedProtocolVersion: '0.1.0',
        sessionId: expect.stringMatching(/^bus-/),
        extensions: {
          cancel: { selected: '1.0', active: true },
          identity: { selected: '1.0', active: true },
          audit: { selected: '', active: false },
          telepathy: { selected: '', active: false },
        },
      },
    },
  ]);
  client.ask(2, 'stdio_bus/hello', { sessionId: 'mine' });
  client.ask(3, 'stdio_bus/hello');
  const [mine, other] = client.got();
  expect(mine.result.sessionId).toBe('mine');
  expect(other.result.sessionId).not.toBe('mine');
  expect(serve(worker('a/0'))).toEqual([]);
});

test.each<[string, object]>([
  ['a version it does not speak', { protocolVersion: '1.0.0' }],
  ['an extension it must have', { extensions: { telepathy: { version: '1.0', required: true } } }],
  [
    'a version of an extension it must have',
    { extensions: { audit: { version: '2.0', required: true } } },
  ],
  ['a name that only an object has', { extensions: { constructor: { required: true } } }],
  ['a list of extensions', { extensions: ['audit'] }],
])('[BU15] hello with %s fails, and says what is offered', async (_, params) => {
  const { connect } = await openSmallBus();
  const client = connect();
  client.ask(1, 'stdio_bus/hello', { params });
  const [answer] = client.got();
  expect(answer).toEqual(refused(1, 'bus.negotiation'));
  expect(answer.error.code).toBe(6);
});
