/** What a plugin may write of a call, shown through real calls. */

import { expect, test } from 'vitest';
import { openTestHost, type TestPlugin } from '../../../plugins/host-kit.test.fixture.ts';
import type { CallContext, MiddlewareContext } from './context.ts';

type Run = (context: MiddlewareContext) => unknown;

const transformer = (run: Run, spec: Record<string, unknown> = {}): TestPlugin => ({
  id: 'a.unit',
  kind: 'transformer',
  spec,
  make: () => async (context: MiddlewareContext) => {
    run(context);
    return context;
  },
});

const interceptor = (run: Run): TestPlugin => ({
  id: 'a.unit',
  kind: 'interceptor',
  make: () => (context: MiddlewareContext, next: () => unknown) => {
    run(context);
    return next();
  },
});

const body = (context: MiddlewareContext) => context.input.body as Record<string, unknown>;
const force = (context: MiddlewareContext) => context as unknown as Record<string, unknown>;

const forbidden: [string, Run][] = [
  ['operation', (c) => Object.assign(force(c), { operation: 'recv' })],
  ['connection_id', (c) => Object.assign(force(c), { connection_id: 'x' })],
  ['correlation_id', (c) => Object.assign(force(c), { correlation_id: 'x' })],
  ['a new field', (c) => Object.assign(force(c), { extra: 1 })],
  ['agent_id', (c) => Object.assign(c, { agent_id: 'eve' })],
  ['input.correlation_id', (c) => Object.assign(c.input, { correlation_id: 'x' })],
  ['input.correlation_id, removed', (c) => delete c.input.correlation_id],
  ['input.reply_to', (c) => Object.assign(c.input, { reply_to: 'm-1' })],
  ['input.sender', (c) => Object.assign(c.input, { sender: 'eve' })],
  ['input.channel, removed', (c) => delete c.input.channel],
  ['a value of the body', (c) => Object.assign(body(c), { type: 'x' })],
  ['a key of the body, removed', (c) => delete body(c).type],
  ['the body, replaced', (c) => Object.assign(c.input, { body: { other: 1 } })],
  ['the body, removed', (c) => delete c.input.body],
  ['the input, replaced by a list', (c) => Object.assign(c, { input: [] as never })],
  ['the input, by what JSON cannot carry', (c) => Object.assign(body(c), { self: c.input })],
  ['the input, beyond its bound', (c) => Object.assign(body(c), { big: 'x'.repeat(2_100_000) })],
  ['metadata.pipeline_trace', (c) => Object.assign(c.metadata, { pipeline_trace: [] })],
  [
    'metadata._connection_credential',
    (c) => Object.assign(c.metadata, { _connection_credential: 'x' }),
  ],
  [
    'more metadata than its bound',
    (c) => {
      for (let i = 0; i <= 64; i += 1) c.metadata[`k${i}`] = i;
    },
  ],
];

test.each(forbidden)('[P9] a transformer cannot write %s', async (_field, run) => {
  const { run: runCall, stored } = await openTestHost([transformer(run)]);
  expect((await runCall()).reply).toMatchObject({ error: { error_code: 'internal_error' } });
  expect(stored).toEqual([]);
});

test.each(forbidden)('[P9] an interceptor cannot write %s', async (_field, run) => {
  const { run: runCall, stored } = await openTestHost([interceptor(run)]);
  expect((await runCall()).reply).toMatchObject({ error: { error_code: 'internal_error' } });
  expect(stored).toEqual([]);
});

test('[P9] the channel may be normalised, the body added to, other fields set', async () => {
  const { run, stored } = await openTestHost([
    transformer((context) => {
      context.input.channel = 'test:normal';
      body(context).added = { deep: true };
      context.input.limit = 5;
    }),
  ]);
  await run();
  expect(stored).toEqual([
    {
      channel: 'test:normal',
      body: { type: 'status_update', added: { deep: true } },
      correlation_id: 'c-1',
      limit: 5,
    },
  ]);
});

test('[P9] what a plugin keeps of a call changes nothing later', async () => {
  let kept: MiddlewareContext | null = null;
  const { host } = await openTestHost([
    transformer((context) => {
      kept = context;
      body(context).added = { n: 1 };
    }),
  ]);
  let seen: unknown;
  await host.run(call(), async ({ input }) => {
    (body(kept as unknown as MiddlewareContext).added as { n: number }).n = 2;
    seen = structuredClone(input);
    return { ok: {} };
  });
  expect(seen).toMatchObject({ body: { added: { n: 1 } } });
});

test('[P9] metadata passes between units; the credential is shown to auth alone', async () => {
  const seen: unknown[] = [];
  const look = (context: MiddlewareContext) => {
    const { metadata } = context;
    seen.push([metadata._connection_credential, '_connection_credential' in metadata]);
    seen.push(Object.keys(metadata));
  };
  const { host } = await openTestHost([
    {
      id: 'a.auth',
      kind: 'transformer',
      spec: { plugin_capabilities: [{ auth: '1' }] },
      make: () => (context: MiddlewareContext) => {
        look(context);
        context.agent_id = 'ada';
        context.metadata.tier = 'gold';
        return context;
      },
    },
    { id: 'b.next', kind: 'hook', make: () => look },
  ]);
  const made = call({ agentId: null, metadata: { _connection_credential: 'secret' } });
  const { reply } = await host.run(made, async ({ agentId }) => ({ ok: { agentId } }));
  expect(reply).toEqual({ ok: { agentId: 'ada' } });
  expect(seen).toEqual([
    ['secret', true],
    ['_connection_credential'],
    [undefined, false],
    ['tier'],
  ]);
});

test('[P9] a unit can read the trace so far, and the host writes it at the end', async () => {
  let seen: unknown;
  const { host } = await openTestHost([
    transformer((context) => {
      seen = context.metadata.pipeline_trace;
    }),
  ]);
  const made = call();
  const { trace } = await host.run(made, async () => ({ ok: {} }));
  expect(seen).toEqual([expect.objectContaining({ plugin_id: 'a.unit' })]);
  expect(made.metadata.pipeline_trace).toBe(trace);
});

test('[P4] a plugin in the auth slot sets agent_id once; without one nothing passes', async () => {
  const auth = (run: Run) => transformer(run, { plugin_capabilities: [{ auth: '1' }] });
  const nobody = await openTestHost([auth(() => {})]);
  expect((await nobody.run({ agentId: null })).reply).toMatchObject({
    error: { error_code: 'identity_failure' },
  });
  expect(nobody.stored).toEqual([]);
  const twice = await openTestHost([
    auth((context) => {
      context.agent_id = 'ada';
      context.agent_id = 'eve';
    }),
  ]);
  expect((await twice.run({ agentId: null })).reply).toMatchObject({
    error: { error_code: 'internal_error' },
  });
});

function call(over: Partial<CallContext> = {}): CallContext {
  return {
    operation: 'send',
    transport: 'stdio',
    input: { channel: 'c', body: {} },
    agentId: 'ada',
    connectionId: 'k',
    correlationId: 'x',
    metadata: {},
    ...over,
  };
}
