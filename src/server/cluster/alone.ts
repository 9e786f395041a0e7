/**
 * Who is not one of several servers: it serves alone, and so not where servers with names have a registry, as nobody could
 * vouch for it [JN2]; nor does it write to a log there past them, unless it has the data directory of one of them [JN9].
 */
import { API, apiCode, natsFailure } from '../../log/nats/failure.ts';
import { type Link, openLink } from '../../log/nats/link.ts';
import { type NatsPlace, shownPlace } from '../../log/nats/place.ts';
import { ClusterError } from './cluster-error.ts';
import { requireServer } from './enter.ts';
import { ensureServerKey, readKnownCluster } from './identity.ts';
import type { Registry } from './registry.ts';
import { openRegistryStream, registryStreamOf } from './registry-stream.ts';

/** Throws ClusterError where there is a cluster. */
export async function requireNoCluster(place: NatsPlace, dir: string): Promise<void> {
  if ((await registryAt(place)) !== null) throw nameless(place, readKnownCluster(dir)?.name);
}

/** Throws ClusterError where there is a cluster that the data directory is no server of. */
export async function requireServerOf(place: NatsPlace, dir: string): Promise<void> {
  const registry = await registryAt(place);
  if (registry === null) return;
  const known = readKnownCluster(dir);
  if (known === null || known.cluster !== registry.cluster) throw stranger(place);
  requireServer(registry.servers.get(known.name), place, known.name, ensureServerKey(dir));
}

/** Null where nobody has founded a cluster. */
async function registryAt(place: NatsPlace): Promise<Registry | null> {
  const link = await openLink(place);
  try {
    if (!(await hasRegistry(link, place))) return null;
    const stream = await openRegistryStream(link, place, { isFollowed: false, mayMake: false });
    stream.close();
    return stream.registry.cluster === null ? null : stream.registry;
  } finally {
    await link.release();
  }
}

async function hasRegistry({ manager }: Link, place: NatsPlace): Promise<boolean> {
  try {
    await manager.streams.info(registryStreamOf(place.prefix));
    return true;
  } catch (error) {
    if (apiCode(error) === API.streamNotFound) return false;
    throw natsFailure(shownPlace(place), 'look for the registry of', error);
  }
}

function nameless(place: NatsPlace, known: string | undefined): ClusterError {
  const remedy =
    known === undefined
      ? 'at one of its servers run "synod cluster invite", here "synod join TOKEN"; or use another prefix'
      : `this data directory is its server ${known}: say --server-name ${known}`;
  return new ClusterError(
    'cluster.nameless',
    `${shownPlace(place)} belongs to a cluster, and this server has no name: ${remedy}`,
  );
}

function stranger(place: NatsPlace): ClusterError {
  return new ClusterError(
    'cluster.not-member',
    `${shownPlace(place)} belongs to a cluster, and its logs are written by its servers: stop them and name the data directory of one of them with --dir, or use another prefix`,
  );
}
