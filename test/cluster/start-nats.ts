/** Three NATS nodes for all the tests; they know them by SYNOD_TEST_NATS, in which each puts a prefix of its own. */
import { NO_NATS, openNatsCluster } from '../nats/server.ts';

// biome-ignore lint/style/noDefaultExport: vitest calls it.
export default async function startNats(): Promise<() => Promise<void>> {
  if (NO_NATS !== null) throw new Error(NO_NATS);
  const nodes = await openNatsCluster(3);
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  process.env.SYNOD_TEST_NATS = `nats://${hosts}/PREFIX`;
  return async () => void (await Promise.all(nodes.map((node) => node.close())));
}
