/** Which pool and which worker. */
import { expect, test } from 'vitest';
import {
  hear,
  openSmallBus,
  refused,
  type SmallBus,
  serve,
} from '../../../test/simulation/bus/small-bus.ts';

const POOLS = [
  { id: 'code', agents: ['coder'], methods: ['fs/', 'session/'] },
  { id: 'chat', agents: ['talker'], methods: ['session/prompt/'] },
  { id: 'plain' },
];

/** The names of the workers that heard something. */
const hearers = ({ workers }: SmallBus): string[] =>
  workers.filter((worker) => serve(worker).length > 0).map(({ name }) => name);

test.each<[string, object, string]>([
  ['the pool it names', { method: 'm', pool: 'plain' }, 'plain/0'],
  [
    'the pool it names, whatever else it says',
    { method: 'fs/x', agentId: 'coder', pool: 'plain' },
    'plain/0',
  ],
  ['the pool that lists its agentId', { method: 'm', agentId: 'talker' }, 'chat/0'],
  [
    'the pool that lists its agentId, before its method',
    { method: 'fs/x', agentId: 'talker' },
    'chat/0',
  ],
  ['the pool its agentId is the name of', { method: 'm', agentId: 'plain' }, 'plain/0'],
  ['the pool of its method’s prefix', { method: 'fs/read' }, 'code/0'],
  ['the pool of the longest prefix', { method: 'session/prompt/now' }, 'chat/0'],
  ['the shorter prefix if only that matches', { method: 'session/new' }, 'code/0'],
  [
    'where its method leads, with an unknown agentId',
    { method: 'fs/x', agentId: 'nobody' },
    'code/0',
  ],
])('[BU4] a message goes to %s', async (_, message, wanted) => {
  const small = await openSmallBus({ pools: POOLS });
  small.connect().send({ id: 1, ...message });
  expect(hearers(small)).toEqual([wanted]);
});

test('[BU4] a session stays on its worker, whatever its later messages would mean', async () => {
  const small = await openSmallBus({ pools: POOLS });
  const client = small.connect();
  client.ask(1, 'm', { sessionId: 's', pool: 'plain' });
  expect(hearers(small)).toEqual(['plain/0']);
  client.ask(2, 'fs/x', { sessionId: 's' });
  client.send({ method: 'note', sessionId: 's' });
  expect(serve(small.worker('plain/0'))).toHaveLength(2);
  client.got();
  client.ask(3, 'm', { sessionId: 's', pool: 'chat' });
  expect(client.got()).toEqual([refused(3, 'bus.session-elsewhere')]);
});

test('[BU4] an unknown pool is refused, and the known ones are named', async () => {
  const { bus, connect } = await openSmallBus({ pools: POOLS });
  const client = connect();
  client.ask(1, 'm', { pool: 'nowhere' });
  const [answer] = client.got();
  expect(answer).toEqual(refused(1, 'bus.pool-unknown'));
  expect(answer.error.message).toMatch(/"nowhere".*code, chat, plain/);
  expect(bus.stats().routing_errors).toBe(1);
});

test('[BU4] the worker with the least to do gets it; among equals it goes round', async () => {
  const { workers, connect } = await openSmallBus({ pools: [{ id: 'a', instances: 3 }] });
  const client = connect();
  for (let id = 1; id <= 6; id += 1) client.ask(id, 'm');
  expect(workers.map((worker) => hear(worker).length)).toEqual([2, 2, 2]);
  workers[1]?.answer(() => 0, false);
  workers[1]?.answer(() => 0, false);
  client.ask(7, 'm');
  client.ask(8, 'm');
  expect(workers.map((worker) => hear(worker).length)).toEqual([0, 2, 0]);
});

test('[BU4] one after the other, each worker has its turn', async () => {
  const small = await openSmallBus({ pools: [{ id: 'a', instances: 3 }] });
  const client = small.connect();
  const order = [1, 2, 3, 4].flatMap((id) => {
    client.ask(id, 'm');
    return hearers(small);
  });
  expect(order).toEqual(['a/0', 'a/1', 'a/2', 'a/0']);
});

test('[BU4] a worker that is full is passed over for one that has room', async () => {
  const { workers, connect } = await openSmallBus({
    pools: [{ id: 'a', inFlightMax: 1 }, { id: 'b' }],
  });
  const client = connect();
  client.ask(1, 'm', { pool: 'a' });
  for (const id of [2, 3]) client.ask(id, 'm', { pool: 'b' });
  client.ask(4, 'm');
  expect(workers.map((worker) => hear(worker).length)).toEqual([1, 3]);
});

test('[BU4] a worker that is down is passed over', async () => {
  const { workers, connect } = await openSmallBus({ pools: [{ id: 'a', instances: 2 }] });
  workers[0]?.crash(true);
  const client = connect();
  for (let id = 1; id <= 4; id += 1) client.ask(id, 'm');
  expect(hear(workers[1] as never)).toHaveLength(4);
});
