/** Interceptors: next, short circuits, observe_only, failures and the time limit. */

import { expect, test } from 'vitest';
import { openTestHost, type TestPlugin, verdicts } from '../../../plugins/host-kit.test.fixture.ts';
import type { MiddlewareContext } from './context.ts';
import type { Next } from './passage.ts';
import type { Reply } from './reply.ts';

type Run = (context: MiddlewareContext, next: Next) => unknown;

const interceptor = (run: Run, spec: Record<string, unknown> = {}): TestPlugin => ({
  id: 'a.unit',
  kind: 'interceptor',
  spec,
  make: () => run,
});

const OBSERVE = { plugin_capabilities: [{ observe_only: true }] };
const DENIED: Reply = {
  error: { error_code: 'rate_limited', message: 'slow down', retry_after: 9 },
};
const GENERIC = {
  error: {
    error_code: 'internal_error',
    message: 'internal error',
    detail: { correlation_id: 'call-1' },
  },
};
const AFTER = {
  error: { error_code: 'internal_error', detail: { reason: 'failed_after_dispatch' } },
};

test('[P10] an interceptor runs around the store and may change the reply', async () => {
  const { run, stored } = await openTestHost([
    interceptor(async (_context, next) => {
      const reply = await next();
      return 'ok' in reply ? { ok: { ...reply.ok, seen: true } } : reply;
    }),
  ]);
  const { reply, trace } = await run();
  expect(reply).toEqual({ ok: { stored: 1, seen: true } });
  expect(stored).toHaveLength(1);
  expect(verdicts(trace)).toEqual(['a.unit continue', 'store_dispatch continue']);
});

test.each([
  ['returned', () => DENIED],
  [
    'thrown',
    () => {
      throw Object.assign(new Error(), { name: 'ShortCircuitResponse', response: DENIED });
    },
  ],
])('[P10] a short circuit %s answers in the place of the store', async (_how, answer) => {
  const { run, stored, lines } = await openTestHost([interceptor(async () => answer())]);
  const before = lines.length;
  const { reply, trace } = await run();
  expect(reply).toEqual(DENIED);
  expect(stored).toEqual([]);
  expect(verdicts(trace)).toEqual(['a.unit short_circuit']);
  expect(trace[0]).not.toHaveProperty('error_code');
  expect(lines).toHaveLength(before);
});

test('[P10] an error code of its own keeps its name in detail.reason', async () => {
  const answer = { error: { error_code: 'quiet_hours', message: 'later', detail: { until: 7 } } };
  const { run } = await openTestHost([interceptor(async () => answer)]);
  expect((await run()).reply).toEqual({
    error: {
      error_code: 'validation_error',
      message: 'later',
      detail: { until: 7, reason: 'quiet_hours' },
    },
  });
});

test('[P10] what it throws reaches the log, not the caller', async () => {
  const { run, stored, lines } = await openTestHost([
    interceptor(async () => {
      throw new Error('the password is hunter2');
    }),
  ]);
  const { reply, trace } = await run();
  expect(reply).toEqual(GENERIC);
  expect(stored).toEqual([]);
  expect(trace).toEqual([
    expect.objectContaining({ verdict: 'error', error_code: 'internal_error' }),
  ]);
  expect(lines.at(-1)).toMatch(/^error .*a\.unit.*correlation_id=call-1.*hunter2/s);
});

test.each([
  ['nothing', undefined],
  ['a text', 'ok'],
  ['both', { ok: {}, error: DENIED.error }],
  ['an error without a code', { error: { message: 'no' } }],
  ['an error without a message', { error: { error_code: 'rate_limited', message: '' } }],
  ['a number too big for JSON', { ok: { n: 1n } }],
])('[P10] %s is no reply', async (_what, answer) => {
  const { run } = await openTestHost([interceptor(async () => answer)]);
  expect((await run()).reply).toEqual(GENERIC);
});

