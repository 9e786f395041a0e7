import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'plugins/**/*.test.ts'],
    // Real vendors' programs: `npm run test:live`.
    exclude: ['test/live/**', '**/node_modules/**'],
    testTimeout: 20_000,
    pool: 'forks',
  },
});
