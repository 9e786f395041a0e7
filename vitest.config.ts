import { existsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Long ones in small files: begun last, they would keep one core busy while the other has nothing to do. */
const FIRST = [
  'test/simulation/simulation.test.ts',
  'test/nats/turns.test.ts',
  'test/nats/join.test.ts',
  'test/e2e/doctor.test.ts',
  'test/chaos/chaos.test.ts',
  'test/e2e/studio.test.ts',
  'test/conformance/sox/sox.test.ts',
  'test/e2e/doctor-trouble.test.ts',
  'test/e2e/package.test.ts',
  'test/flow/soak.test.ts',
  'test/nats/bad-input.test.ts',
  'test/tidy/readme.test.ts',
  'src/flow/process/client/clients.test.ts',
  'src/log/lease.test.ts',
];
/** They replace modules, or measure the process that they run in. */
const ALONE = [
  'test/simulation/simulation.test.ts',
  'test/simulation/cluster.test.ts',
  'test/simulation/runs.test.ts',
  'test/e2e/bus-hard.test.ts',
  'test/bus/process/flow.test.ts',
];

/** Rooms start few processes, from the sources if nobody bundled them. */
const PROGRAM = 'test/tested-program.ts';
/** Says at the end of a run what was not proved, for want of a program. */
const LACKS = 'test/lacks.ts';

const absent = [...FIRST, ...ALONE].filter((path) => !existsSync(path));
if (absent.length > 0) throw new Error(`vitest.config.ts names ${absent.join(', ')}`);

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = FIRST.findIndex((path) => moduleId.endsWith(path));
      return at < 0 ? FIRST.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    projects: [
      // Beside what they test, with nothing of their own to leave behind: one worker runs many of them.
      {
        extends: true,
        test: { name: 'rooms', include: ['src/**/*.test.ts'], isolate: false, globalSetup: LACKS },
      },
      // Through doors and processes: they share the modules of a hub, and each stops what it started.
      {
        extends: true,
        test: {
          name: 'house',
          include: ['{test,plugins,editors}/**/*.test.ts'],
          // Real vendors' programs: `npm run test:live`.
          exclude: ['test/live/**', ...ALONE, '**/node_modules/**'],
          isolate: false,
          globalSetup: [PROGRAM, LACKS],
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, globalSetup: [PROGRAM, LACKS] } },
    ],
    sequence: { sequencer: LongFirst },
    // Most of a test's time is waiting for a process; four at once keep two cores busy.
    maxWorkers: 4,
    // Long: they are reached only when something is wrong, and a busy machine is not wrong.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
  },
});
