/**
 * Goal: whatever crashes, fails, is slow, jumps or writes to the same log, a run has one executor at a time, a
 * stale one is refused, no step completes twice, no queue is over its bound, nothing that is ready is left
 * lying, and what is acknowledged is stored. Method: seeds, with two executors that stop anywhere and speak
 * late; the entries are told a second time by a plain model. The mutants show that it would notice.
 */
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { simulateRuns } from '../../src/testing/run-simulator.ts';
import { RUN_HUB_MUTANTS, RUN_MUTANTS } from './run-mutants.ts';

const STEPS = 900;
const PER_TEST = 10;
const flush = (): Promise<void> => setImmediate();
/** What each ten seeds must have seen. */
const SEEN = [
  ...['run.started', 'run.taken', 'run.recorded', 'run.renewed', 'run.woken', 'run.lapsed'],
  ...['run.signalled', 'run.cancelled', 'run.retried', 'run.answered', 'entry completed'],
  ...['entry waiting', 'entry released', 'entry stuck', 'entry compensated', 'gate.ended'],
];

describe('[WF1] [WF3] [WF4] [WF5] [WF7] [WF8] [WF9] [WF11] [WF14] [WF15] [WF16] [WF17] runs under a seed', () => {
  test.each([1, 11])('ten seeds from %i', { timeout: 600_000 }, async (from) => {
    const seen = new Map<string, number>();
    for (let seed = from; seed < from + PER_TEST; seed++) {
      const { counts } = await simulateRuns({ seed, steps: STEPS, flush });
      for (const [what, count] of Object.entries(counts)) {
        seen.set(what, (seen.get(what) ?? 0) + count);
      }
    }
    for (const what of SEEN) expect(seen.get(what), what).toBeGreaterThan(0);
  });

  test('the same for the same seed', async () => {
    const [first, second] = [
      await simulateRuns({ seed: 7, steps: 400, flush }),
      await simulateRuns({ seed: 7, steps: 400, flush }),
    ];
    expect(second).toEqual(first);
  });
});

async function noticed(
  options: Partial<Parameters<typeof simulateRuns>[0]>,
  run = simulateRuns,
): Promise<string> {
  for (let seed = 1; seed <= 30; seed++) {
    try {
      await run({ seed, steps: STEPS, flush, ...options });
    } catch (cause) {
      return String(cause);
    }
  }
  throw new Error('nothing was noticed in thirty seeds');
}

describe('the simulator notices', () => {
  afterEach(() => vi.resetModules());

  test.each(Object.entries(RUN_HUB_MUTANTS))(
    'a hub that %s',
    { timeout: 600_000 },
    async (_, mutate) => {
      expect(await noticed({ mutate })).toMatch(/seed \d+, step \d+: [\s\S]*last actions:/);
    },
  );

  test.each(Object.entries(RUN_MUTANTS))(
    'a law that %s',
    { timeout: 600_000 },
    async (_, mutant) => {
      vi.resetModules();
      vi.doMock(mutant.path, async (importOriginal) => {
        const part = await importOriginal<never>();
        return { ...(part as object), ...mutant.mutate(part) };
      });
      const { simulateRuns: run } = await import('../../src/testing/run-simulator.ts');
      vi.doUnmock(mutant.path);
      expect(await noticed({}, run)).toMatch(/seed \d+, step \d+: [\s\S]*last actions:/);
    },
  );
});
