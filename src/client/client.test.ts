import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { openScriptedHub, type ScriptedHub } from '../../test/client/scripted-hub.ts';
import { type Client, connect, createClient, STREAMS_MAX } from './client.ts';
import { SynodError } from './error.ts';
import type { ClientOptions } from './options.ts';
import { PENDING_MAX } from './requests.ts';

let hub: ScriptedHub;
const clients: Client[] = [];

beforeEach(async () => {
  hub = await openScriptedHub();
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await hub.close();
});

/** Comes back at once, so that no test waits for chance. */
function open(options: Partial<ClientOptions> = {}): Client {
  const client = createClient({ url: hub.url, reconnect: { random: () => 0 }, ...options });
  clients.push(client);
  return client;
}

function failureOf(promise: Promise<unknown>): Promise<SynodError> {
  return promise.then(
    () => expect.unreachable('it was expected to fail'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(SynodError);
      return error as SynodError;
    },
  );
}

const SENT = {
  sent_at: 1,
  message_id: 'm0',
  seq: 1,
  backpressure: { queue_depth: 0, threshold: 1, state: 'ok' },
};

test('[K1] the credential travels as subprotocols', async () => {
  open({ token: 'syn_x.1.ÿ', agent: 'ada', space: 'lab' });
  const { protocols } = await hub.seat();
  const read = (prefix: string): string | undefined => {
    const found = protocols.find((one) => one.startsWith(prefix));
    return found && Buffer.from(found.slice(prefix.length), 'base64url').toString();
  };
  expect(protocols[0]).toBe('synod.v1');
  expect(read('synod.token.')).toBe('syn_x.1.ÿ');
  expect(read('synod.agent.')).toBe('ada');
  expect(read('synod.space.')).toBe('lab');
});

test('an operation is a JSON-RPC request and its result', async () => {
  const client = await connect({ url: hub.url });
  clients.push(client);
  const seat = await hub.seat();
  const answer = client.call('hub.whoami');
  const asked = await seat.asked();
  expect(asked).toMatchObject({ jsonrpc: '2.0', method: 'hub.whoami', params: {} });
  seat.answer(asked, { agent_id: 'ada' });
  expect(await answer).toEqual({ agent_id: 'ada' });
  expect(client.state).toBe('open');
});

test('a refusal is thrown with the code, the words and the detail of the hub', async () => {
  const client = open();
  const seat = await hub.seat();
  const failure = failureOf(client.send('room', {}));
  seat.refuse(
    await seat.asked(),
    {
      error_code: 'backpressure_over_limit',
      message: 'room is full',
      detail: { reason: 'backpressure.over', queue_depth: 9 },
      retry_after: 12.5,
    },
    -32_014,
  );
  expect(await failure).toMatchObject({
    code: 'backpressure.over',
    soxCode: 'backpressure_over_limit',
    message: 'room is full',
    detail: { queue_depth: 9 },
    retryAt: 12_500,
    rpc: -32_014,
  });
});

test('[K2] a send whose answer was lost is sent again under the same key', async () => {
  const client = open();
  const sending = client.send('room', { n: 1 });
  const first = await hub.seat();
  const before = await first.asked();
  first.cut();
  const second = await hub.seat();
  const after = await second.asked();
  expect(before.params.idempotency_key).toMatch(/^retry:[0-9a-f]{32}$/);
  expect(after.params).toEqual(before.params);
  second.answer(after, SENT);
  expect(await sending).toEqual(SENT);
});

test('[K2] a key of the caller is left as it is, and call() gets one too', async () => {
  const client = open();
  const seat = await hub.seat();
  void client.send('room', {}, { idempotency_key: 'mine' }).catch(() => {});
  void client.call('channels.send', { channel: 'room', body: {} }).catch(() => {});
  expect((await seat.asked()).params.idempotency_key).toBe('mine');
  expect((await seat.asked()).params.idempotency_key).toMatch(/^retry:/);
});

