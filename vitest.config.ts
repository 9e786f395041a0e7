import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'plugins/**/*.test.ts'],
    // Real vendors' programs: `npm run test:live`.
    exclude: ['test/live/**', '**/node_modules/**'],
    // Most of a test's time is waiting for a process; three at once keep two cores busy.
    maxWorkers: 3,
    testTimeout: 20_000,
    pool: 'forks',
  },
});
