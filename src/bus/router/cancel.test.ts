/** A request ends before its worker is done: taken back, or out of time. */
import { describe, expect, test } from 'vitest';
import {
  answered,
  hear,
  openSmallBus,
  refused,
  say,
  serve,
} from '../../../test/simulation/bus/small-bus.ts';

test.each<[string, string]>([
  ['$/cancelRequest', 'id'],
  ['$/cancel_request', 'requestId'],
  ['notifications/cancelled', 'requestId'],
])(
  '[BU13] %s: answered at once, the worker is told in the same words, its late answer is nobody’s',
  async (method, member) => {
    const { bus, worker, connect } = await openSmallBus();
    const client = connect();
    client.ask(1, 'm');
    const [{ id }] = hear(worker('a/0'));
    client.send({ method, params: { [member]: 1 } });
    expect(client.got()).toEqual([refused(1, 'bus.cancelled', true)]);
    expect(hear(worker('a/0'))).toEqual([{ jsonrpc: '2.0', method, params: { [member]: id } }]);
    const before = bus.stats().routing_errors;
    say(worker('a/0'), { id, result: {} });
    expect(client.got()).toEqual([]);
    expect(bus.stats().routing_errors).toBe(before);
    expect(bus.counts().pending).toBe(0);
  },
);

test('[BU13] its client is gone: the worker is told, its place is free, and the record says so', async () => {
  const { bus, worker, connect, audits } = await openSmallBus({
    pools: [{ id: 'a', inFlightMax: 2 }],
  });
  const [gone, other] = [connect('gone'), connect('other')];
  gone.ask(1, 'running', { sessionId: 's' });
  const [{ id }] = hear(worker('a/0'));
  gone.ask(2, 'handed');
  gone.ask(3, 'waiting');
  other.ask(1, 'm');
  gone.peer.close('closed', false);
  const told = hear(worker('a/0'));
  expect(told.map(({ method }) => method)).toEqual(['handed', ...Array(2).fill('$/cancelRequest')]);
  expect(told[1].params).toEqual({ id });
  say(worker('a/0'), { id, error: { code: -32_800, message: 'cancelled' } });
  expect(serve(worker('a/0'))).toMatchObject([{ method: 'm' }]);
  expect(other.got()).toEqual([answered(1, 'm')]);
  expect(bus.counts()).toMatchObject({ clients: 1, pending: 0 });
  expect(audits.map(({ action, outcome }) => [action, outcome])).toEqual([
    ['running', 'client gone'],
    ['handed', 'client gone'],
    ['waiting', 'client gone'],
    ['m', 'ok'],
  ]);
});

test('[BU13] what no worker has yet never runs, and says so', async () => {
  const { worker, connect } = await openSmallBus({ pools: [{ id: 'a', inFlightMax: 1 }] });
  const client = connect();
  for (const id of [1, 2, 3]) client.ask(id, `m${id}`);
  client.send({ method: '$/cancelRequest', params: { id: 2 } });
  expect(client.got()).toEqual([refused(2, 'bus.cancelled', false)]);
  expect(serve(worker('a/0')).map(({ method }) => method)).toEqual(['m1']);
  expect(serve(worker('a/0')).map(({ method }) => method)).toEqual(['m3']);
  expect(client.got()).toEqual([answered(1, 'm1'), answered(3, 'm3')]);
});

test.each(['"grüße"', '"\\u00e9"', '1.0', '12345678901234567890', '-7', '""'])(
  '[BU13] the id %s is found as it was written',
  async (id) => {
    const { connect } = await openSmallBus();
    const client = connect();
    client.send(`{"id":${id},"method":"m"}`);
    client.send(`{"method":"$/cancelRequest","params":{"id":${id}}}`);
    expect(client.got()).toMatchObject([{ error: { data: { code: 'bus.cancelled' } } }]);
  },
);

test('[BU13] nobody can cancel the request of another', async () => {
  const { bus, connect } = await openSmallBus();
  connect().ask(1, 'm');
  const other = connect();
  other.send({ method: '$/cancelRequest', params: { id: 1 } });
  expect(other.got()).toEqual([]);
  expect(bus.counts().pending).toBe(1);
});

