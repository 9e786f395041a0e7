/**
 * The order of the chain.
 *
 * Goal: for every acyclic set of rules all of them hold, and the order does not depend on how
 * plugins were listed. Method: random graphs, each ordered as listed and shuffled.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manifestOf } from '../../../plugins/host-kit.test.fixture.ts';
import { createChain } from './chain.ts';
import { parseManifest } from './manifest.ts';
import { type Edge, orderNodes } from './order.ts';
import { resolveCapabilities, SLOTS } from './slots.ts';

function chainOf(...plugins: [id: string, kind: string, spec?: Record<string, unknown>][]) {
  const manifests = plugins.map(([id, kind, spec]) =>
    parseManifest(id, manifestOf(id, kind, spec)),
  );
  return createChain(manifests, resolveCapabilities(manifests));
}

const orderOf = (...plugins: Parameters<typeof chainOf>) => chainOf(...plugins).order;

const graph = fc
  .uniqueArray(fc.stringMatching(/^[a-zA-Z0-9é.-]{1,6}$/), { minLength: 1, maxLength: 20 })
  .chain((nodes) =>
    fc.record({
      nodes: fc.constant(nodes),
      // Only from a smaller to a larger index: no cycle can come of it.
      edges: fc
        .array(fc.tuple(fc.nat(nodes.length - 1), fc.nat(nodes.length - 1)), { maxLength: 60 })
        .map((pairs) =>
          pairs
            .filter(([a, b]) => a < b)
            .map(([a, b]): Edge => [nodes[a] as string, nodes[b] as string]),
        ),
      shuffled: fc.shuffledSubarray(nodes, { minLength: nodes.length }),
      turn: fc.nat(60),
    }),
  );

test('[P6] any acyclic rules all hold, whatever order they were listed in', () => {
  fc.assert(
    fc.property(graph, ({ nodes, edges, shuffled, turn }) => {
      const ordered = orderNodes(nodes, edges);
      if (!('order' in ordered)) throw new Error('a cycle was seen where there is none');
      expect([...ordered.order].sort()).toEqual([...nodes].sort());
      const at = new Map(ordered.order.map((node, i) => [node, i]));
      for (const [first, then] of edges) expect(at.get(first)).toBeLessThan(at.get(then) as number);
      const turned = [...edges.slice(turn), ...edges.slice(0, turn)];
      expect(orderNodes(shuffled, turned)).toEqual(ordered);
    }),
    { numRuns: 300 },
  );
});

test('[P6] a cycle is told whole, each step a rule, from its smallest member', () => {
  fc.assert(
    fc.property(graph, fc.nat(), ({ nodes, edges }, pick) => {
      const edge = edges[pick % Math.max(1, edges.length)];
      fc.pre(edge !== undefined);
      const [first, then] = edge as Edge;
      const closed: Edge[] = [...edges, [then, first]];
      const ordered = orderNodes(nodes, closed);
      if (!('cycle' in ordered)) throw new Error('the cycle was not seen');
      const { cycle } = ordered;
      expect(cycle[0]).toBe(cycle.at(-1));
      expect(new Set(cycle).size).toBe(cycle.length - 1);
      for (let i = 1; i < cycle.length; i += 1) {
        expect(closed).toContainEqual([cycle[i - 1], cycle[i]]);
      }
    }),
    { numRuns: 300 },
  );
});

test('[P6] free nodes go by the bytes of their id', () => {
  expect(orderNodes(['b', 'a', 'B', 'é', 'z'], [])).toEqual({ order: ['B', 'a', 'b', 'z', 'é'] });
});

test('[P4] without plugins the slots stand in their order', () => {
  expect(orderOf()).toEqual([
    'namespace_resolver',
    'auth',
    'rate_limit',
    'schema_validator',
    'idempotency',
    'store_dispatch',
    'audit_log',
  ]);
});

test('[P6] a plugin that says nothing runs after auth and before the store', () => {
  expect(orderOf(['zz.last', 'interceptor'], ['aa.first', 'hook'])).toEqual([
    'namespace_resolver',
    'auth',
    'aa.first',
    'rate_limit',
    'schema_validator',
    'idempotency',
    'zz.last',
    'store_dispatch',
    'audit_log',
  ]);
});

test('[P6] a plugin may ask to run before auth or after the store, also through another', () => {
  const order = orderOf(
    ['p.early', 'interceptor', { must_run_before: ['q.early'] }],
    ['q.early', 'interceptor', { must_run_before: ['namespace_resolver'] }],
    ['p.late', 'hook', { must_run_after: ['q.late'] }],
    ['q.late', 'hook', { must_run_after: ['store_dispatch'] }],
  );
  expect(order.slice(0, 3)).toEqual(['p.early', 'q.early', 'namespace_resolver']);
  expect(order.slice(order.indexOf('store_dispatch'))).toEqual([
    'store_dispatch',
    'audit_log',
    'q.late',
    'p.late',
  ]);
});

test('[P6] must_run_before and must_run_after take ids and capabilities', () => {
  const order = orderOf(
    ['a.first', 'interceptor', { must_run_after: ['z.cap'] }],
    ['b.second', 'interceptor', { plugin_capabilities: [{ 'z.cap': '1' }] }],
    ['c.third', 'interceptor', { must_run_before: ['b.second'] }],
  );
  const plugins = order.filter((name) => name.includes('.'));
  expect(plugins).toEqual(['c.third', 'b.second', 'a.first']);
});

test('[P6] a rule that names nothing present orders nothing and is told', () => {
  const chain = chainOf(['a.x', 'hook', { must_run_after: ['b.absent'] }]);
  expect(chain.order).toContain('a.x');
  expect(chain.dangling).toEqual(['a.x names b.absent']);
});

test('[P6] a cycle refuses the start and names its members', () => {
  expect(() =>
    orderOf(
      ['plugin.x', 'hook', { must_run_before: ['plugin.y'] }],
      ['plugin.y', 'hook', { must_run_before: ['plugin.x'] }],
    ),
  ).toThrow(
    expect.objectContaining({
      code: 'plugin_ordering_cycle',
      message: 'plugin_ordering_cycle: plugin.x -> plugin.y -> plugin.x',
    }),
  );
});

test('[P6] a transformer cannot be placed after the store', () => {
  expect(() => orderOf(['t.late', 'transformer', { must_run_after: ['audit_log'] }])).toThrow(
    'plugin_ordering_cycle: audit_log -> t.late -> store_dispatch -> audit_log',
  );
});

test('[P4] a plugin that provides a slot stands in its place', () => {
  const order = orderOf(['io.acme.auth', 'interceptor', { plugin_capabilities: [{ auth: '1' }] }]);
  expect(order).toEqual(SLOTS.map((slot) => (slot === 'auth' ? 'io.acme.auth' : slot)));
});

test('[P13] providers start in the order of what they require, and leave the chain alone', () => {
  const chain = chainOf(
    ['a.user', 'interceptor', { requires: ['z.resource'] }],
    ['b.other', 'interceptor'],
    ['y.provider', 'provider', { requires: ['z.resource'] }],
    ['z.provider', 'provider', { plugin_capabilities: [{ 'z.resource': '1' }] }],
  );
  expect(chain.providers).toEqual(['z.provider', 'y.provider']);
  expect(chain.order.filter((name) => name.includes('.'))).toEqual(['a.user', 'b.other']);
});

test('[P13] providers that require each other are a cycle', () => {
  expect(() =>
    chainOf(['a.x', 'provider', { requires: ['a.y'] }], ['a.y', 'provider', { requires: ['a.x'] }]),
  ).toThrow('plugin_ordering_cycle: a.x -> a.y -> a.x');
});

test.each([
  [
    'two plugins with one slot',
    [
      ['a.x', 'hook', 'auth'],
      ['a.y', 'hook', 'auth'],
    ],
  ],
  [
    'two plugins with one capability',
    [
      ['a.x', 'hook', 'c'],
      ['a.y', 'hook', 'c'],
    ],
  ],
  ['a provider in a slot', [['a.x', 'provider', 'rate_limit']]],
  ['a transformer as the store', [['a.x', 'transformer', 'store_dispatch']]],
] as const)('[P5] %s is a conflict', (_what, plugins) => {
  expect(() =>
    chainOf(
      ...plugins.map(([id, kind, capability]): [string, string, Record<string, unknown>] => [
        id,
        kind,
        { plugin_capabilities: [{ [capability]: '1' }] },
      ]),
    ),
  ).toThrow(expect.objectContaining({ code: 'plugin_capability_conflict' }));
});

test('[P5] one plugin cannot hold two slots', () => {
  expect(() =>
    chainOf(['a.x', 'interceptor', { plugin_capabilities: [{ auth: '1' }, { rate_limit: '1' }] }]),
  ).toThrow(expect.objectContaining({ code: 'plugin_capability_conflict' }));
});
