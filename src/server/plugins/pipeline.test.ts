/** A call's way through slots, plugins and store, and the trace it leaves. */

import { expect, test } from 'vitest';
import {
  createCall,
  openTestHost,
  type TestPlugin,
  verdicts,
} from '../../../plugins/host-kit.test.fixture.ts';
import type { MiddlewareContext } from './context.ts';
import type { Next } from './passage.ts';
import type { Builtin } from './pipeline.ts';
import { SLOTS } from './slots.ts';

/** Built-ins that only write down that they were there. */
function recorders(seen: string[]): Builtin[] {
  return SLOTS.filter((slot) => slot !== 'store_dispatch').map((capability) => ({
    capability,
    run: async (_call, next) => {
      seen.push(`${capability} in`);
      const reply = await next();
      seen.push(`${capability} ${'ok' in reply ? 'ok' : reply.error.error_code}`);
      return reply;
    },
  }));
}

const pass = (id: string, spec: Record<string, unknown> = {}): TestPlugin => ({
  id,
  kind: 'interceptor',
  spec,
  make: () => (_context: MiddlewareContext, next: Next) => next(),
});

test('[P4] the built-ins run in the order of the slots and unwind in reverse', async () => {
  const seen: string[] = [];
  const { run } = await openTestHost([], { builtins: recorders(seen) });
  const { reply, trace } = await run();
  expect(reply).toEqual({ ok: { stored: 1 } });
  expect(seen).toEqual([
    'namespace_resolver in',
    'auth in',
    'rate_limit in',
    'schema_validator in',
    'idempotency in',
    'idempotency ok',
    'schema_validator ok',
    'rate_limit ok',
    'auth ok',
    'namespace_resolver ok',
    'audit_log in',
    'audit_log ok',
  ]);
  expect(verdicts(trace)).toEqual(SLOTS.map((slot) => `${slot} continue`));
});

test('[P4] a plugin replaces the built-in of its slot where it is in scope, and only there', async () => {
  const seen: string[] = [];
  const { run } = await openTestHost(
    [
      pass('a.limit', {
        plugin_capabilities: [{ rate_limit: '1' }],
        applies_to: { operations: ['send'] },
      }),
    ],
    { builtins: recorders(seen) },
  );
  const send = await run({ operation: 'send' });
  expect(verdicts(send.trace)[2]).toBe('a.limit continue');
  expect(seen).not.toContain('rate_limit in');
  const recv = await run({ operation: 'recv' });
  expect(verdicts(recv.trace)[2]).toBe('rate_limit continue');
  expect(seen).toContain('rate_limit in');
});

test('[P4] a plugin in the slot of the store reaches the store through next', async () => {
  const spec = { plugin_capabilities: [{ store_dispatch: '1' }] };
  const through = await openTestHost([pass('a.store', spec)]);
  expect((await through.run()).reply).toEqual({ ok: { stored: 1 } });
  const instead = await openTestHost([
    { id: 'a.store', kind: 'interceptor', spec, make: () => async () => ({ ok: { mine: 1 } }) },
  ]);
  const { reply, trace } = await instead.run();
  expect(reply).toEqual({ ok: { mine: 1 } });
  expect(verdicts(trace)).toEqual(['a.store continue']);
  expect(instead.stored).toEqual([]);
});

test('[P7] a plugin is in the trace of calls in its scope and in no other', async () => {
  const { run, host } = await openTestHost([
    pass('a.scoped', { applies_to: { operations: ['send'], transports: ['stdio'] } }),
  ]);
  expect(verdicts((await run({ transport: 'stdio' })).trace)[0]).toBe('a.scoped continue');
  expect(verdicts((await run({ transport: 'http' })).trace)).toEqual(['store_dispatch continue']);
  expect(host.appliesTo('send', 'stdio')).toBe(true);
  expect(host.appliesTo('send', 'http')).toBe(false);
  expect(host.appliesTo('recv', 'stdio')).toBe(false);
});

