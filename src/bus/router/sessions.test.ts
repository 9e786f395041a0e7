/** Sessions: how long they are remembered, who listens, and what was missed. */
import { expect, test } from 'vitest';
import {
  hear,
  openSmallBus,
  refused,
  type SmallBus,
  type SmallClient,
  say,
  serve,
} from '../../../test/simulation/bus/small-bus.ts';

const update = (sessionId: string, n: number): object => ({
  method: 'update',
  sessionId,
  params: { n },
});

/** Uses the session once, to the end. */
function use({ worker }: SmallBus, client: SmallClient, sessionId: string): void {
  client.ask(1, 'm', { sessionId });
  serve(worker('a/0'));
  client.got();
}

test('[BU6] a session nobody used for so long is forgotten; one with a request in flight is not', async () => {
  const small = await openSmallBus({ limits: { sessionIdleMs: 1_000, requestMs: 60_000 } });
  const client = small.connect();
  use(small, client, 'idle');
  client.ask(2, 'slow', { sessionId: 'busy' });
  small.clock.advance(900);
  expect(small.bus.counts().sessions).toBe(2);
  small.clock.advance(5_200);
  expect(small.bus.counts().sessions).toBe(1);
  serve(small.worker('a/0'));
  small.clock.advance(5_200);
  expect(small.bus.counts().sessions).toBe(0);
});

test('[BU6] above the bound the one idle for longest makes room; busy ones stay', async () => {
  const small = await openSmallBus({ limits: { sessionsMax: 3 } });
  const { bus, clock, connect } = small;
  const client = connect();
  client.ask(2, 'slow', { sessionId: 'busy' });
  hear(small.worker('a/0'));
  for (const id of ['s1', 's2', 's3', 's4']) {
    clock.advance(2_000);
    use(small, client, id);
  }
  expect(bus.counts().sessions).toBe(3);
  const known = ['busy', 's1', 's2', 's3', 's4'].filter((sessionId) => {
    client.ask(1, 'stdio_bus/attach', { params: { sessionId } });
    return client.got().at(-1).result;
  });
  expect(known).toEqual(['busy', 's3', 's4']);
});

test('[BU6] a client that is here is told of every session that is forgotten, and why', async () => {
  const small = await openSmallBus({ limits: { sessionsMax: 2, sessionIdleMs: 1_000 } });
  const [client, other] = [small.connect(), small.connect()];
  for (const id of ['s1', 's2']) use(small, client, id);
  other.ask(1, 'm', { sessionId: 's3' });
  const lost = (sessionId: string, reason: unknown): object => ({
    ...{ jsonrpc: '2.0', method: 'stdio_bus/session_lost', sessionId },
    params: { sessionId, reason },
  });
  expect(client.got()).toEqual([lost('s1', expect.stringContaining('limits.max_sessions'))]);
  small.clock.advance(5_200);
  expect(client.got()).toEqual([lost('s2', expect.stringContaining('limits.session_idle_sec'))]);
  expect(small.bus.counts().sessions).toBe(1);
});

test('[BU6] sessions of one call crowd out each other, in lists, and none that was used again', async () => {
  const small = await openSmallBus({ limits: { sessionsMax: 2_000 } });
  const client = small.connect();
  for (const id of ['kept', 'kept']) use(small, client, id);
  for (let n = 0; n < 3_000; n += 1) {
    client.ask(n, 'm', { sessionId: `s${n}` });
    serve(small.worker('a/0'));
  }
  const told = client.got().filter(({ method }) => method === 'stdio_bus/session_lost');
  const lost = told.flatMap(({ params }) => params.sessionIds);
  expect(lost.length).toBeGreaterThanOrEqual(1_001);
  expect(new Set(lost).size).toBe(lost.length);
  expect(lost).not.toContain('kept');
  expect(told.length).toBeLessThan(50);
  expect(small.bus.counts().sessions).toBe(3_001 - lost.length);
});

