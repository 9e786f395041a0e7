/** The part of this server among several, as it is configured; and who may write past them. */
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from './config.ts';
import { parseStoreUrl } from './store-url.ts';

/** One of several servers has a name, and a store that several can write to. */
export async function clusterOf(
  { store, serverName, dir }: Config,
  version: string,
  onTrouble: (what: string, cause: unknown) => void,
  warn: (line: string) => void,
): Promise<Cluster | undefined> {
  const parsed = store === null ? null : parseStoreUrl(store);
  if (parsed?.kind !== 'nats') return undefined;
  if (serverName === null) {
    const { requireNoCluster } = await import('../cluster/alone.ts');
    await requireNoCluster(parsed.place, dir);
    return undefined;
  }
  const { openCluster } = await import('../cluster/cluster.ts');
  return openCluster({ place: parsed.place, name: serverName, version, dir, onTrouble, warn });
}

/** Throws where the store belongs to servers of which the data directory is none. */
export async function requireMayWrite(store: string, dir: string): Promise<void> {
  const parsed = parseStoreUrl(store);
  if (parsed?.kind !== 'nats') return;
  const { requireServerOf } = await import('../cluster/alone.ts');
  await requireServerOf(parsed.place, dir);
}
