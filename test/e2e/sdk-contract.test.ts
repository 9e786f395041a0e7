/** What `StdioBus` promises, over every backend: one table, the same cases, real workers. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  BusState,
  CancelledError,
  InternalError,
  InvalidArgumentError,
  InvalidStateError,
  NegotiationFailedError,
  type StdioBus,
  TimeoutError,
  TransportError,
} from '../../src/bus/sdk/index.ts';
import { within } from './deadline.ts';
import { BACKENDS, nextNotification, type OpenedBus } from './sdk-buses.ts';

interface Echo {
  readonly echo: Record<string, unknown>;
  readonly pid: number;
  readonly whole: Record<string, unknown>;
}

interface Prompted {
  readonly stopReason: string;
  readonly pid: number;
  readonly text?: string;
}

const one = { pool: 'one' };
const many = { pool: 'many' };

describe.each(Object.entries(BACKENDS))('%s', (type, openBus) => {
  let opened: OpenedBus;
  let bus: StdioBus;

  beforeAll(async () => {
    opened = await openBus({ one: 1, many: 3 });
    bus = opened.bus;
  });
  afterAll(() => opened.close());

  test('[SD15] knows its state, its backend and the eight counters', async () => {
    expect(bus.getState()).toBe(BusState.RUNNING);
    expect(bus.getStateName()).toBe('RUNNING');
    expect(bus.isRunning()).toBe(true);
    expect(bus.getBackendType()).toBe(type);
    expect(bus.getListenMode()).toBe('none');
    expect(await bus.getWorkerCount()).toBeGreaterThanOrEqual(1);
    expect(await bus.getClientCount()).toBe(1);
    const before = await bus.getStats();
    await bus.request('echo', { text: 'x'.repeat(1_000) }, one);
    const after = await bus.getStats();
    expect(Object.keys(after).sort()).toEqual([
      ...['bytesIn', 'bytesOut', 'clientConnects', 'clientDisconnects'],
      ...['messagesIn', 'messagesOut', 'routingErrors', 'workerRestarts'],
    ]);
    expect(after.messagesIn).toBeGreaterThan(before.messagesIn);
    expect(after.bytesIn).toBeGreaterThan(before.bytesIn + 1_000);
    expect(after.bytesOut).toBeGreaterThan(before.bytesOut + 1_000);
    expect(after.workerRestarts).toBe(0);
  });

  test('[SD5] a request reaches the worker with its session, agent and extensions', async () => {
    const { whole } = await bus.request<Echo>('echo', undefined, {
      ...one,
      agentId: 'ada',
      identity: { subjectId: 'ada', role: 'user', assertedBy: 'bus' },
      audit: { eventId: 'e1', action: 'look' },
      idempotencyKey: `key-${type}`,
      timeoutMs: 9_000,
    });
    expect(whole).not.toHaveProperty('params');
    expect(whole.agentId).toBe('ada');
    expect(whole.sessionId).toMatch(/^client-\d+-[a-z0-9]{6}/);
    expect(whole._ext).toMatchObject({
      // Over TCP the bus knows who it is, and says so in place of what is claimed.
      identity:
        type === 'docker'
          ? { subjectId: 'bus-token', assertedBy: 'bus' }
          : { subjectId: 'ada', assertedBy: 'self' },
      audit: { eventId: 'e1', action: 'look' },
      timeoutMs: 9_000,
    });
    const plain = await bus.request<Echo>('echo', { a: 1 }, { ...one, sessionId: 'mine' });
    if (type !== 'docker') expect(plain.whole).not.toHaveProperty('_ext');
    expect(plain.whole.sessionId).toBe('mine');
  });

  test('[SD6] answers come to their own requests, whatever their order and size', async () => {
    const hundred = Array.from({ length: 100 }, (_, n) => n);
    const answers = await Promise.all(
      hundred.map((n) => bus.request<Echo>('echo', { n }, n % 2 === 0 ? one : many)),
    );
    expect(answers.map(({ echo }) => echo.n)).toEqual(hundred);
    const big = 'ü€😀'.repeat(400_000);
    const { echo } = await bus.request<Echo>('echo', { big }, one);
    expect(echo.big === big).toBe(true);
  });

  test('[SD7] an error keeps its class, its number and its data', async () => {
    const failed = bus.request('fail', { code: -32_042, message: 'no', data: { why: 1 } }, one);
    const error = await failed.catch((caught) => caught);
    expect(error).toBeInstanceOf(InternalError);
    expect(error).toMatchObject({ code: 99, rpcCode: -32_042, message: 'no', data: { why: 1 } });
    expect(String(error)).toBe('[INTERNAL] no');
    const unknown = await bus.request('echo', {}, { pool: 'none' }).catch((caught) => caught);
    expect(unknown).toBeInstanceOf(InvalidArgumentError);
    expect(unknown).toMatchObject({ mayHaveRun: false, details: { code: 'bus.pool-unknown' } });
  });

  test('[SD8] one client uses every instance of a pool', async () => {
    const pids = new Set<number>();
    while (pids.size < 3) {
      const burst = Array.from({ length: 12 }, () => bus.request<Echo>('echo', {}, many));
      for (const { pid } of await Promise.all(burst)) pids.add(pid);
    }
    expect(pids.size).toBe(3);
  });

  test('[SD8] an agent session stays at the worker that opened it', async () => {
    const opened = await Promise.all(
      Array.from({ length: 6 }, () =>
        bus.request<{ sessionId: string; pid: number }>('session/new', {}, many),
      ),
    );
    for (let round = 0; round < 3; round++) {
      const prompted = await Promise.all(
        opened.map(({ sessionId }) =>
          bus.request<Prompted>('session/prompt', { sessionId, text: sessionId }, many),
        ),
      );
      expect(prompted.map(({ pid }) => pid)).toEqual(opened.map(({ pid }) => pid));
      expect(prompted.map(({ text }) => text)).toEqual(opened.map(({ sessionId }) => sessionId));
    }
  });

  test('[SD8] a session object keeps to one worker, and can be closed', async () => {
    const session = bus.session();
    const pids = new Set<number>();
    for (let n = 0; n < 9; n++) pids.add((await session.request<Echo>('echo', {}, many)).pid);
    expect(pids.size).toBe(1);
    expect(await session.attach()).toMatchObject({ sessionId: session.id, missed: 0 });
    await session.close();
    await expect(session.attach()).rejects.toMatchObject({
      details: { code: 'bus.session-unknown' },
    });
  });

  test('[SD10] a chunk is there before the result, and the result has all the text', async () => {
    const prompt = { text: 'one two', hold: `step-${type}` };
    const session = bus.session();
    const stream = session.stream<Prompted>('session/prompt', prompt, one);
    expect((await stream.next()).value).toEqual({ type: 'chunk', text: 'one ' });
    expect((await stream.next()).value).toEqual({ type: 'chunk', text: 'two' });
    session.notify('release', { hold: prompt.hold }, one);
    expect((await stream.next()).value).toMatchObject({
      type: 'result',
      result: { stopReason: 'end_turn', text: 'one two' },
    });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    const same = await bus.request<Prompted>('session/prompt', { text: 'one two' }, one);
    expect(same.text).toBe('one two');
    const silent = await bus.request<Prompted>('session/prompt', { text: '' }, one);
    expect(silent).not.toHaveProperty('text');
  });

  test('[SD9] [SD10] many streams at once, on one worker and on several, keep their own text', async () => {
    const texts = Array.from({ length: 24 }, (_, n) => `${n} is my number, and only ${n} is`);
    const gathered = await Promise.all(
      texts.map(async (text, n) => {
        let seen = '';
        const stream = bus.stream<Prompted>('session/prompt', { text }, n % 3 === 0 ? one : many);
        for await (const event of stream) {
          if (event.type === 'chunk') seen += event.text;
          else expect(event.result.text).toBe(text);
        }
        return seen;
      }),
    );
    expect(gathered).toEqual(texts);
  });

  test('[SD9] two requests in one session: text that names its request is theirs, other text is nobody’s', async () => {
    const session = bus.session();
    const hold = [`a-${type}`, `b-${type}`];
    const named = hold.map((name) =>
      session.request<Prompted>('session/prompt', { text: name, hold: name, named: true }, one),
    );
    for (const name of hold) session.notify('release', { hold: name }, one);
    expect((await Promise.all(named)).map(({ text }) => text)).toEqual(hold);
    const heard: unknown[] = [];
    const off = bus.onNotification((one) => heard.push(one.method));
    const first = session.request<Prompted>('session/prompt', { text: 'x', hold: hold[0] }, one);
    const second = session.request<Prompted>('session/prompt', { text: 'y', hold: hold[1] }, one);
    await session.request('echo', {}, one);
    for (const name of hold) session.notify('release', { hold: name }, one);
    const ended = await Promise.all([first, second]);
    off();
    expect(heard.filter((method) => method === 'session/update')).toHaveLength(2);
    for (const [n, own] of ['x', 'y'].entries()) {
      expect([undefined, own]).toContain(ended[n]?.text);
    }
  });

  test('[SD10] an error comes after the chunks that came', async () => {
    const stream = bus.stream('session/prompt', { text: 'half a', fail: true }, one);
    expect((await stream.next()).value).toMatchObject({ text: 'half ' });
    expect((await stream.next()).value).toMatchObject({ text: 'a' });
    await expect(stream.next()).rejects.toMatchObject({ rpcCode: -32_050, data: { at: 7 } });
    expect((await stream.next()).done).toBe(true);
  });

  test('[SD11] leaving a stream, an abort and a deadline all reach the worker', async () => {
    const stream = bus.stream('session/prompt', { text: 'going on', hold: `never-${type}` }, one);
    let told = nextNotification(bus, 'was-cancelled');
    for await (const _ of stream) break;
    expect((await within('cancel by break', told)).params).toEqual({ method: 'session/prompt' });

    const controller = new AbortController();
    const hangs = nextNotification(bus, 'hangs');
    const aborted = bus.request('hang', {}, { ...one, signal: controller.signal });
    await within('the worker hangs', hangs);
    told = nextNotification(bus, 'was-cancelled');
    controller.abort();
    await expect(aborted).rejects.toBeInstanceOf(CancelledError);
    await within('cancel by abort', told);

    told = nextNotification(bus, 'was-cancelled');
    const late = bus.request('hang', {}, { ...one, timeoutMs: 100 });
    await expect(late).rejects.toBeInstanceOf(TimeoutError);
    await expect(late).rejects.toMatchObject({ mayHaveRun: true, isRetryable: false });
    await within('cancel by deadline', told);
  });

  test('[SD12] a worker’s question is refused without a handler, and answered with one', async () => {
    const refused = await bus.request<{ answer: object }>('ask', { tool: 'rm' }, one);
    expect(refused.answer).toMatchObject({ error: { code: -32_601 } });
    const seen: unknown[] = [];
    const passing = bus.onRequest(() => undefined);
    const off = bus.onRequest(async (request) => {
      seen.push([request.method, request.params]);
      return { outcome: { outcome: 'selected', optionId: 'once' } };
    });
    const allowed = await bus.request<{ answer: object }>('ask', { tool: 'ls' }, one);
    expect(allowed.answer).toEqual({
      result: { outcome: { outcome: 'selected', optionId: 'once' } },
    });
    expect(seen).toEqual([['session/request_permission', { tool: 'ls' }]]);
    off();
    passing();
    const again = await bus.request<{ answer: object }>('ask', {}, one);
    expect(again.answer).toMatchObject({ error: { code: -32_601 } });
    const failing = bus.onRequest(() => {
      throw new CancelledError('the person closed the window');
    });
    const thrown = await bus.request<{ answer: object }>('ask', {}, one);
    failing();
    expect(thrown.answer).toMatchObject({ error: { code: 4 } });
  });

  test('[SD13] notifications go to every subscriber, and to the callback first', async () => {
    const order: string[] = [];
    const off = bus.onNotification(({ method }) => order.push(method));
    const [left, right] = [bus.notifications(), bus.notifications()];
    bus.notify('hello', { n: 1 }, one);
    const [a, b] = await within('both', Promise.all([left.next(), right.next()]));
    expect(order).toContain('echo.notification');
    expect(a.value).toEqual(b.value);
    expect(a.value).not.toBe(b.value);
    expect(a.value?.params).toEqual({ original: { n: 1 }, method: 'hello' });
    off();
    left.close();
    expect((await left.next()).done).toBe(true);
    bus.notify('hello', { n: 2 }, one);
    expect((await right.next()).value?.params).toMatchObject({ original: { n: 2 } });
    await right.return();
    expect(order.filter((method) => method === 'echo.notification')).toHaveLength(1);
  });

  test('[SD16] every line is seen raw; a handler that throws hurts nobody', async () => {
    const lines: string[] = [];
    const offs = [
      bus.onMessage(() => {
        throw new Error('oops');
      }),
      bus.onMessage((text) => lines.push(text)),
    ];
    const raw = JSON.stringify({
      ...{ jsonrpc: '2.0', id: `raw-${type}`, method: 'echo', pool: 'one', sessionId: 'raw' },
    });
    expect(bus.send(raw)).toBe(true);
    expect(bus.send('{ not JSON')).toBe(true);
    expect(bus.send('two\nlines')).toBe(false);
    await bus.request('echo', {}, { ...one, sessionId: 'raw' });
    for (const off of offs) off();
    const ids = lines.map((line) => JSON.parse(line).id);
    expect(ids).toContain(`raw-${type}`);
    expect(lines.find((line) => line.includes('-32700'))).toBeDefined();
    const count = lines.length;
    await bus.request('echo', {}, one);
    expect(lines).toHaveLength(count);
  });

  test('[SD18] hello negotiates; what is required must be there', async () => {
    const asked = { extensions: { cancel: { version: '1.0', required: true }, magic: {} } };
    const result = await bus.hello(asked);
    expect(result.negotiatedProtocolVersion).toBe('0.1.0');
    expect(result.extensions).toMatchObject({
      cancel: { version: '1.0', required: true, active: true },
      magic: { active: false },
    });
    expect(bus.agentSessionId).toBe(result.sessionId);
    await bus.request('echo', {}, { ...one, requiredExtensions: ['cancel'] });
    const options = { ...one, requiredExtensions: ['magic'] };
    await expect(bus.request('echo', {}, options)).rejects.toBeInstanceOf(NegotiationFailedError);
    const impossible = bus.hello({ extensions: { magic: { required: true } } });
    await expect(impossible).rejects.toBeInstanceOf(NegotiationFailedError);
  });

  test('[SD7] a worker that dies fails its request at once, and says it may have run', async () => {
    const session = bus.session();
    const notes = bus.notifications({ maxQueue: 10_000 });
    const error = await session.request('die', {}, many).catch((caught) => caught);
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ mayHaveRun: true, rpcCode: 5 });
    const lost: unknown[] = [];
    while (!lost.includes(session.id)) {
      const note = (await within('session_lost', notes.next())).value;
      if (note?.method !== 'stdio_bus/session_lost') continue;
      lost.push((note.params as { sessionId: string }).sessionId);
    }
    expect(lost.length, 'not one for every call there ever was').toBeLessThan(20);
    notes.close();
    const { pid } = await session.request<Echo>('echo', {}, many);
    expect(pid).toBeGreaterThan(0);
    expect((await bus.getStats()).workerRestarts).toBe(1);
  });

  test('[SD4] stop delivers what is under way, fails what never ends, and ends the subscribers', async () => {
    const { bus: own, close } = await openBus({ one: 1 });
    onTestFinished(close);
    const subscriber = own.notifications();
    const held = own.session();
    const answered = held.request<Prompted>('session/prompt', { text: 'late', hold: 'now' });
    await within('a chunk', nextNotification(own, 'session/update'));
    const hanging = own.request('hang').catch((caught) => caught);
    await within('hangs', nextNotification(own, 'hangs'));
    held.notify('release', { hold: 'now' });
    const stopped = own.stop(0.5);
    expect(own.getStateName()).toBe('STOPPING');
    await expect(own.request('echo')).rejects.toBeInstanceOf(InvalidStateError);
    expect((await answered).text).toBe('late');
    const error = await hanging;
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ mayHaveRun: true });
    await within('stop', stopped);
    expect(own.getState()).toBe(BusState.STOPPED);
    const left: string[] = [];
    for await (const { method } of subscriber) left.push(method);
    expect(left).toEqual(expect.arrayContaining(['session/update', 'hangs']));
    expect(own.send('{}')).toBe(false);
    await expect(own.start()).rejects.toBeInstanceOf(InvalidStateError);
  });
});
