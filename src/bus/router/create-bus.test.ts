/** The end of a bus: what is in flight is delivered, the rest is told. */
import { expect, test } from 'vitest';
import {
  answered,
  hear,
  openSmallBus,
  refused,
  serve,
} from '../../../test/simulation/bus/small-bus.ts';

test('[BU19] a stopping bus refuses what is new, delivers what is in flight, answers the rest', async () => {
  const { bus, clock, worker, connect, workers } = await openSmallBus({
    pools: [{ id: 'a', inFlightMax: 2 }],
  });
  const client = connect();
  for (const id of [1, 2, 3, 4]) client.ask(id, `m${id}`);
  hear(worker('a/0'));
  const stopping = bus.stop(1_000);
  expect(bus.state).toBe('stopping');
  client.ask(5, 'new');
  client.send({ method: 'note' });
  expect(client.got()).toMatchObject([
    refused(5, 'bus.draining'),
    { method: 'stdio_bus/dropped', params: { code: 'bus.draining' } },
  ]);
  expect(bus.attach(client.peer)).toBeNull();
  worker('a/0').answer(() => 0, false);
  expect(client.got()).toMatchObject([{ id: 1, result: {} }]);
  // What waited before the end was announced still gets its turn.
  expect(hear(worker('a/0'))).toMatchObject([{ method: 'm3' }]);
  clock.advance(1_001);
  await stopping;
  expect(client.got()).toEqual([
    refused(2, 'bus.draining', true),
    refused(3, 'bus.draining', true),
    refused(4, 'bus.draining', false),
  ]);
  expect(client.peer).toMatchObject({ isClosed: true, closedBy: 'draining' });
  expect(workers.map(({ state }) => state)).toEqual(['stopped']);
  expect(bus).toMatchObject({ state: 'stopped' });
  expect(bus.counts()).toEqual({ workers: 0, clients: 0, sessions: 0, pending: 0 });
});

test('[BU19] it ends as soon as everything is answered, and a second stop can only hurry it', async () => {
  const { bus, worker, connect } = await openSmallBus();
  const client = connect();
  client.ask(1, 'm');
  const stopping = bus.stop(1_000_000);
  serve(worker('a/0'));
  await stopping;
  expect(client.got()).toEqual([answered(1, 'm')]);
  const second = await openSmallBus();
  const other = second.connect();
  other.ask(1, 'm');
  const patient = second.bus.stop(1_000_000);
  void second.bus.stop(10);
  second.clock.advance(11);
  await patient;
  expect(other.got()).toEqual([refused(1, 'bus.draining', true)]);
});