test('[K8] reads and repeatable writes are asked again, in their order', async () => {
  const client = open();
  const first = await hub.seat();
  const answers = Promise.all([
    client.peek(),
    client.subscribeTo('a'),
    client.recv({ lease_ms: 5000 }),
  ]);
  for (let i = 0; i < 3; i++) await first.asked();
  first.cut();
  const second = await hub.seat();
  const methods: string[] = [];
  for (let i = 0; i < 3; i++) {
    const asked = await second.asked();
    methods.push(asked.method);
    second.answer(asked, { i });
  }
  expect(methods).toEqual(['inbox.peek', 'channels.subscribe', 'channels.recv']);
  expect(await answers).toEqual([{ i: 0 }, { i: 1 }, { i: 2 }]);
});

test('[K8] what would be refused the second time is asked again under one key', async () => {
  const client = open();
  const first = await hub.seat();
  const released = client.call('claims.release', { task_id: 'x' });
  const before = await first.asked();
  first.cut();
  const second = await hub.seat();
  const after = await second.asked();
  expect(before.params.idempotency_key).toMatch(/^retry:[0-9a-f]{32}$/);
  expect(after.params).toEqual(before.params);
  second.answer(after, { released: true });
  expect(await released).toEqual({ released: true });
});

test('[K9] a drain without a lease is not repeated, and the error says what to do', async () => {
  const client = open();
  const first = await hub.seat();
  const failure = failureOf(client.recv());
  await first.asked();
  first.cut();
  expect(await failure).toMatchObject({
    code: 'connection.lost',
    detail: { operation: 'channels.recv' },
  });
  expect((await failure).message).toMatch(/outcome is unknown.*lease_ms.*messages\(\)/);
  const second = await hub.seat();
  second.answer(await answering(client, second), {});
  expect(second.waiting).toBe(0);
});

/** Asks something harmless; whatever was asked before it would have come first. */
async function answering(client: Client, seat: Awaited<ReturnType<ScriptedHub['seat']>>) {
  void client.status().catch(() => {});
  const asked = await seat.asked();
  expect(asked.method).toBe('hub.status');
  return asked;
}

test('what is asked while the hub is away waits for it', async () => {
  const client = open();
  const first = await hub.seat();
  const down = new Promise((resolve) =>
    client.onState((state) => state === 'waiting' && resolve(state)),
  );
  first.cut();
  await down;
  const answer = client.recv();
  const second = await hub.seat();
  const asked = await second.asked();
  second.answer(asked, { drained_at: 1, messages: [] });
  expect(await answer).toEqual({ drained_at: 1, messages: [] });
});

test('the state is told as it changes', async () => {
  const client = open();
  const states: string[] = [client.state];
  client.onState((state, error) => states.push(error === null ? state : `${state}: ${error.code}`));
  const first = await hub.seat();
  const answer = client.peek();
  first.answer(await first.asked(), {});
  await answer;
  first.cut();
  const second = await hub.seat();
  const asked = client.peek();
  second.answer(await second.asked(), {});
  await asked;
  await client.close();
  expect(states).toEqual([
    'connecting',
    'open',
    'waiting: connection.lost',
    'connecting',
    'open',
    'closed',
  ]);
});

test('[K16] a listener that throws costs neither the others nor the client anything', async () => {
  const client = open();
  const states: string[] = [];
  const { thrown, spy } = catchThrown();
  const bug = new Error('a bug of the program');
  client.onState(() => {
    throw bug;
  });
  client.onState((state) => states.push(state));
  const first = await hub.seat();
  const before = client.peek();
  first.answer(await first.asked(), {});
  await before;
  first.cut();
  const second = await hub.seat();
  const answer = client.peek();
  second.answer(await second.asked(), { owed: 0 });
  expect(await answer).toEqual({ owed: 0 });
  await client.close();
  spy.mockRestore();
  expect(states).toEqual(['open', 'waiting', 'connecting', 'open', 'closed']);
  expect(thrown).toEqual(states.map(() => bug));
});

