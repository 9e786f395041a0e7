import { expect, test } from 'vitest';
import { NODES_READABLE } from './fold-plan.ts';
import { foldSteps, graphOfSteps, type TimedStep } from './run-graph.ts';

type Row = readonly [step: string, from: number | null, to: number | null];

const graphOf = (...rows: Row[]): Record<string, string> => {
  const steps = rows.map(
    ([step, started_at, ended_at], at): TimedStep => ({
      ...{ step, key: null, started_at, ended_at, order: ended_at === null ? null : at + 1 },
    }),
  );
  return Object.fromEntries(
    graphOfSteps(steps).map(({ id, dependsOn }) => [id, dependsOn.join(' ')]),
  );
};

test('[WI17] what ran side by side stands side by side, between what was before and after', () => {
  expect(
    graphOf(['plan', 0, 1], ['lint', 1.1, 3], ['test', 1.1, 2], ['land', 3.1, 4], ['tell', 4.1, 5]),
  ).toEqual({ plan: '', lint: 'plan', test: 'plan', land: 'lint test', tell: 'land' });
});

test('[WI17] one that began while another ran hangs on what was over by then', () => {
  expect(graphOf(['a', 0, 1], ['long', 0, 9], ['b', 2, 3], ['c', 4, 5])).toEqual({
    ...{ a: '', long: '', b: 'a', c: 'b' },
  });
  expect(graphOf(['a', 0, 1], ['long', 0, 9], ['b', 2, 3], ['end', 10, 11])).toMatchObject({
    end: 'long b',
  });
});

test('[WI17] a chain that is quicker than the clock is a chain still', () => {
  expect(graphOf(['a', 1, 1], ['b', 1, 1], ['c', 1, 1])).toEqual({ a: '', b: 'a', c: 'b' });
});

test('[WI17] what has not begun stands behind what runs, and never behind itself', () => {
  expect(graphOf(['a', 0, 1], ['now', 2, null], ['next', null, null])).toEqual({
    ...{ a: '', now: 'a', next: 'now' },
  });
  expect(graphOf(['x', null, null], ['y', null, null])).toEqual({ x: '', y: '' });
  expect(graphOfSteps([])).toEqual([]);
});

test('[WI17] thousands of steps are drawn in a moment', () => {
  const steps = Array.from({ length: 2_000 }, (_, at) => ({
    ...{ step: `s${at}`, key: null, started_at: at, ended_at: at + 1, order: at },
  }));
  const began = performance.now();
  const nodes = graphOfSteps(steps);
  expect(nodes.at(-1)?.dependsOn).toEqual(['s1998']);
  expect(performance.now() - began).toBeLessThan(2_000);
});

test('[WI17] many steps of one name are one node until it is opened, and a long chain is cut at its head', () => {
  const step = (name: string, at: number, key: string | null): TimedStep => ({
    ...{ step: name, key, started_at: at, ended_at: at + 1, order: at },
  });
  const pages = Array.from({ length: 100 }, (_, at) => step('fetch', 1, `${at}`));
  const mapped = [step('list', 0, null), ...pages, step('join', 9, null)];
  const folded = foldSteps(mapped, () => 'completed', new Set());
  expect(folded.map(({ members }) => members.length)).toEqual([1, 100, 1]);
  expect(folded[2]?.dependsOn).toEqual([folded[1]?.id]);
  const open = foldSteps(mapped, () => 'completed', new Set([folded[1]?.id ?? '']));
  expect(open).toHaveLength(102);
  const chain = Array.from({ length: 400 }, (_, at) => step(`s${at}`, at, null));
  const cut = foldSteps(chain, () => 'completed', new Set());
  expect(cut).toHaveLength(NODES_READABLE);
  expect(cut[0]?.members).toHaveLength(400 - NODES_READABLE + 1);
  expect(cut.at(-1)?.id).toBe('s399');
});
