/** What a run of the bench says of itself is true, also of a row that was measured less often. */
import { expect, test } from 'vitest';
import { fillTables, type Machine, toMarkdown, toPeerMarkdown } from '../../bench/report.ts';

const machine: Machine = {
  ...{ processor: 'p', cores: 2, memoryGb: 1, system: 's', node: 'v24', fsyncMs: 1, loopbackMs: 1 },
  ...{ hub: 'built' as const, rounds: 3, isQuick: false },
};

test('a row of fewer values than there were rounds says of how many it is', () => {
  const measure = (what: string, hub: number[], bare?: number[]) => ({
    ...{ scenario: 's', what, unit: 'ms' },
    sides: { hub, ...(bare && { bare }) },
  });
  const text = toMarkdown({
    at: '',
    machine,
    measures: [
      measure('each round', [1, 2, 3], [1, 2, 3]),
      measure('once', [1]),
      measure('half', [1, 2, 3], [1]),
    ],
  });
  expect(text).toContain('median of 3 rounds.');
  expect(text).toContain('| each round | ms | 2 |');
  expect(text).toContain('| once (of 1) | ms | 1 |');
  expect(text).toContain('| half (of 3 and 1) | ms | 2 |');
});

test('a row beside an original has the ratio of each round, its spread and whether the goal is met', () => {
  const text = toPeerMarkdown({
    at: '',
    machine,
    measures: [
      {
        ...{ scenario: 's', what: 'trips', unit: '/s', goal: { against: 'original', atLeast: 2 } },
        // The machine slowed down under both in the last round: the ratio does not show it.
        sides: { 'bare pipe': [9, 9, 9], original: [10, 10, 1], hub: [30, 20, 3] },
      },
      { scenario: 's', what: 'alone', unit: 'MB', sides: { hub: [7, 8, 9] }, goal: { atMost: 5 } },
    ],
  });
  expect(text).toContain(
    '| trips | /s | 10 (original) | 20 | 3 | 2 – 3 | ≥ 2 × (original) | yes |',
  );
  expect(text).toContain('| alone | MB | – | 8 | – |  | ≤ 5 MB | NO |');
});

test('a page gets the tables of a run, each with its commit, and keeps those of which a scenario was not run', () => {
  const block = (names: string) => `<!-- rows: ${names} -->\nold\n<!-- end of rows -->`;
  const page = `# B\n${block('one two')}\nprose\n${block('two three')}\n`;
  const measure = (scenario: string) => ({
    scenario,
    what: scenario,
    unit: 'ms',
    sides: { hub: [1] },
  });
  const report = { at: '', machine, measures: [measure('one'), measure('two')] };
  const filled = fillTables(page, report, 'abc');
  expect(filled).toMatch(/one two -->\n\nAt abc: 2 × p, .*\n\n\| same run/);
  expect(filled).toMatch(/\| two \(of 1\) \| ms \| – \| 1 \|.*\n\n<!-- end/);
  expect(filled).toContain(`\nprose\n${block('two three')}\n`);
  expect(fillTables(filled, report, 'abc')).toBe(filled);
});
