import { expect, test } from 'vitest';
import { type Sent, scripted } from '../../../test/e2e/sdk-scripted.ts';
import {
  CancelledError,
  InvalidArgumentError,
  ResourceExhaustedError,
  TimeoutError,
  TransportError,
} from './errors.ts';
import { STREAM_CHUNKS_MAX, type StreamEvent } from './stream.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('[SD5] a request has nothing it does not need', async () => {
  const { bus, backend } = await scripted();
  const asked = bus.request('echo', {});
  const { id, sessionId, ...rest } = backend.last;
  expect(rest).toEqual({ jsonrpc: '2.0', method: 'echo' });
  expect(id).toMatch(UUID);
  expect(sessionId.startsWith(bus.clientSessionId)).toBe(true);
  expect(bus.clientSessionId).toMatch(/^client-\d{13}-[a-z0-9]{6}$/);
  backend.answer(backend.last, 1);
  expect(await asked).toBe(1);
  bus.notify('told', { a: 1 }, { agentId: 'ada', pool: 'p', audit: { eventId: 'e', action: 'a' } });
  expect(backend.last).toEqual({
    ...{ jsonrpc: '2.0', method: 'told', params: { a: 1 }, agentId: 'ada', pool: 'p' },
    ...{ sessionId: expect.any(String), _ext: { audit: { eventId: 'e', action: 'a' } } },
  });
});

test('[SD5] only a deadline that was asked for travels, and only to a bus that keeps it', async () => {
  for (const [dialect, ext] of [
    ['synod', { timeoutMs: 51 }],
    ['stdio_bus', undefined],
  ] as const) {
    const { bus, backend } = await scripted({}, dialect);
    const asked = bus.request('echo', {}, { timeoutMs: 50.5 });
    expect(backend.last._ext).toEqual(ext);
    backend.answer(backend.last, 0);
    await asked;
  }
});

test('[SD6] unknown ids, second answers and lines that are no messages change nothing', async () => {
  const { bus, backend } = await scripted();
  const asked = bus.request('echo');
  backend.say('not JSON', '[]', '7', { id: 'nobody', result: 1 }, { id: null, result: 1 });
  backend.answer(backend.last, 'first');
  backend.answer(backend.last, 'second');
  expect(await asked).toBe('first');
});

test('[SD6] what JSON cannot say is the caller’s mistake, and nothing of it is left', async () => {
  const { bus, backend } = await scripted();
  const before = backend.sent.length;
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  for (const params of [circle, { n: 1n }]) {
    await expect(bus.request('echo', params)).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(bus.request('echo', params)).rejects.toThrow(/params of echo cannot be written/);
    expect(() => bus.notify('echo', params)).toThrow(InvalidArgumentError);
  }
  expect(backend.sent).toHaveLength(before);
  const asked = bus.request('echo');
  backend.answer(backend.last, 1);
  expect(await asked).toBe(1);
});

test('[SD2] [SD6] a message that cannot be sent is refused before it is', async () => {
  const { bus, backend } = await scripted();
  const before = backend.sent.length;
  const large = bus.request('echo', { text: 'x'.repeat(1_000_001) });
  await expect(large).rejects.toBeInstanceOf(InvalidArgumentError);
  await expect(bus.request('')).rejects.toBeInstanceOf(InvalidArgumentError);
  for (const timeoutMs of [0, -1, Number.NaN]) {
    await expect(bus.request('echo', {}, { timeoutMs })).rejects.toThrow(/timeoutMs/);
  }
  const done = AbortSignal.abort();
  await expect(bus.request('echo', {}, { signal: done })).rejects.toBeInstanceOf(CancelledError);
  backend.queuedBytes = 300_000_000;
  await expect(bus.request('echo')).rejects.toBeInstanceOf(ResourceExhaustedError);
  backend.queuedBytes = 0;
  expect(backend.sent).toHaveLength(before);
  backend.isTaking = false;
  const refused = bus.request('echo');
  await expect(refused).rejects.toBeInstanceOf(TransportError);
  await expect(refused).rejects.toMatchObject({ mayHaveRun: false });
});

test('[SD9] text is joined into an object result, and into nothing else', async () => {
  const { bus, backend } = await scripted();
  const ask = async (result: unknown, texts: string[]): Promise<unknown> => {
    const asked = bus.request('session/prompt');
    const sent = backend.last;
    for (const text of texts) backend.chunk(sent, text);
    backend.say({ method: 'session/update', sessionId: sent.sessionId, params: { update: {} } });
    backend.answer(sent, result);
    return asked;
  };
  expect(await ask({ a: 1 }, ['b', 'c'])).toEqual({ a: 1, text: 'bc' });
  expect(await ask({ text: 'old' }, ['new'])).toEqual({ text: 'new' });
  expect(await ask({ a: 1 }, ['', ''])).toEqual({ a: 1 });
  expect(await ask([1], ['b'])).toEqual([1]);
  expect(await ask('plain', ['b'])).toBe('plain');
  expect(await ask(null, ['b'])).toBe(null);
});

