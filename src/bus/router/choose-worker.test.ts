/** Which pool and which worker. */
import { expect, test } from 'vitest';
import {
  hear,
  openSmallBus,
  refused,
  type SmallBus,
  say,
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
    { method: 'fs/x', agentId: 'nobody', pool: 'plain' },
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

test('[BU4] a session stays with one worker of each pool it uses; what means none goes where it began', async () => {
  const small = await openSmallBus({ pools: POOLS.map((pool) => ({ ...pool, instances: 3 })) });
  const client = small.connect();
  const ask = (more: object): string[] => {
    client.send({ id: 1, method: 'm', sessionId: 's', ...more });
    // Somebody else comes in between, so that a choice by load would fall on another.
    for (const pool of ['code', 'chat', 'plain']) small.connect().ask(1, 'other', { pool });
    return small.workers
      .filter((worker) => serve(worker).some(({ sessionId }) => sessionId === 's'))
      .map(({ name }) => name);
  };
  expect(ask({ pool: 'plain' })).toEqual(['plain/0']);
  const [coder] = ask({ agentId: 'coder' });
  expect(coder).toMatch(/^code/);
  const [prompter] = ask({ method: 'session/prompt/now' });
  expect(prompter).toMatch(/^chat/);
  for (let round = 0; round < 3; round += 1) {
    expect(ask({ agentId: 'coder' })).toEqual([coder]);
    expect(ask({ method: 'fs/x' })).toEqual([coder]);
    expect(ask({ agentId: 'talker' })).toEqual([prompter]);
    expect(ask({ pool: 'plain', method: 'fs/x' })).toEqual(['plain/0']);
    expect(ask({ agentId: 'nobody' })).toEqual(['plain/0']);
    expect(ask({})).toEqual(['plain/0']);
  }
});

test('[BU4] each worker a session lives on may speak in it, and one that dies takes only its part', async () => {
  const small = await openSmallBus({ pools: POOLS });
  const client = small.connect();
  for (const pool of ['plain', 'chat']) client.ask(pool, 'm', { sessionId: 's', pool });
  hearers(small);
  client.got();
  for (const name of ['plain/0', 'chat/0', 'code/0']) {
    say(small.worker(name), { method: 'update', sessionId: 's', params: { name } });
  }
  expect(client.got().map(({ params }) => params.name)).toEqual(['plain/0', 'chat/0']);
  small.worker('plain/0').crash(true);
  expect(client.got()).toMatchObject([{ method: 'stdio_bus/session_lost' }]);
  client.ask(2, 'm', { sessionId: 's', pool: 'chat' });
  expect(hearers(small)).toEqual(['chat/0']);
  // What means no pool waits for the one it began in.
  client.ask(3, 'm', { sessionId: 's' });
  expect(hearers(small)).toEqual([]);
  small.worker('plain/0').comeUp();
  expect(hearers(small)).toEqual(['plain/0']);
});

test.each<[object, string]>([
  [{ pool: 'plain', agentId: 'coder' }, 'bus.contradiction'],
  [{ pool: 'plain', agentId: 'chat' }, 'bus.contradiction'],
  [{ pool: 5 }, 'bus.invalid'],
  [{ sessionId: 5 }, 'bus.invalid'],
  [{ sessionId: ['s'] }, 'bus.invalid'],
  [{ agentId: {} }, 'bus.invalid'],
  [{ agentId: false }, 'bus.invalid'],
  [{ pool: true, method: 'stdio_bus/stats' }, 'bus.invalid'],
])('[BU4] [EN2] %o is refused, as a request and as a notification', async (message, code) => {
  const small = await openSmallBus({ pools: POOLS });
  const client = small.connect();
  client.send({ id: 1, method: 'm', ...message });
  client.send(JSON.stringify([{ id: 2, method: 'm', ...message }]));
  const [answer, [inBatch]] = client.got();
  expect([answer, inBatch]).toEqual([refused(1, code), refused(2, code)]);
  if (!('method' in message)) {
    client.send({ method: 'note', ...message });
    expect(client.got()).toMatchObject([{ method: 'stdio_bus/dropped', params: { code } }]);
  }
  expect(hearers(small)).toEqual([]);
  expect(small.bus.counts()).toMatchObject({ sessions: 0, pending: 0 });
});

test('[EN2] null stands for a member that is not there', async () => {
  const small = await openSmallBus({ pools: POOLS });
  small.connect().ask(1, 'fs/x', { pool: null, sessionId: null, agentId: null });
  expect(hearers(small)).toEqual(['code/0']);
});

test('[EN4] a member that is there twice is refused under the id of its request', async () => {
  const small = await openSmallBus({ pools: POOLS });
  const client = small.connect();
  const twice = '"method":"m","pool":"plain","pool":"chat"';
  client.send(`{"id":7,${twice}}`);
  client.send(`[{${twice},"id":"x"}]`);
  client.send(`{${twice}}`);
  client.send('{"id":1,"id":2,"method":"m"}');
  client.send('{"id":"w1","result":1,"result":2}');
  const [one, [two], ...rest] = client.got();
  expect(one.error.message).toMatch(/"pool" is there twice: see byte/);
  expect([one, two, ...rest]).toEqual(
    [7, 'x', null, null, null].map((id) => refused(id, 'bus.invalid')),
  );
  expect(hearers(small)).toEqual([]);
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
