/** Providers: made once, started once, reachable by whoever requires them, shut down once. */

import { expect, test } from 'vitest';
import { openTestHost, type TestPlugin } from '../../../plugins/host-kit.test.fixture.ts';
import type { MiddlewareContext } from './context.ts';
import type { Next } from './passage.ts';
import type { FactoryOptions } from './registry.ts';

function provider(id: string, events: string[], over: object = {}, spec = {}): TestPlugin {
  return {
    id,
    kind: 'provider',
    spec: { plugin_capabilities: [{ [`cap.${id}`]: '1.0' }], ...spec },
    make: () => {
      events.push(`${id} made`);
      return {
        secret: id,
        on_startup: () => void events.push(`${id} started`),
        on_shutdown: () => void events.push(`${id} stopped`),
        ...over,
      };
    },
  };
}

const broken = (id: string, spec = {}): TestPlugin => ({
  id,
  kind: 'hook',
  spec,
  make: () => {
    throw new Error('cannot be made');
  },
});

test('[P13] factory, on_startup once, requests, on_shutdown once', async () => {
  const events: string[] = [];
  const { host, run } = await openTestHost([provider('z.store', events)]);
  expect(events).toEqual(['z.store made', 'z.store started']);
  expect(host.startup).toEqual([
    expect.objectContaining({ plugin_id: 'z.store', kind: 'provider', verdict: 'continue' }),
  ]);
  await run();
  await run();
  await host.close();
  await host.close();
  expect(events).toEqual(['z.store made', 'z.store started', 'z.store stopped']);
});

test('[P13] a resource is reached by what was required, in the factory and in the call', async () => {
  const events: string[] = [];
  const seen: unknown[] = [];
  const user: TestPlugin = {
    id: 'a.user',
    kind: 'interceptor',
    spec: { requires: ['cap.z.store', 'z.store'] },
    make: ({ resources }: FactoryOptions) => {
      seen.push(resources['cap.z.store']);
      return (context: MiddlewareContext, next: Next) => {
        seen.push(context.resources['z.store']);
        return next();
      };
    },
  };
  const stranger: TestPlugin = {
    id: 'b.stranger',
    kind: 'hook',
    make: () => (context: MiddlewareContext) => void seen.push(Object.keys(context.resources)),
  };
  const { run, host } = await openTestHost([user, stranger, provider('z.store', events)]);
  await run();
  expect(seen).toEqual([
    expect.objectContaining({ secret: 'z.store' }),
    expect.objectContaining({ secret: 'z.store' }),
    [],
  ]);
  expect(host.order).not.toContain('z.store');
});

test('[P13] providers stop in the reverse of the order they started', async () => {
  const events: string[] = [];
  const { host } = await openTestHost([
    provider('a.second', events, {}, { requires: ['z.first'] }),
    provider('z.first', events),
  ]);
  await host.close();
  expect(events.filter((event) => !event.endsWith('made'))).toEqual([
    'z.first started',
    'a.second started',
    'a.second stopped',
    'z.first stopped',
  ]);
});

test.each([
  ['a factory that throws', broken('z.bad')],
  [
    'an on_startup that rejects',
    provider('z.bad', [], { on_startup: async () => Promise.reject(new Error('no disk')) }),
  ],
  ['a unit that is no function', { id: 'z.bad', kind: 'hook', make: () => ({}) } as TestPlugin],
])('[P13] %s stops the start, and what had started is stopped', async (_what, bad) => {
  const events: string[] = [];
  await expect(openTestHost([provider('a.good', events), bad])).rejects.toMatchObject({
    code: 'plugin_startup_failed',
    record: { error_code: 'plugin_startup_failed', plugin_id: 'z.bad' },
  });
  expect(events).toEqual(['a.good made', 'a.good started', 'a.good stopped']);
});

test('[P13] a failing on_shutdown is logged and stops nothing', async () => {
  const events: string[] = [];
  const { host, lines } = await openTestHost([
    provider('a.one', events),
    provider('b.two', events, { on_shutdown: () => Promise.reject(new Error('stuck')) }),
  ]);
  await host.close();
  expect(events.at(-1)).toBe('a.one stopped');
  expect(lines.at(-1)).toMatch(/^error plugin shutdown failed: id=b\.two.*stuck/s);
});

test('[P5] a requirement that nothing provides stops the start', async () => {
  await expect(openTestHost([broken('a.x', { requires: ['cap.absent'] })])).rejects.toMatchObject({
    code: 'plugin_requirement_unmet',
    record: { plugin_id: 'a.x' },
  });
});

test('[P18] the factory is given its configuration', async () => {
  let config: unknown;
  const plugin: TestPlugin = {
    id: 'io.acme.my-hook',
    kind: 'hook',
    make: (options: FactoryOptions) => {
      config = { ...options.config };
      return () => {};
    },
  };
  await openTestHost([plugin], { env: { SOX_PLUGIN_IO_ACME_MY_HOOK_MAX_RATE: '9' } });
  expect(config).toEqual({ max_rate: '9' });
});