test('[SD9] a chunk that names a request that is over is not given to a neighbour', async () => {
  const { bus, backend } = await scripted();
  const first = bus.request('session/prompt', {}, { sessionId: 's' });
  const gone = backend.last;
  backend.answer(gone, {});
  expect(await first).toEqual({});
  const second = bus.request('session/prompt', {}, { sessionId: 's' });
  const sent = backend.last;
  backend.chunk({ sessionId: 's', requestId: gone.id }, 'late');
  backend.chunk({}, 'without a session');
  backend.chunk({ sessionId: 'other' }, 'elsewhere');
  backend.chunk({ sessionId: 's', requestId: sent.id }, 'mine');
  backend.answer(sent, {});
  expect(await second).toEqual({ text: 'mine' });
});

test('[SD9] two agents’ sessions in one session of the bus: each chunk goes to its own', async () => {
  const { bus, backend } = await scripted({ session: 'object' });
  const asked = ['a', 'b'].map((sessionId) => bus.request('session/prompt', { sessionId }));
  const [first, second] = backend.sent;
  for (const sessionId of ['b', 'a', 'c']) {
    const content = { type: 'text', text: `of ${sessionId}` };
    const update = { sessionUpdate: 'agent_message_chunk', content };
    const params = { sessionId, update };
    backend.say({ method: 'session/update', sessionId: bus.clientSessionId, params });
  }
  for (const sent of [first, second]) backend.answer(sent as Sent, {});
  expect(await Promise.all(asked)).toEqual([{ text: 'of a' }, { text: 'of b' }]);
});

test('[SD9] two requests in one agent session: a chunk that names neither is only a notification', async () => {
  const { bus, backend } = await scripted();
  const heard = bus.notifications();
  const asked = [1, 2].map(() => bus.request('session/prompt', { sessionId: 'a' }));
  const [first, second] = backend.sent as [Sent, Sent];
  expect(first.sessionId).toBe(second.sessionId);
  const update = {
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text: 'whose?' },
  };
  const params = { sessionId: 'a', update };
  backend.say({ method: 'session/update', sessionId: first.sessionId, params });
  for (const sent of [first, second]) backend.answer(sent, {});
  expect(await Promise.all(asked)).toEqual([{}, {}]);
  expect((await heard.next()).value?.params).toEqual(params);
});

test('[SD10] what is queued is read before the deadline strikes, and a broken line beats the clock', async () => {
  const { bus, backend } = await scripted();
  const stream = bus.stream('session/prompt', {}, { timeoutMs: 30 });
  const sent = backend.last;
  backend.chunk(sent, 'a');
  backend.chunk(sent, 'b');
  const cancelled = new Promise<void>((resolve) => {
    const look = (): unknown =>
      backend.last.method === '$/cancelRequest' ? resolve() : setImmediate(look);
    look();
  });
  await cancelled;
  expect((await stream.next()).value).toMatchObject({ text: 'a' });
  expect((await stream.next()).value).toMatchObject({ text: 'b' });
  await expect(stream.next()).rejects.toBeInstanceOf(TimeoutError);

  const other = bus.stream('session/prompt', {}, { timeoutMs: 30 });
  // The loop is held past the deadline, so that the break is read right after the clock struck.
  setTimeout(() => backend.down(false), 30);
  const stopAt = performance.now() + 60;
  while (performance.now() < stopAt);
  await expect(other.next()).rejects.toBeInstanceOf(TransportError);
});

test('[SD10] an answer that is there when the clock strikes wins', async () => {
  const { bus, backend } = await scripted();
  const asked = bus.request('echo', {}, { timeoutMs: 20 });
  const sent = backend.last;
  setTimeout(() => process.nextTick(() => backend.answer(sent, 'just')), 20);
  const stopAt = performance.now() + 60;
  while (performance.now() < stopAt);
  expect(await asked).toBe('just');
});

