/** Transformers and hooks: what each may do, and what its failure means. */

import { expect, test } from 'vitest';
import { openTestHost, type TestPlugin, verdicts } from '../../../plugins/host-kit.test.fixture.ts';
import type { MiddlewareContext } from './context.ts';

type Run = (context: MiddlewareContext) => unknown;

const unit = (kind: 'transformer' | 'hook', run: Run, spec = {}): TestPlugin => ({
  id: 'a.unit',
  kind,
  spec,
  make: () => run,
});

const GENERIC = {
  error: {
    error_code: 'internal_error',
    message: 'internal error',
    detail: { correlation_id: 'call-1' },
  },
};
const POST = { must_run_after: ['store_dispatch'] };

function fail(error: unknown): never {
  throw error;
}

test('[P11] a transformer changes the input, in place or by a copy', async () => {
  const inPlace = await openTestHost([
    unit('transformer', async (context) => {
      context.input.channel = 'test:y';
      return context;
    }),
  ]);
  await inPlace.run();
  expect(inPlace.stored[0]).toMatchObject({ channel: 'test:y', correlation_id: 'c-1' });
  const byCopy = await openTestHost([
    unit('transformer', (context) => ({ ...context, input: { ...context.input, channel: 'z' } })),
  ]);
  expect(verdicts((await byCopy.run()).trace)).toEqual([
    'a.unit continue',
    'store_dispatch continue',
  ]);
  expect(byCopy.stored[0]).toMatchObject({ channel: 'z' });
});

/** As a package of its own throws it. */
const named = (name: string, more: object): Error =>
  Object.assign(new Error('no good'), { name, ...more });

test('[P11] a ValidationError is a validation_error with its violations', async () => {
  const violations = [{ field: 'body.x', issue: 'must be string' }];
  const { run, stored } = await openTestHost([
    unit('transformer', async () => fail(named('ValidationError', { violations }))),
  ]);
  const { reply, trace } = await run();
  expect(reply).toEqual({
    error: { error_code: 'validation_error', message: 'no good', detail: { violations } },
  });
  expect(trace).toEqual([
    expect.objectContaining({ verdict: 'error', error_code: 'validation_error' }),
  ]);
  expect(stored).toEqual([]);
});

test.each([
  ['another exception', () => fail(new Error('x'))],
  ['a thrown value', () => fail('x')],
  ['a short circuit', () => fail(named('ShortCircuitResponse', { response: { ok: {} } }))],
  ['no context', () => undefined],
  ['a text', () => 'done'],
  ['another operation', (context: MiddlewareContext) => ({ ...context, operation: 'recv' })],
])('[P11] %s from a transformer is a failure', async (_what, run) => {
  const {
    run: runCall,
    stored,
    lines,
  } = await openTestHost([unit('transformer', async (context) => run(context))]);
  expect((await runCall()).reply).toEqual(GENERIC);
  expect(stored).toEqual([]);
  expect(lines.at(-1)).toMatch(/^error plugin failed: id=a\.unit/);
});

test('[P19] a transformer past its time limit is a failure', async () => {
  const { run } = await openTestHost([unit('transformer', () => new Promise(() => {}))], {
    unitTimeoutMs: 10,
  });
  expect((await run()).reply).toEqual(GENERIC);
});

test('[P12] a hook ahead of the store may deny', async () => {
  const error = { error_code: 'identity_failure', message: 'not today' };
  const { run, stored } = await openTestHost([
    unit('hook', async () => ({ action: 'deny', error })),
  ]);
  const { reply, trace } = await run();
  expect(reply).toEqual({ error });
  expect(stored).toEqual([]);
  expect(verdicts(trace)).toEqual(['a.unit short_circuit']);
});

test('[P12] a denial without a reason is still a denial', async () => {
  const { run, stored } = await openTestHost([unit('hook', async () => ({ action: 'deny' }))]);
  expect((await run()).reply).toMatchObject({ error: { error_code: 'validation_error' } });
  expect(stored).toEqual([]);
});

test('[P12] behind the store a hook sees the reply and its result is ignored', async () => {
  const seen: unknown[] = [];
  const { run } = await openTestHost([
    unit(
      'hook',
      async (context) => {
        seen.push(context.response);
        return { action: 'deny', error: { error_code: 'rate_limited', message: 'no' } };
      },
      POST,
    ),
  ]);
  const { reply, trace } = await run();
  expect(reply).toEqual({ ok: { stored: 1 } });
  expect(seen).toEqual([{ ok: { stored: 1 } }]);
  expect(verdicts(trace)).toEqual(['store_dispatch continue', 'a.unit continue']);
});

test.each([
  ['input', (context: MiddlewareContext) => Object.assign(context, { input: {} })],
  [
    'a field of the input',
    (context: MiddlewareContext) => Object.assign(context.input, { channel: 'x' }),
  ],
  ['metadata', (context: MiddlewareContext) => Object.assign(context.metadata, { x: 1 })],
])('[P12] a hook cannot write %s', async (_what, write) => {
  const { run, stored, host } = await openTestHost([unit('hook', async (c) => void write(c))]);
  await run();
  expect(host.counters()['sox.hook.failure_count']).toBe(1);
  expect(stored[0]).toMatchObject({ channel: 'test:x' });
});

test.each([
  [undefined, true, true],
  ['alarm', true, true],
  ['swallow', true, false],
  ['raise', false, true],
])('[P12] SOX_HOOK_FAILURE_MODE=%s: goes on %s, logs %s, always counts', async (mode, on, logs) => {
  const { run, stored, lines, host } = await openTestHost(
    [unit('hook', async () => fail(new Error('broken hook')))],
    { env: { SOX_HOOK_FAILURE_MODE: mode } },
  );
  const { reply, trace } = await run();
  expect(reply).toEqual(on ? { ok: { stored: 1 } } : GENERIC);
  expect(stored).toHaveLength(on ? 1 : 0);
  expect(verdicts(trace)[0]).toBe('a.unit error');
  expect(lines.some((line) => line.includes('broken hook'))).toBe(logs);
  expect(host.counters()).toEqual({ 'sox.hook.failure_count': 1 });
});

test('[P12] an unknown failure mode stops the start', async () => {
  await expect(openTestHost([], { env: { SOX_HOOK_FAILURE_MODE: 'ignore' } })).rejects.toThrow(
    'SOX_HOOK_FAILURE_MODE is ignore',
  );
});
