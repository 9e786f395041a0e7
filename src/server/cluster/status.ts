/** What the owner is shown of the cluster: the servers, the spaces and what the store promises [SQ6]. */

import type { Standing } from '../../hub/sequencing.ts';
import type { Durability } from '../../log/nats/durability.ts';
import type { HeardServer } from './news.ts';

export interface StatusSources {
  /** This server. */
  readonly server: string;
  readonly address: string;
  readonly servers: readonly HeardServer[];
  /** As our own leases say, for the spaces that are open here. */
  standing(space: string): Standing | null;
  readonly durability: Durability;
}

export interface ClusterStatus {
  readonly server: string;
  readonly servers: ServerStatus[];
  readonly spaces: SpaceStatus[];
  readonly next: string | null;
  readonly store: StoreStatus;
}

interface ServerStatus {
  readonly name: string;
  readonly state: 'alive' | 'draining' | 'gone';
  readonly version: string;
  readonly url: string | null;
  readonly since: number;
  readonly heard_s: number;
  readonly spaces: number;
  readonly sequences: number;
  readonly lag: number;
}

interface SpaceStatus {
  readonly space: string;
  readonly sequencer: string | null;
  readonly changes: number;
  readonly positions: { server: string; position: number; lag: number }[];
}

interface StoreStatus {
  readonly address: string;
  readonly replicas: number;
  readonly storage: 'file' | 'memory';
  readonly synced: boolean | null;
  readonly strict: boolean;
}

export function clusterStatus(
  sources: StatusSources,
  after: string | null,
  limit: number,
): ClusterStatus {
  const { servers, durability } = sources;
  const alive = servers.filter(({ isGone }) => !isGone);
  const names = [...new Set(alive.flatMap(({ spaces }) => spaces.map(({ space }) => space)))]
    .filter((name) => after === null || name > after)
    .sort();
  const page = names.slice(0, limit);
  return {
    server: sources.server,
    servers: servers.map(serverStatus),
    spaces: page.map((space) => spaceStatus(sources, alive, space)),
    next: names.length > page.length ? (page.at(-1) ?? null) : null,
    store: {
      ...{ address: sources.address, replicas: durability.replicas, storage: durability.storage },
      ...{ synced: durability.isSynced, strict: durability.isStrict },
    },
  };
}

function serverStatus({ isGone, heardMs, since, spaces, ...one }: HeardServer): ServerStatus {
  return {
    ...{ name: one.name, version: one.version, url: one.url },
    state: isGone ? 'gone' : one.isDraining ? 'draining' : 'alive',
    ...{ since: since / 1000, heard_s: heardMs / 1000 },
    spaces: spaces.length,
    sequences: isGone ? 0 : spaces.filter(({ isMine }) => isMine).length,
    lag: spaces.reduce((most, { lag }) => Math.max(most, lag), 0),
  };
}

function spaceStatus(
  { standing }: StatusSources,
  alive: readonly HeardServer[],
  space: string,
): SpaceStatus {
  const ours = standing(space);
  const told = alive.flatMap(({ name, spaces }) => {
    const one = spaces.find((candidate) => candidate.space === space);
    return one === undefined ? [] : [{ server: name, ...one }];
  });
  return {
    space,
    // What our own lease says is newer than what others told of theirs.
    sequencer: ours === null ? (told.find(({ isMine }) => isMine)?.server ?? null) : ours.sequencer,
    changes: ours?.changes ?? 0,
    positions: told.map(({ server, position, lag }) => ({ server, position, lag })),
  };
}
