/** A server without a name serves alone, and so not where servers with names have a registry: it could not be vouched for [JN2]. */
import { API, apiCode, natsFailure } from '../../log/nats/failure.ts';
import { type Link, openLink } from '../../log/nats/link.ts';
import { type NatsPlace, shownPlace } from '../../log/nats/place.ts';
import { ClusterError } from './cluster-error.ts';
import { readKnownCluster } from './identity.ts';
import { openRegistryStream, registryStreamOf } from './registry-stream.ts';

/** Throws ClusterError where there is a cluster. */
export async function requireNoCluster(place: NatsPlace, dir: string): Promise<void> {
  const link = await openLink(place);
  try {
    if (!(await hasRegistry(link, place))) return;
    const stream = await openRegistryStream(link, place, { isFollowed: false, mayMake: false });
    stream.close();
    // A stream that nobody has founded a cluster in yet keeps nobody out.
    if (stream.registry.cluster !== null) throw nameless(place, readKnownCluster(dir)?.name);
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
