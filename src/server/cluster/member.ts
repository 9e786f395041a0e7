/**
 * This server as a member of its cluster: its key, what it knows of the others, and whether it still is one. A server
 * that is taken out refuses every space from that moment, and says so [JN6].
 */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import type { Link } from '../../log/nats/link.ts';
import type { NatsPlace } from '../../log/nats/place.ts';
import { ClusterError } from './cluster-error.ts';
import { createDrops } from './drops.ts';
import { enterCluster, revokedError } from './enter.ts';
import { type Hellos, isAlive, openHellos } from './hello.ts';
import { ensureServerKey } from './identity.ts';
import type { KeyPair } from './keys.ts';
import { openRegistryStream, type RegistryStream } from './registry-stream.ts';
import { createSeals, type Seals, serves } from './seal.ts';

export interface Member {
  readonly name: string;
  readonly key: KeyPair;
  readonly stream: RegistryStream;
  readonly seals: Seals;
  readonly hellos: Hellos;
  /** Messages between servers that were dropped, since it started. */
  readonly dropped: number;
  /** Why this server does not serve the space; null when it does. */
  refuses(space: string): Refusal | null;
  /** Told when it is taken out. */
  onRevoked(listener: () => void): () => void;
  close(): void;
}

export interface MemberOptions {
  readonly place: NatsPlace;
  readonly name: string;
  /** Its data directory, where its key lies. */
  readonly dir: string;
  warn(line: string): void;
}

/** Throws ClusterError when this server may not take part. */
export async function openMember(link: Link, options: MemberOptions): Promise<Member> {
  const { place, name, dir, warn } = options;
  const key = ensureServerKey(dir);
  const stream = await openRegistryStream(link, place, { isFollowed: true });
  const { registry } = stream;
  const drops = createDrops(warn);
  const seals = createSeals({ name, key, registry, onDropped: drops.note });
  try {
    await enterCluster({ stream, place, dir, name, key });
    if (await isAlive(link, place.prefix, seals)) throw twice(name);
  } catch (cause) {
    stream.close();
    throw cause;
  }
  const hellos = openHellos(link, place.prefix, seals, registry);
  const listeners = new Set<() => void>();
  let isOut = false;
  const stopLooking = stream.onChange(() => {
    const revoked = registry.servers.get(name)?.revoked ?? null;
    if (isOut || revoked === null) return;
    isOut = true;
    warn(revokedError(name, revoked.by).message);
    for (const listener of listeners) listener();
  });

  return {
    ...{ name, key, stream, seals, hellos },
    get dropped() {
      return drops.total;
    },
    refuses(space) {
      const own = registry.servers.get(name);
      if (own?.revoked != null) return revokedRefusal(name, own.revoked.by);
      return own === undefined || serves(own, space)
        ? null
        : elsewhere(name, space, own.spaces ?? []);
    },
    onRevoked(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      stopLooking();
      hellos.close();
      drops.close();
      stream.close();
    },
  };
}

function twice(name: string): ClusterError {
  return new ClusterError(
    'cluster.name-used',
    `a server ${name} with the key of this data directory is running: stop that one, or if this directory is a copy of its directory, move server.key and cluster.json out of it and join under another name`,
  );
}

function revokedRefusal(name: string, by: string): Refusal {
  return refuse(
    'cluster.revoked',
    `this server, ${name}, was taken out of the cluster at ${by} and serves nothing: go to another one`,
    { server: name, by },
  );
}

function elsewhere(name: string, space: string, spaces: readonly string[]): Refusal {
  return refuse(
    'space.elsewhere',
    `this server, ${name}, serves ${spaces.join(', ')} and not ${space}: go to another server of the cluster`,
    { server: name, space, spaces: [...spaces] },
  );
}