test('[BU6] far more sessions than the reference had rows for, and long ids are told apart', async () => {
  const small = await openSmallBus({ pools: [{ id: 'a', inFlightMax: 5_000 }] });
  const client = small.connect();
  for (let n = 0; n < 5_000; n += 1) client.ask(n, 'm', { sessionId: `s${n}` });
  expect(serve(small.worker('a/0'))).toHaveLength(5_000);
  expect(client.got()).toHaveLength(5_000);
  const long = 'x'.repeat(400);
  for (const end of ['1', '2']) use(small, client, `${long}${end}`);
  expect(small.bus.counts().sessions).toBe(5_002);
});

test('[BU6] a session can be closed, but not while it has a request in flight', async () => {
  const small = await openSmallBus();
  const client = small.connect();
  client.ask(1, 'm', { sessionId: 's' });
  client.ask(2, 'stdio_bus/close', { params: { sessionId: 's' } });
  expect(client.got()).toEqual([refused(2, 'bus.invalid')]);
  serve(small.worker('a/0'));
  client.ask(3, 'stdio_bus/close', { params: { sessionId: 's' } });
  client.ask(4, 'stdio_bus/close', { params: { sessionId: 's' } });
  expect(client.got().slice(1)).toEqual([
    { jsonrpc: '2.0', id: 3, result: { sessionId: 's', closed: true } },
    refused(4, 'bus.session-unknown'),
  ]);
  expect(small.bus.counts().sessions).toBe(0);
});

test('[BU7] who comes back gets what it missed, in order, then the count; and then hears again', async () => {
  const small = await openSmallBus({ pools: [{ id: 'a' }, { id: 'b' }] });
  const first = small.connect();
  first.ask(1, 'm', { sessionId: 's', pool: 'a' });
  const worker = small.worker('a/0');
  serve(worker);
  first.peer.close('closed', false);
  for (const n of [1, 2]) say(worker, update('s', n));
  const second = small.connect();
  second.ask(1, 'stdio_bus/attach', { params: { sessionId: 's' } });
  const result = { sessionId: 's', worker: 'a/0', missed: 2, dropped: 0, last: 2 };
  expect(second.got()).toEqual([
    { jsonrpc: '2.0', ...update('s', 1), _ext: { seq: 1 } },
    { jsonrpc: '2.0', ...update('s', 2), _ext: { seq: 2 } },
    { jsonrpc: '2.0', id: 1, result },
  ]);
  say(worker, update('s', 3));
  expect(second.got()).toMatchObject([update('s', 3)]);
  second.ask(2, 'm', { sessionId: 's' });
  expect(hear(worker)).toHaveLength(1);
});

test('[BU7] what is kept is bounded by number and by bytes; what was dropped is counted and told', async () => {
  for (const limits of [{ missedMax: 2 }, { missedBytesMax: 170 }]) {
    const small = await openSmallBus({ limits });
    const first = small.connect();
    use(small, first, 's');
    first.peer.close('closed', false);
    for (const n of [1, 2, 3, 4, 5]) say(small.worker('a/0'), update('s', n));
    const second = small.connect();
    // Not asking for it: using the session will do.
    second.ask(1, 'm', { sessionId: 's' });
    expect(second.got()).toMatchObject([
      { method: 'stdio_bus/missed', params: { sessionId: 's', dropped: 3 } },
      update('s', 4),
      update('s', 5),
    ]);
  }
});

/** Session `s`, of which a client heard the first of five and broke off, unnoticed for three more. */
async function openBroken(limits = {}): Promise<{ small: SmallBus; back: SmallClient }> {
  const small = await openSmallBus({ limits });
  const first = small.connect();
  use(small, first, 's');
  const say1 = (n: number): void => say(small.worker('a/0'), update('s', n));
  say1(1);
  expect(first.got()).toMatchObject([{ _ext: { seq: 1 } }]);
  for (const n of [2, 3, 4]) say1(n);
  first.peer.close('closed', false);
  say1(5);
  return { small, back: small.connect() };
}

const attach = (client: SmallClient, params: object): ReturnType<SmallClient['got']> => {
  client.ask(9, 'stdio_bus/attach', { params: { sessionId: 's', ...params } });
  return client.got();
};