test('[K16] presence is kept also when who is told of a failed heartbeat throws', async () => {
  const client = open();
  const { thrown, spy } = catchThrown();
  const seat = await hub.seat();
  const onError = (): void => {
    throw new Error('a bug of the program');
  };
  const no = { error_code: 'rate_limited', message: 'full', detail: { reason: 'hub.busy' } };
  const stop = client.keepPresence('online', { everyMs: 1, onError });
  for (let beats = 0; beats < 2; beats++) seat.refuse(await seat.asked(), no);
  expect((await seat.asked()).method).toBe('channels.heartbeat');
  stop();
  spy.mockRestore();
  expect(thrown.length).toBeGreaterThanOrEqual(2);
});

/** What is thrown where nobody is on the way. */
function catchThrown() {
  const thrown: unknown[] = [];
  const spy = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((run) => {
    try {
      run();
    } catch (cause) {
      thrown.push(cause);
    }
  });
  return { thrown, spy };
}

test('[K6] a connection that died in silence is given up for a new one', async () => {
  open({ livenessMs: 20 });
  const silent = await hub.seat();
  expect((await silent.asked()).method).toBe('hub.whoami');
  const next = await hub.seat();
  expect((await next.asked()).method).toBe('hub.whoami');
  await silent.ended;
});

test('[K7] a revoked credential ends the client with the reason', async () => {
  const client = open();
  const seat = await hub.seat();
  const failure = failureOf(client.peek());
  await seat.asked();
  seat.close(4001, 'revoked');
  expect(await failure).toMatchObject({ code: 'access.unknown', soxCode: 'identity_failure' });
  expect((await failure).message).toContain('revoked');
  expect(client.state).toBe('closed');
  expect((await failureOf(client.peek())).code).toBe('access.unknown');
});

test('[K7] a refused upgrade is explained over HTTP and not tried again', async () => {
  hub.turnAway(401, {
    error_code: 'identity_failure',
    message: 'the token opens nothing',
    detail: { reason: 'access.unknown' },
  });
  const client = open();
  const states: string[] = [];
  client.onState((state) => states.push(state));
  const failure = await failureOf(client.peek());
  expect(failure).toMatchObject({ code: 'access.unknown', message: 'the token opens nothing' });
  // One attempt, from `connecting` straight to the end. (Node's WebSocket asks twice by itself upon a 401.)
  expect(states).toEqual(['closed']);
});

test('[K7] a hub that is merely busy is tried again', async () => {
  hub.turnAway(503, { error_code: 'rate_limited', message: 'full' });
  const client = open();
  await new Promise<void>((resolve) => {
    client.onState((state) => {
      if (state === 'waiting') resolve();
    });
  });
  hub.turnAway(null);
  await hub.seat();
  expect(hub.turnedAway).toBeGreaterThanOrEqual(1);
});

test('connect() fails at once where nobody listens, and says what to do', async () => {
  const { url } = hub;
  await hub.close();
  const failure = await failureOf(connect({ url }));
  expect(failure.code).toBe('connection.refused');
  expect(failure.message).toMatch(/synod up/);
  hub = await openScriptedHub();
});

test('an address that is none is refused', async () => {
  await expect(connect({ url: 'ftp://hub' })).rejects.toMatchObject({ code: 'input.invalid' });
});

test('something that is not a hub is hung up on', async () => {
  const client = open();
  const seat = await hub.seat();
  seat.raw('<html>');
  const next = await hub.seat();
  const answer = client.peek();
  next.answer(await next.asked(), { owed: 0 });
  expect(await answer).toEqual({ owed: 0 });
});

