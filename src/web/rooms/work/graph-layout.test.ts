import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type GraphNode, layOut, ranksOf } from './graph-layout.ts';

const MEASURES = { nodeWidth: 100, nodeHeight: 30, rankGap: 40, nodeGap: 10 };
const node = (id: string, ...dependsOn: string[]): GraphNode => ({ id, dependsOn });

test('what others depend on stands to the left of them, by the longest way', () => {
  const ranks = ranksOf([node('d', 'a', 'c'), node('a'), node('b', 'a'), node('c', 'b')]);
  expect(Object.fromEntries(ranks)).toEqual({ a: 0, b: 1, c: 2, d: 3 });
});

test('a dependency that is not shown, and a cycle that should not be, are drawn all the same', () => {
  const { nodes } = layOut([node('a', 'b', 'gone'), node('b', 'a')], MEASURES);
  expect(nodes.map(({ id }) => id)).toEqual(['a', 'b']);
});

test('two ladders that were told crosswise do not cross', () => {
  const tasks = [node('a'), node('b'), node('y', 'b'), node('x', 'a')];
  const { nodes } = layOut(tasks, MEASURES);
  const y = new Map(nodes.map((one) => [one.id, one.y]));
  expect(y.get('a')).toBe(y.get('x'));
  expect(y.get('b')).toBe(y.get('y'));
});

test('a long edge runs between the nodes it passes', () => {
  const tasks = [node('a'), node('b', 'a'), node('c', 'b'), node('d', 'a', 'c')];
  const { edges, nodes } = layOut(tasks, MEASURES);
  const long = edges.find(({ from, to }) => from === 'a' && to === 'd');
  expect(long?.points).toHaveLength(6);
  for (const { id, x, y } of nodes) {
    if (id === 'a' || id === 'd') continue;
    const passing = long?.points.filter(([px]) => px >= x && px <= x + 100) ?? [];
    expect(passing.every(([, py]) => Math.abs(py - y) >= 15)).toBe(true);
  }
});

test('whatever the plan, no two nodes of a rank lie on each other and every edge goes right', () => {
  const plans = fc.array(fc.array(fc.nat(60), { maxLength: 4 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(plans, (given) => {
      const tasks = given.map((dependsOn, i) =>
        node(`t${i}`, ...new Set(dependsOn.filter((one) => one < i).map((one) => `t${one}`))),
      );
      const { nodes, edges } = layOut(tasks, MEASURES);
      expect(nodes).toHaveLength(tasks.length);
      expect(edges).toHaveLength(tasks.flatMap(({ dependsOn }) => dependsOn).length);
      for (const rank of Map.groupBy(nodes, (one) => one.rank).values()) {
        const ys = rank.map(({ y }) => y).sort((a, b) => a - b);
        for (let i = 1; i < ys.length; i++) {
          expect((ys[i] as number) - (ys[i - 1] as number)).toBeGreaterThanOrEqual(39.999);
        }
      }
      for (const { points } of edges) {
        for (let i = 1; i < points.length; i++) {
          expect(points[i]?.[0]).toBeGreaterThan(points[i - 1]?.[0] as number);
        }
      }
    }),
    { numRuns: 60 },
  );
});