test('[P10] a failure after the store says that the operation was carried out', async () => {
  const { run, stored } = await openTestHost([
    interceptor(async (_context, next) => {
      await next();
      throw new Error('late');
    }),
  ]);
  expect((await run()).reply).toMatchObject(AFTER);
  expect(stored).toHaveLength(1);
});

test.each([
  ['observe_only', OBSERVE],
  ['may_short_circuit: false', { plugin_capabilities: [{ may_short_circuit: false }] }],
])('[P10] a short circuit by a plugin with %s is a failure', async (_what, spec) => {
  const { run, stored, lines } = await openTestHost([interceptor(async () => DENIED, spec)]);
  const { reply, trace } = await run();
  expect(reply).toEqual(GENERIC);
  expect(stored).toEqual([]);
  expect(verdicts(trace)).toEqual(['a.unit error']);
  expect(lines.at(-1)).toContain('ContractViolation');
});

test('[P10] an observe_only plugin cannot change the answer of the store', async () => {
  const { run } = await openTestHost([
    interceptor(async (_context, next) => {
      await next();
      return DENIED;
    }, OBSERVE),
  ]);
  const { reply, trace } = await run();
  expect(reply).toEqual({ ok: { stored: 1 } });
  expect(verdicts(trace)).toEqual(['a.unit error', 'store_dispatch continue']);
});

test('[P10] an observe_only plugin cannot change the input', async () => {
  const { run, stored } = await openTestHost([
    interceptor(async (context, next) => {
      context.input.limit = 7;
      return next();
    }, OBSERVE),
  ]);
  expect((await run()).reply).toEqual(GENERIC);
  expect(stored).toEqual([]);
});

test.each([
  ['awaited', async (next: Next) => [await next(), await next()][0]],
  ['dropped', (next: Next) => [next(), next()][0]],
  [
    'swallowed',
    async (next: Next) => {
      const reply = await next();
      await next().catch(() => {});
      return reply;
    },
  ],
])('[P8] a second next, %s, stores nothing more and is a failure', async (_how, twice) => {
  const { run, stored } = await openTestHost([interceptor((_context, next) => twice(next))]);
  const { reply, trace } = await run();
  expect(stored).toHaveLength(1);
  expect(reply).toMatchObject(AFTER);
  expect(verdicts(trace)[0]).toBe('a.unit error');
});

test('[P8] a reply is not given before the store it left running has answered', async () => {
  const { run } = await openTestHost([
    interceptor(async (_context, next) => {
      void next();
      return { ok: { mine: true } };
    }),
  ]);
  const { reply, trace } = await run();
  expect(reply).toEqual({ ok: { mine: true } });
  expect(verdicts(trace)).toEqual(['a.unit continue', 'store_dispatch continue']);
});

test('[P8] [P19] a plugin past its time limit fails, and its late next reaches nothing', async () => {
  let late: () => Promise<Reply> = async () => DENIED;
  const { run, stored } = await openTestHost(
    [
      interceptor((_context, next) => {
        late = next;
        return new Promise(() => {});
      }),
    ],
    { unitTimeoutMs: 20 },
  );
  expect((await run()).reply).toEqual(GENERIC);
  await expect(late()).rejects.toThrow('after the unit had answered');
  expect(stored).toEqual([]);
});

test('[P19] the time the store takes is not counted against the plugin', async () => {
  const { host } = await openTestHost([interceptor((_context, next) => next())], {
    unitTimeoutMs: 15,
  });
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const call = {
    operation: 'recv',
    transport: 'http' as const,
    input: {},
    agentId: 'ada',
    connectionId: 'c',
    correlationId: 'x',
    metadata: {},
  };
  const answer = host.run(call, () => {
    // The store answers only once the plugin's limit is well past.
    setTimeout(() => resolve({ ok: { waited: true } }), 60);
    return promise;
  });
  expect((await answer).reply).toEqual({ ok: { waited: true } });
});