test('[K13] an answer that does not come in time is a timeout', async () => {
  const client = open();
  const seat = await hub.seat();
  const answer = client.peek();
  seat.answer(await seat.asked(), {});
  await answer;
  const failure = await failureOf(
    client.call('channels.recv', { max_messages: 1 }, { timeoutMs: 20 }),
  );
  expect(failure).toMatchObject({ code: 'request.timeout', detail: { was_sent: true } });
  expect(failure.message).toContain('outcome is unknown');
});

test('[K13] only so many streams may be open', async () => {
  const client = open();
  for (let i = 0; i < STREAMS_MAX; i++) client.messages();
  expect(() => client.receipts()).toThrow(
    expect.objectContaining({ code: 'limit.reached', detail: { limit: 'STREAMS_MAX' } }),
  );
});

test('[K13] the time a call may wait in the hub is added to its own', async () => {
  const client = open({ requestTimeoutMs: 50 });
  const seat = await hub.seat();
  const waiting = client.recv({ wait_ms: 60_000 });
  const asked = await seat.asked();
  expect((await failureOf(client.peek())).code).toBe('request.timeout');
  seat.answer(asked, { drained_at: 1, messages: [] });
  expect(await waiting).toEqual({ drained_at: 1, messages: [] });
});

test('[K13] only so many questions may be open', async () => {
  const client = open();
  const all = Array.from({ length: PENDING_MAX }, () =>
    client.peek().catch((error: SynodError) => error.code),
  );
  expect(await failureOf(client.peek())).toMatchObject({
    code: 'limit.reached',
    detail: { limit: 'PENDING_MAX' },
  });
  await client.close();
  expect(new Set(await Promise.all(all))).toEqual(new Set(['client.closed']));
});

test('[K13] a frame that the hub would hang up on is never sent', async () => {
  const client = open();
  const seat = await hub.seat();
  const failure = await failureOf(client.send('room', { text: 'x'.repeat(5 * 1024 * 1024) }));
  expect(failure.code).toBe('body.too-large');
  seat.answer(await answering(client, seat), {});
});

test('[K13] a signal ends a question', async () => {
  const client = open();
  const seat = await hub.seat();
  const abort = new AbortController();
  const waiting = client.recv({ wait_ms: 60_000 }, { signal: abort.signal });
  await seat.asked();
  abort.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});

test('presence is kept up until it is stopped', async () => {
  const client = open();
  const seat = await hub.seat();
  const stop = client.keepPresence('busy', { everyMs: 5, ttl: 60 });
  for (let i = 0; i < 3; i++) {
    const asked = await seat.asked();
    expect(asked).toMatchObject({
      method: 'channels.heartbeat',
      params: { status: 'busy', ttl: 60 },
    });
    seat.answer(asked, {});
  }
  stop();
  seat.answer(await answering(client, seat), {});
});

test('a refused heartbeat is told to whoever asked to know', async () => {
  const client = open();
  const seat = await hub.seat();
  const told = new Promise<SynodError>((resolve) => {
    client.keepPresence('online', { onError: resolve });
  });
  seat.refuse(await seat.asked(), {
    error_code: 'identity_failure',
    message: 'observers do not',
    detail: { reason: 'access.denied' },
  });
  expect((await told).code).toBe('access.denied');
});

test('a Unix socket is reached through a socket of one’s own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'synod-client-'));
  const local = await openScriptedHub(join(folder, 'hub.sock'));
  const client = createClient({
    url: 'http://localhost',
    openSocket: (_, protocols) => new WebSocket(`ws+unix:${local.url}:/ws`, [...protocols]),
  });
  const seat = await local.seat();
  const answer = client.peek();
  seat.answer(await seat.asked(), { owed: 3 });
  expect(await answer).toEqual({ owed: 3 });
  local.turnAway(401);
  seat.cut();
  const gone = new Promise<string | undefined>((resolve) => {
    client.onState((state, error) => state === 'closed' && resolve(error?.code));
  });
  expect(await gone).toBe('access.unknown');
  await client.close();
  await local.close();
  await rm(folder, { recursive: true });
});
