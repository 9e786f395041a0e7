import { expect, expectTypeOf, test } from 'vitest';
import { workflow } from './definition.ts';
import { DefinitionError } from './errors.ts';
import { type AnyNode, node } from './node.ts';

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof DefinitionError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'nothing was thrown';
}

const graph = (nodes: readonly AnyNode[], concurrency?: number): string =>
  codeOf(() => workflow('ship', { nodes, ...(concurrency !== undefined && { concurrency }) }));

const plain = (id: string, ...dependsOn: string[]): AnyNode =>
  node({ id, dependsOn, run: () => id });

test('[FW10] a cycle is refused and printed as its path', () => {
  const nodes = [plain('a'), plain('b', 'a', 'd'), plain('c', 'b'), plain('d', 'c')];
  expect(graph(nodes)).toBe(
    'graph.cycle: ship: these nodes wait for each other: b → d → c → b; take one edge out',
  );
  expect(graph([plain('a', 'a')])).toContain('a → a');
});

test('[FW10] an unknown dependency is refused with the nearest name', () => {
  expect(graph([plain('build'), plain('test', 'biuld')])).toBe(
    'graph.unknown: ship: test depends on biuld, which is no node; did you mean build?',
  );
  expect(graph([plain('test', 'elsewhere')])).toContain('add it to nodes');
});

test('[FW10] a duplicate id, an empty graph, an id that is a sentence and no room to run are refused', () => {
  expect(graph([plain('a'), plain('a')])).toContain(
    'graph.duplicate: ship: two nodes have the id a',
  );
  expect(graph([])).toContain('graph.empty');
  expect(graph([plain('a b')])).toContain('graph.id-invalid');
  expect(graph([plain('')])).toContain('graph.id-invalid');
  for (const concurrency of [0, -1, 1.5, Number.NaN]) {
    expect(graph([plain('a')], concurrency)).toContain('graph.concurrency');
  }
});

test('[FW10] a chain of ten thousand nodes is checked, and its cycle found, without a deep stack', () => {
  const chain = Array.from({ length: 10_000 }, (_, i) =>
    plain(`n${i}`, ...(i === 0 ? [] : [`n${i - 1}`])),
  );
  expect(graph(chain)).toBe('nothing was thrown');
  expect(graph([plain('n0', 'n9999'), ...chain.slice(1)])).toContain('graph.cycle');
});

test('[FW10] names like those of every object are ids like any other', () => {
  expect(graph([plain('constructor'), plain('b', 'constructor')])).toBe('nothing was thrown');
  expect(graph([plain('b', 'toString')])).toContain('graph.unknown');
});

test('[FW1] a workflow without a name, a body or a sensible grace is refused', () => {
  const body = async (): Promise<null> => null;
  expect(codeOf(() => workflow('', body))).toContain('workflow.name-invalid');
  expect(codeOf(() => workflow('two words', body))).toContain('workflow.name-invalid');
  expect(codeOf(() => workflow('x', undefined as never))).toContain('workflow.no-body');
  expect(codeOf(() => workflow('x', body, { graceMs: -1 }))).toContain('workflow.grace');
});

test('[FW14] what a node is given and what a graph gives are known to the compiler', () => {
  const count = node({ id: 'count', run: async () => 3 });
  const name = node({ id: 'name', run: () => 'ada' });
  const both = node({
    id: 'both',
    dependsOn: [count, name],
    run(results, scope: { readonly input: { readonly n: number } }) {
      expectTypeOf(results).toEqualTypeOf<{ readonly count: number; readonly name: string }>();
      return { text: results.name.repeat(results.count + scope.input.n) };
    },
  });
  const all = workflow('all', { nodes: [count, name, both] });
  expectTypeOf<Parameters<typeof all.run>[1]>().toEqualTypeOf<{ readonly n: number }>();
  expectTypeOf<Awaited<ReturnType<typeof all.run>>>().toEqualTypeOf<{
    readonly count: number;
    readonly name: string;
    readonly both: { text: string };
  }>();
  // @ts-expect-error a number has no such method
  node({ id: 'wrong', dependsOn: [count], run: ({ count: n }) => n.toUpperCase() });
  expect(all.steps).toEqual(['count', 'name', 'both']);
});
