/**
 * Goal: three servers of one space, whatever is cut off, lost, late, repeated, paused, skewed or crashes: nothing
 * acknowledged is lost and nothing is decided twice, also what is sent again with its key after an answer was lost;
 * one holder for each claim; every server shows the same, each listener everything once wherever it moves, and
 * to whoever was answered what it did; nothing is shown that could still be lost; one server appends at a time,
 * deadlines too; 'unknown' is said of what was sent, and 'nobody' of what was decided nowhere.
 * Method: seeds, with the real lease, forwarding and hubs on a simulated network and log, and everything that is
 * held against one hub held against each. The mutants show that it would notice.
 */
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { runSimulation } from '../../src/testing/index.ts';
import { CLUSTER_MUTANTS } from './cluster-mutants.ts';

const STEPS = 1100;
const flush = (): Promise<void> => setImmediate();
/** What four seeds must have seen. */
const SEEN = ['answered', 'here', 'unknown', 'nobody', 'passed'];
const remembered = readFileSync(new URL('./cluster-seeds.txt', import.meta.url), 'utf8')
  .split(/\s+/)
  .filter((line) => line !== '')
  .map(Number);

describe('[SQ1] [SQ2] [SQ3] [SQ4] [SQ20] [SQ21] [SQ22] three servers under a seed', () => {
  test('four seeds', { timeout: 240_000 }, async () => {
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= 4; seed++) {
      const report = await runSimulation({ seed, steps: STEPS, servers: 3, flush });
      expect(report.messages).toBeGreaterThan(0);
      for (const [what, count] of Object.entries(report.forwarded)) {
        seen.set(what, (seen.get(what) ?? 0) + count);
      }
    }
    for (const what of SEEN) expect(seen.get(what), what).toBeGreaterThan(0);
  });

  test.each(remembered)('seed %i, which failed once', { timeout: 600_000 }, async (seed) => {
    await runSimulation({ seed, steps: STEPS, servers: 3, flush });
  });

  test('the same for the same seed', async () => {
    const [first, second] = [
      await runSimulation({ seed: 7, steps: 400, servers: 3, flush }),
      await runSimulation({ seed: 7, steps: 400, servers: 3, flush }),
    ];
    expect(second).toEqual(first);
  });
});

/** The first seed at which something was noticed; fails when nothing was. */
async function noticed(
  options: Partial<Parameters<typeof runSimulation>[0]>,
  run = runSimulation,
  from = 1,
): Promise<string> {
  for (let seed = from; seed < from + 40; seed++) {
    try {
      await run({ seed, steps: STEPS, servers: 3, flush, ...options });
    } catch (cause) {
      return String(cause);
    }
  }
  throw new Error('nothing was noticed in forty seeds');
}

describe('the simulator notices', () => {
  afterEach(() => vi.resetModules());

  test.each(Object.entries(CLUSTER_MUTANTS))(
    'a server that %s',
    { timeout: 240_000 },
    async (_, mutant) => {
      vi.resetModules();
      vi.doMock(mutant.path, async (importOriginal) => {
        const part = await importOriginal<never>();
        return { ...(part as object), ...mutant.mutate(part) };
      });
      const { runSimulation: run } = await import('../../src/testing/index.ts');
      vi.doUnmock(mutant.path);
      expect(await noticed({}, run, mutant.from)).toMatch(mutant.why);
    },
  );

  test('a log that lets a stale sequencer append', { timeout: 240_000 }, async () => {
    const why = await noticed({ lie: 'does-not-fence' });
    expect(why).toMatch(/seed \d+, step \d+: [\s\S]*last actions:/);
  });
});
