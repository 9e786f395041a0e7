/** What a run of the bench says of itself is true, also of a row that was measured less often. */
import { expect, test } from 'vitest';
import { type Machine, toMarkdown } from '../../bench/report.ts';

const machine: Machine = {
  ...{ processor: 'p', cores: 2, memoryGb: 1, system: 's', node: 'v24', fsyncMs: 1, loopbackMs: 1 },
  ...{ hub: 'src' as const, rounds: 3, isQuick: false },
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
