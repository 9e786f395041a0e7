import { expect, test } from 'vitest';
import { foldPlan, NODES_READABLE, type PlanTask } from './fold-plan.ts';

const closed = { showsFinished: false, opened: new Set<string>() };
const task = (id: string, state = 'open', ...dependsOn: string[]): PlanTask => ({
  ...{ id, state, dependsOn },
});

test('what is finished is left out, and what then hangs on nothing stands alone', () => {
  const tasks = [task('a', 'done'), task('b', 'ready', 'a'), task('c', 'open', 'b'), task('d')];
  const { nodes, alone, finishedHidden } = foldPlan([...tasks, task('e', 'ready', 'a')], closed);
  expect(nodes.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
    ['b', []],
    ['c', ['b']],
  ]);
  expect(alone).toEqual(['d', 'e']);
  expect(finishedHidden).toBe(1);
  expect(foldPlan(tasks, { ...closed, showsFinished: true }).nodes).toHaveLength(3);
});

test('tasks between the same others are one node, which opens', () => {
  const many = Array.from({ length: 60 }, (_, i) => task(`t${i}`, 'open', 'root'));
  const tasks = [task('root', 'ready'), ...many, task('end', 'open', ...many.map(({ id }) => id))];
  const { nodes } = foldPlan(tasks, closed);
  expect(nodes.map(({ id, members }) => [id, members.length])).toEqual([
    ['root', 1],
    ['+t0', 60],
    ['end', 1],
  ]);
  expect(nodes[2]?.dependsOn).toEqual(['+t0']);
  expect(foldPlan(tasks, { ...closed, opened: new Set(['+t0']) }).nodes).toHaveLength(62);
});

test('five hundred tasks without a pattern are still few enough to be read', () => {
  // Each depends on two before it, by a rule that repeats nowhere.
  const tasks = Array.from({ length: 500 }, (_, i) => {
    const before = [(i * 7) % 41, (i * 13) % 37].filter((one) => one < i && i > 40);
    return task(`t${i}`, i % 3 ? 'open' : 'ready', ...before.map((one) => `t${one}`));
  });
  const { nodes, alone } = foldPlan(tasks, closed);
  expect(nodes.length).toBeLessThanOrEqual(NODES_READABLE);
  const shown = nodes.flatMap(({ members }) => members);
  expect(new Set([...shown, ...alone]).size).toBe(500);
});
