/**
 * The suites of one server, unchanged, against three that share a JetStream, each call at a server by chance:
 * `npm run test:cluster`. It starts a nats-server (see test/nats/server.ts) and needs nothing else.
 */
import { defineConfig } from 'vitest/config';
import { TellSkipped } from './tell-skipped.ts';

// biome-ignore lint/style/noDefaultExport: vitest reads its settings there.
export default defineConfig({
  test: {
    include: [
      'test/conformance/sox/sox.test.ts',
      'test/conformance/synapse/*.test.ts',
      'src/server/desk/handlers/{claims,turns}.test.ts',
      'test/e2e/{work-race,turns-run,turns-outside}.test.ts',
    ],
    globalSetup: ['test/cluster/start-nats.ts', 'test/tested-program.ts'],
    reporters: ['default', new TellSkipped()],
    testTimeout: 240_000,
    hookTimeout: 120_000,
    pool: 'forks',
  },
});
