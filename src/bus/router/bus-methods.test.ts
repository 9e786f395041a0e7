/** What the bus counts and records. */
import { expect, test } from 'vitest';
import { hear, openSmallBus, refused, say, serve } from '../../../test/simulation/bus/small-bus.ts';

test('[BU20] the eight counters and the counts are what happened', async () => {
  const { bus, worker, connect } = await openSmallBus({ pools: [{ id: 'a', instances: 2 }] });
  const [client, other] = [connect(), connect()];
  client.ask(1, 'm', { sessionId: 's' });
  client.send({ method: 'note', sessionId: 's' });
  client.ask(2, 'm', { pool: 'nowhere' });
  const bytesIn = worker('a/0').queuedBytes;
  serve(worker('a/0'));
  client.ask(3, 'm', { sessionId: 's' });
  other.peer.close('closed', false);
  worker('a/1').crash(true);
  const texts = client.gotText();
  const bytesOut = texts.reduce((sum, text) => sum + text.length, 0);
  client.ask(4, 'stdio_bus/stats');
  const [{ result }] = client.got();
  expect(result).toEqual({
    messages_in: 3,
    messages_out: 2,
    bytes_in: bytesIn + worker('a/0').queuedBytes,
    bytes_out: bytesOut,
    worker_restarts: 1,
    routing_errors: 1,
    client_connects: 2,
    client_disconnects: 1,
    workers: 1,
    clients: 1,
    sessions: 1,
    pending: 1,
  });
  expect(bus.counts()).toEqual({ workers: 1, clients: 1, sessions: 1, pending: 1 });
});

test('[BU20] each request leaves one record: who, what, where, how it ended, how long it took', async () => {
  const { clock, worker, connect, audits } = await openSmallBus();
  const ada = connect('ada#1', { subjectId: 'ada', role: 'lead', assertedBy: 'bus' });
  const nobody = connect('nobody#2');
  ada.ask(1, 'm', { _ext: { audit: { eventId: 'parent' } } });
  const [{ id }] = hear(worker('a/0'));
  clock.advance(40);
  say(worker('a/0'), { id, result: {} });
  nobody.ask(1, 'sleep', { _ext: { identity: { subjectId: 'ada' } } });
  nobody.send({ method: '$/cancelRequest', params: { id: 1 } });
  nobody.ask(2, 'fail');
  for (const message of hear(worker('a/0'))) {
    if (message.method === 'fail')
      say(worker('a/0'), { id: message.id, error: { code: 1, message: '' } });
  }
  nobody.ask(3, 'leave');
  nobody.peer.close('closed', false);
  expect(audits).toMatchObject([
    {
      parentEventId: 'parent',
      action: 'm',
      actor: { client: 'ada#1', subjectId: 'ada', role: 'lead' },
      resource: 'a/0',
      outcome: 'ok',
      durationMs: 40,
    },
    { action: 'sleep', actor: { client: 'nobody#2', claims: 'ada' }, outcome: 'bus.cancelled' },
    { action: 'fail', outcome: 'error' },
    { action: 'leave', outcome: 'client gone' },
  ]);
  expect(audits[1]?.actor).not.toHaveProperty('subjectId');
  expect(new Set(audits.map(({ eventId }) => eventId)).size).toBe(4);
  expect(audits[0]?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
});

test('[BU20] the record names session and agent, and the worker that died with the request', async () => {
  const { worker, connect, audits } = await openSmallBus({ pools: [{ id: 'a', agents: ['x'] }] });
  const client = connect();
  client.ask(1, 'm', { sessionId: 's', agentId: 'x' });
  hear(worker('a/0'));
  worker('a/0').crash(true);
  client.ask(2, 'm', { sessionId: 's2', agentId: 'x', pool: 'nowhere' });
  expect(audits).toMatchObject([
    { resource: 'a/0', sessionId: 's', agentId: 'x', outcome: 'bus.worker-died' },
    { resource: null, sessionId: 's2', agentId: 'x', outcome: 'bus.pool-unknown' },
  ]);
});

test('[BU11] ping and unknown methods are answered by the bus, and no worker sees them', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.ask(1, 'stdio_bus/ping');
  client.ask(2, 'stdio_bus/pong');
  expect(client.got()).toEqual([
    { jsonrpc: '2.0', id: 1, result: { pong: true } },
    refused(2, 'bus.method-unknown'),
  ]);
  expect(serve(worker('a/0'))).toEqual([]);
});
