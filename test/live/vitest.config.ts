/**
 * The live tests, apart from the others: they bring the vendors' command lines, which are large,
 * and start them for real. Run them with `vitest run --config test/live/vitest.config.ts`.
 * SYNOD_LIVE_VENDORS=claude,codex brings and drives those alone; all four unless said.
 */
import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest reads its settings there.
export default defineConfig({
  test: {
    include: ['test/live/**/*.live.test.ts'],
    globalSetup: ['test/live/install-clis.ts'],
    // Without it, each file of live tests skips itself.
    env: { SYNOD_LIVE: '1' },
    testTimeout: 90_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Each starts several heavy processes; one after the other is quicker on a small machine.
    fileParallelism: false,
  },
});