test('[BU7] who says what it heard last gets all that came after, also what went into a broken line', async () => {
  const { small, back } = await openBroken();
  expect(attach(back, { after: 1 })).toMatchObject([
    ...[2, 3, 4, 5].map((n) => ({ ...update('s', n), _ext: { seq: n } })),
    { id: 9, result: { missed: 4, dropped: 0, last: 5 } },
  ]);
  // What it has had it does not get again, whoever asks how.
  expect(attach(back, {})).toMatchObject([{ result: { missed: 0, dropped: 0, last: 5 } }]);
  expect(attach(back, { after: 5 })).toMatchObject([{ result: { missed: 0, dropped: 0 } }]);
  const other = small.connect();
  expect(attach(other, { after: 0 })).toHaveLength(6);
  say(small.worker('a/0'), update('s', 6));
  for (const client of [back, other]) expect(client.got()).toMatchObject([{ _ext: { seq: 6 } }]);
});

test('[BU7] what is not kept any more is counted as dropped, and told', async () => {
  const { back } = await openBroken({ missedMax: 2 });
  expect(attach(back, { after: 1 })).toMatchObject([
    { method: 'stdio_bus/missed', params: { dropped: 2 } },
    { _ext: { seq: 4 } },
    { _ext: { seq: 5 } },
    { id: 9, result: { missed: 2, dropped: 2, last: 5 } },
  ]);
});

test('[BU7] a number that is none is refused; one of a former session of that name is not taken for ours', async () => {
  const { small, back } = await openBroken();
  for (const after of ['1', -1, 1.5, {}]) {
    expect(attach(back, { after })).toEqual([refused(9, 'bus.invalid')]);
  }
  expect(attach(back, { sessionId: 5 })).toEqual([refused(9, 'bus.invalid')]);
  expect(attach(back, { after: 6 })).toEqual([refused(9, 'bus.session-unknown')]);
  back.ask(1, 'stdio_bus/close', { params: { sessionId: 's' } });
  use(small, back, 's');
  say(small.worker('a/0'), update('s', 1));
  expect(back.got().at(-1)).toMatchObject({ _ext: { seq: 6 } });
  expect(attach(back, { after: 2 })).toEqual([refused(9, 'bus.session-unknown')]);
  expect(attach(back, { after: 0 })).toMatchObject([
    { _ext: { seq: 6 } },
    { result: { dropped: 0 } },
  ]);
});

test('[BU7] copies of what was heard make room for what nobody heard', async () => {
  const small = await openSmallBus({ limits: { missedBytesMax: 1_000 } });
  const [away, here] = [small.connect(), small.connect()];
  use(small, away, 's');
  use(small, here, 'loud');
  away.peer.close('closed', false);
  for (const n of [1, 2]) say(small.worker('a/0'), update('s', n));
  for (let n = 0; n < 100; n += 1) say(small.worker('a/0'), update('loud', n));
  expect(here.got()).toHaveLength(100);
  for (let n = 3; n < 9; n += 1) say(small.worker('a/0'), update('s', n));
  const back = small.connect();
  expect(attach(back, {}).at(-1)).toMatchObject({ result: { missed: 8, dropped: 0 } });
});

test('[BU3] [BU7] that a session lost its worker is numbered too: a broken line does not hide it', async () => {
  const { small, back } = await openBroken();
  attach(back, { after: 1 });
  small.worker('a/0').crash(true);
  back.peer.close('closed', false);
  expect(attach(small.connect(), { after: 5 })).toMatchObject([
    { method: 'stdio_bus/session_lost', _ext: { seq: 6 } },
    { result: { missed: 1, dropped: 0, worker: null } },
  ]);
});

test('[BU7] all who use a session hear its notifications, each answer has one hearer', async () => {
  const small = await openSmallBus();
  const [ada, bob, eve] = [small.connect(), small.connect(), small.connect()];
  use(small, ada, 's');
  bob.ask(1, 'stdio_bus/attach', { params: { sessionId: 's' } });
  bob.got();
  ada.ask(2, 'm', { sessionId: 's' });
  say(small.worker('a/0'), update('s', 1));
  serve(small.worker('a/0'));
  expect(ada.got()).toMatchObject([update('s', 1), { id: 2 }]);
  expect(bob.got()).toMatchObject([update('s', 1)]);
  expect(eve.got()).toEqual([]);
  bob.ask(9, 'stdio_bus/attach', { params: { sessionId: 'no such' } });
  expect(bob.got()).toEqual([refused(9, 'bus.session-unknown')]);
});
