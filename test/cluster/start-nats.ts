/** One NATS server for all the tests; they know it by SYNOD_TEST_NATS, in which each puts a prefix of its own. */
import { NO_NATS, openNatsNode } from '../nats/server.ts';

// biome-ignore lint/style/noDefaultExport: vitest calls it.
export default async function startNats(): Promise<() => Promise<void>> {
  if (NO_NATS !== null) throw new Error(NO_NATS);
  const node = await openNatsNode();
  process.env.SYNOD_TEST_NATS = `nats://127.0.0.1:${node.port}/PREFIX?replicas=1&durability=relaxed`;
  return () => node.close();
}