test('[BU13] a request has the time it asked for, else that of the bus', async () => {
  const { clock, worker, connect } = await openSmallBus({ limits: { requestMs: 1_000 } });
  const client = connect();
  client.ask(1, 'quick', { _ext: { timeoutMs: 100 } });
  client.ask(2, 'patient', { _ext: { timeoutMs: 5_000 } });
  client.ask(3, 'plain');
  hear(worker('a/0'));
  clock.advance(99);
  expect(client.got()).toEqual([]);
  clock.advance(1);
  expect(client.got()).toEqual([refused(1, 'bus.timed-out', true)]);
  expect(hear(worker('a/0'))).toMatchObject([{ method: '$/cancelRequest' }]);
  clock.advance(960);
  expect(client.got()).toEqual([refused(3, 'bus.timed-out', true)]);
  clock.advance(4_000);
  expect(client.got()).toEqual([refused(2, 'bus.timed-out', true)]);
});

test('[BU13] a worker that never answers what was cancelled gets its room back in time', async () => {
  const { clock, worker, connect } = await openSmallBus({
    pools: [{ id: 'a', inFlightMax: 1 }],
    limits: { requestMs: 1_000 },
  });
  const client = connect();
  client.ask(1, 'ignored');
  hear(worker('a/0'));
  client.send({ method: '$/cancelRequest', params: { id: 1 } });
  client.ask(2, 'next', { _ext: { timeoutMs: 60_000 } });
  expect(hear(worker('a/0'))).toMatchObject([{ method: '$/cancelRequest' }]);
  clock.advance(1_200);
  expect(serve(worker('a/0'))).toMatchObject([{ method: 'next' }]);
});

test('[BU13] nobody cancels another’s request, whatever id it names', async () => {
  const { worker, connect } = await openSmallBus();
  const [ada, bob] = [connect(), connect()];
  ada.ask(1, 'm');
  const [{ id }] = hear(worker('a/0'));
  for (const method of ['$/cancelRequest', 'notifications/cancelled']) {
    for (const named of [1, id]) bob.send({ method, params: { id: named, requestId: named } });
  }
  expect(hear(worker('a/0'))).toEqual([]);
  say(worker('a/0'), { id, result: {} });
  expect(ada.got()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
});

test('[BU13] what its worker never answers gives its place back, and is told in the log', async () => {
  const { bus, clock, logs, worker, connect } = await openSmallBus({
    pools: [{ id: 'a', inFlightMax: 1 }],
  });
  const client = connect();
  client.ask(1, 'm', { _ext: { timeoutMs: 100 } });
  hear(worker('a/0'));
  clock.advance(101);
  expect(client.got()).toEqual([refused(1, 'bus.timed-out', true)]);
  client.ask(2, 'm');
  expect(bus.counts().pending).toBe(1);
  clock.advance(40_000);
  expect(hear(worker('a/0')).map(({ method }) => method)).toContain('m');
  expect(logs.map(({ text }) => text).join()).toMatch(/a\/0.*never answered 1 request/);
});

describe('[BU13] the turn of an ACP agent', () => {
  const prompt = { sessionId: 'agent-1', prompt: [{ type: 'text', text: 'hi' }] };

  test('is ended by its session as well, with what the bus routed it by', async () => {
    const { worker, connect } = await openSmallBus();
    const client = connect();
    client.send({
      ...{ id: 1, method: 'session/prompt', sessionId: 'bus-1', agentId: 'a', params: prompt },
    });
    const [{ id }] = hear(worker('a/0'));
    client.send({ method: '$/cancelRequest', params: { id: 1 } });
    expect(hear(worker('a/0'))).toEqual([
      { jsonrpc: '2.0', method: '$/cancelRequest', params: { id } },
      {
        ...{ jsonrpc: '2.0', method: 'session/cancel', sessionId: 'bus-1', agentId: 'a' },
        params: { sessionId: 'agent-1' },
      },
    ]);
  });

  test('is ended when its client is gone, and goes on while another wants it', async () => {
    const { worker, connect } = await openSmallBus();
    const [gone, other] = [connect('gone'), connect('other')];
    gone.send({ id: 1, method: 'session/prompt', params: prompt });
    other.send({ id: 1, method: 'session/prompt', params: prompt });
    hear(worker('a/0'));
    gone.peer.close('closed', false);
    expect(hear(worker('a/0')).map(({ method }) => method)).toEqual(['$/cancelRequest']);
    other.peer.close('closed', false);
    expect(hear(worker('a/0')).map(({ method }) => method)).toEqual([
      '$/cancelRequest',
      'session/cancel',
    ]);
  });

  test.each([{}, { sessionId: 7 }, [1], 'text'])('params %j name none', async (params) => {
    const { worker, connect } = await openSmallBus();
    const client = connect();
    client.send({ id: 1, method: 'session/prompt', params });
    hear(worker('a/0'));
    client.send({ method: '$/cancelRequest', params: { id: 1 } });
    expect(hear(worker('a/0')).map(({ method }) => method)).toEqual(['$/cancelRequest']);
  });
});