test('[P14] units that were not reached are absent from the trace', async () => {
  const seen: string[] = [];
  const { run } = await openTestHost(
    [
      {
        id: 'a.stop',
        kind: 'interceptor',
        spec: { must_run_before: ['rate_limit'] },
        make: () => async () => ({ error: { error_code: 'rate_limited', message: 'no' } }),
      },
    ],
    { builtins: recorders(seen) },
  );
  const { trace } = await run();
  expect(verdicts(trace)).toEqual([
    'namespace_resolver continue',
    'auth continue',
    'a.stop short_circuit',
    'audit_log continue',
  ]);
});

test('[P14] an entry has the fields of the contract, times in epoch seconds', async () => {
  const before = Date.now() / 1000 - 1;
  const { run } = await openTestHost([pass('a.first'), pass('b.second')]);
  const { trace } = await run();
  expect(trace.map((entry) => Object.keys(entry).sort())).toEqual(
    Array(3).fill(
      ['correlation_id', 'finished_at', 'kind', 'plugin_id', 'started_at', 'verdict'].sort(),
    ),
  );
  const [first, second, store] = trace;
  expect(first).toMatchObject({ kind: 'interceptor', correlation_id: 'call-1' });
  expect(store).toMatchObject({ plugin_id: 'store_dispatch', kind: 'builtin' });
  expect(first?.started_at).toBeGreaterThan(before);
  expect(first?.started_at).toBeLessThan(Date.now() / 1000 + 1);
  expect(first?.started_at).toBeLessThan(second?.started_at as number);
  expect(first?.finished_at).toBeGreaterThanOrEqual(second?.finished_at as number);
});

test('[P14] a refusal by the store is its verdict; whoever passed it on continued', async () => {
  const { host } = await openTestHost([pass('a.first')]);
  const refusal = { error: { error_code: 'store_unavailable', message: 'disk full' } };
  const { reply, trace } = await host.run(createCall(), async () => refusal);
  expect(reply).toEqual(refusal);
  expect(verdicts(trace)).toEqual(['a.first continue', 'store_dispatch error']);
  expect(trace[1]?.error_code).toBe('store_unavailable');
});

test('[P10] a store or built-in that throws gives internal_error, the cause in the log', async () => {
  const { host, lines } = await openTestHost([]);
  const { reply } = await host.run(createCall(), async () => {
    throw new Error('secret path');
  });
  expect(reply).toMatchObject({
    error: { error_code: 'internal_error', message: 'internal error' },
  });
  expect(JSON.stringify(reply)).not.toContain('secret path');
  expect(lines.at(-1)).toContain('secret path');
});

test('[P22] the audit sees every reply, refusals too, and cannot change it', async () => {
  const audited: unknown[] = [];
  const builtins: Builtin[] = [
    {
      capability: 'audit_log',
      run: async (_call, next) => {
        audited.push(await next());
        return { ok: { forged: true } };
      },
    },
  ];
  const { run, host } = await openTestHost([], { builtins });
  expect((await run()).reply).toEqual({ ok: { stored: 1 } });
  const refusal = { error: { error_code: 'rate_limited', message: 'no' } };
  expect((await host.run(createCall(), async () => refusal)).reply).toEqual(refusal);
  expect(audited).toEqual([{ ok: { stored: 1 } }, refusal]);
});

test('[P22] nothing behind the store can change the input the audit reads', async () => {
  const { host } = await openTestHost([
    {
      id: 'a.late',
      kind: 'interceptor',
      spec: { must_run_after: ['store_dispatch'], must_run_before: ['audit_log'] },
      make: () => (context: MiddlewareContext, next: Next) => {
        context.input.limit = 9;
        return next();
      },
    },
  ]);
  const call = createCall();
  const { reply } = await host.run(call, async () => ({ ok: {} }));
  expect(call.input).not.toHaveProperty('limit');
  expect(reply).toMatchObject({ error: { detail: { reason: 'failed_after_dispatch' } } });
});