test('[SD10] a reader far behind gets all the text in fewer chunks', async () => {
  const { bus, backend } = await scripted();
  const stream = bus.stream('session/prompt');
  const sent = backend.last;
  for (let n = 0; n < 3 * STREAM_CHUNKS_MAX; n++) backend.chunk(sent, String(n % 10));
  backend.answer(sent, {});
  const events: StreamEvent[] = [];
  for await (const event of stream) events.push(event);
  expect(events).toHaveLength(STREAM_CHUNKS_MAX + 1);
  const text = events.map((event) => (event.type === 'chunk' ? event.text : '')).join('');
  expect(text).toHaveLength(3 * STREAM_CHUNKS_MAX);
  expect(events.at(-1)).toEqual({ type: 'result', result: { text } });
});

test('[SD11] leaving cancels once; leaving after the end cancels nothing', async () => {
  const { bus, backend } = await scripted();
  const stream = bus.stream('session/prompt', { sessionId: 'agent' });
  const sent = backend.last;
  await stream.return();
  await stream.return();
  expect(backend.sent.slice(1)).toMatchObject([
    { method: '$/cancelRequest', params: { id: sent.id }, sessionId: sent.sessionId },
    { method: 'session/cancel', params: { sessionId: 'agent' }, sessionId: sent.sessionId },
  ]);
  const count = backend.sent.length;
  const done = bus.stream('session/prompt', { sessionId: 'agent' });
  backend.answer(backend.last, {});
  for await (const _ of done);
  await done.return();
  expect(backend.sent).toHaveLength(count + 1);
});

test('[SD11] a turn that somebody else is in is not cancelled with the request', async () => {
  const { bus, backend } = await scripted();
  const one = bus.stream('session/prompt', { sessionId: 'agent' });
  const two = bus.request('session/prompt', { sessionId: 'agent' });
  const sent = backend.last;
  await one.return();
  expect(backend.sent.map(({ method }) => method)).not.toContain('session/cancel');
  backend.answer(sent, {});
  await two;
});

test('[SD3] a line that returns: what was sent fails, what was not waits, sessions are attached first', async () => {
  const { bus, backend } = await scripted();
  bus.session('kept');
  const sent = bus.request('echo', { n: 1 });
  backend.down(true);
  await expect(sent).rejects.toMatchObject({ name: 'TransportError', mayHaveRun: true });
  const before = backend.sent.length;
  const waiting = bus.request('echo', { n: 2 });
  const hurried = bus.request('echo', { n: 3 }, { timeoutMs: 10 });
  await expect(hurried).rejects.toMatchObject({ name: 'TimeoutError', mayHaveRun: false });
  expect(backend.sent).toHaveLength(before);
  backend.up();
  expect(backend.sent.slice(before)).toMatchObject([
    { method: 'stdio_bus/attach', params: { sessionId: 'kept' } },
    { method: 'echo', params: { n: 2 } },
  ]);
  backend.answer(backend.last, 'here');
  expect(await waiting).toBe('here');
});

test('[SD19] a session that is attached again says what it heard last', async () => {
  const { bus, backend } = await scripted();
  for (const id of ['heard', 'silent']) bus.session(id);
  backend.say({ method: 'n', sessionId: 'heard', _ext: { seq: 6 } });
  backend.say({ method: 'n', sessionId: 'heard', _ext: { seq: 7 } });
  backend.down(true);
  backend.up();
  expect(backend.sent.slice(-2)).toMatchObject([
    { method: 'stdio_bus/attach', params: { sessionId: 'heard', after: 7 } },
    { method: 'stdio_bus/attach', params: { sessionId: 'silent', after: 0 } },
  ]);
});

test('[SD12] a question that is withdrawn, or whose line broke, is not answered any more', async () => {
  const { bus, backend } = await scripted();
  const aborted: string[] = [];
  bus.onRequest(
    ({ params, signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted.push(String(params));
          resolve('too late');
        });
      }),
  );
  backend.say({ jsonrpc: '2.0', id: 'w1', method: 'ask', params: 'one' });
  backend.say({ jsonrpc: '2.0', id: 'w2', method: 'ask', params: 'two' });
  backend.say({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id: 'w1' } });
  backend.down(true);
  backend.up();
  await new Promise(setImmediate);
  expect(aborted).toEqual(['one', 'two']);
  expect(backend.sent).toEqual([]);
});

test('[SD12] an answer that JSON cannot say becomes an error, and the worker gets it', async () => {
  const { bus, backend } = await scripted();
  bus.onRequest(() => 1n);
  backend.say({ jsonrpc: '2.0', id: 'w1', method: 'ask' });
  await new Promise(setImmediate);
  expect(backend.last).toMatchObject({
    id: 'w1',
    error: { code: -32_603, message: expect.stringMatching(/answer cannot be written as JSON/) },
  });
});
