/**
 * How a server comes into a cluster when it starts. The first one at an empty registry founds it; every other has
 * joined before, with a token, and shows its key. One that is not known, was taken out, or comes to another cluster
 * than it knows is told so and serves nothing [JN2].
 */
import { randomBytes } from 'node:crypto';
import { type NatsPlace, shownPlace } from '../../log/nats/place.ts';
import { ClusterError } from './cluster-error.ts';
import { readKnownCluster, writeKnownCluster } from './identity.ts';
import type { KeyPair } from './keys.ts';
import type { Entry, Server } from './registry.ts';
import type { RegistryStream } from './registry-stream.ts';

export interface Entering {
  readonly stream: RegistryStream;
  readonly place: NatsPlace;
  /** The data directory. */
  readonly dir: string;
  readonly name: string;
  readonly key: KeyPair;
}

export async function enterCluster({ stream, place, dir, name, key }: Entering): Promise<Server> {
  const { registry } = stream;
  const known = readKnownCluster(dir);
  if (registry.cluster === null) {
    if (known !== null) throw lost(place, known.cluster);
    await found(stream, place, name, key);
  }
  requireOwn(place, registry.cluster, known?.cluster ?? null);
  const server = requireServer(registry.servers.get(name), place, name, key);
  writeKnownCluster(dir, { cluster: registry.cluster as string, name });
  return server;
}

/** Of several that start at once one is first, and the others have to join. */
async function found(
  stream: RegistryStream,
  { prefix }: NatsPlace,
  name: string,
  key: KeyPair,
): Promise<void> {
  const nonce = randomBytes(16).toString('hex');
  const entry: Entry = { kind: 'founded', prefix, name, key: key.id, nonce };
  const isLate = new Error();
  try {
    await stream.add(() => {
      if (stream.registry.cluster !== null) throw isLate;
      return entry;
    }, key);
  } catch (cause) {
    if (cause !== isLate) throw cause;
  }
}

/** That it is in the registry, with this key, and was not taken out. */
export function requireServer(
  server: Server | undefined,
  place: NatsPlace,
  name: string,
  key: KeyPair,
): Server {
  const where = shownPlace(place);
  if (server === undefined) {
    throw new ClusterError(
      'cluster.not-member',
      `${where} belongs to a cluster, and no server ${name} is in it: at one that is, run "synod cluster invite ${name}", and here "synod join TOKEN"`,
    );
  }
  if (server.publicKey !== key.id) {
    throw new ClusterError(
      'cluster.name-used',
      `the server ${name} of ${where} has another key than this data directory: choose another name, or if its directory is lost run "synod cluster revoke ${name}" and then "synod cluster invite ${name}" at another server`,
    );
  }
  if (server.revoked !== null) throw revokedError(name, server.revoked.by);
  return server;
}

export function revokedError(name: string, by: string): ClusterError {
  return new ClusterError(
    'cluster.revoked',
    `the server ${name} was taken out of the cluster at ${by}: go to another server, or have it invited again ("synod cluster invite ${name}" there, "synod join TOKEN" here)`,
  );
}

/** The cluster that a data directory knows is the one it comes to. */
export function requireOwn(place: NatsPlace, found: string | null, known: string | null): void {
  if (known === null || found === known) return;
  throw new ClusterError(
    'cluster.foreign',
    `${shownPlace(place)} belongs to another cluster (${found}) than this data directory (${known}): two clusters cannot share a prefix; mend the address or the prefix, or use another data directory`,
  );
}

function lost(place: NatsPlace, cluster: string): ClusterError {
  return new ClusterError(
    'cluster.lost',
    `this data directory belongs to the cluster ${cluster}, and ${shownPlace(place)} has no registry of servers: mend the address, or restore the stream ${place.prefix}-servers; to found the cluster anew, move cluster.json out of the data directory`,
  );
}

export function notFounded(place: NatsPlace): ClusterError {
  return new ClusterError(
    'cluster.token-foreign',
    `${shownPlace(place)} has no registry of servers: the token is for a cluster that is elsewhere, or is gone`,
  );
}
