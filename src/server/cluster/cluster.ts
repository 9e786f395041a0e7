/** A server among several that serve the same spaces: for each space its part in it, and how all of them stand. */
import type { Refusal } from '../../core/law/decider.ts';
import { createForwarding, type Forwarding } from '../../hub/forwarding.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Sequencing } from '../../hub/sequencing.ts';
import { type Lease, openLeases } from '../../log/lease.ts';
import { LOST_MS } from '../../log/lease-words.ts';
import type { Log } from '../../log/log.ts';
import { findNatsSpace, followNatsSpaces, type NatsSpace } from '../../log/nats/directory.ts';
import type { Durability } from '../../log/nats/durability.ts';
import { natsFailure } from '../../log/nats/failure.ts';
import { createId } from '../../log/nats/generation.ts';
import { openLeaseStore, STEADY } from '../../log/nats/lease-store.ts';
import { type Link, openLink } from '../../log/nats/link.ts';
import { type NatsPlace, shownPlace } from '../../log/nats/place.ts';
import type { NatsLog } from '../../log/nats.ts';
import { openCourier } from './courier.ts';
import { vouchLeases } from './lease-vouch.ts';
import { type Member, openMember } from './member.ts';
import { clusterMetrics } from './metrics.ts';
import { openNews, type SpaceNews } from './news.ts';
import { createOrigins, type Origins } from './origins.ts';
import { createRegistryDesk, type RegistryDesk } from './registry-desk.ts';
import { serves } from './seal.ts';
import { ableServers, createSpread, type Movable } from './spread.ts';
import { type ClusterStatus, clusterStatus } from './status.ts';
import { type OpenSpace, openSummons } from './summons.ts';
import { createVacancies, type Vacancies } from './vacancies.ts';

export interface Cluster {
  readonly name: string;
  /** Of this server, as its leases say it. */
  readonly incarnation: string;
  /** That incarnation was not heard of for so long that others do what it did; throws when nobody can tell. */
  isLost(incarnation: string): Promise<boolean>;
  /** Where this server is found, once that is known. */
  announce(url: string): void;
  /** Why this server does not serve the space; null when it does. */
  refuses(space: string): Refusal | null;
  /** Told when it is taken out: from then on it refuses every space. */
  onRevoked(listener: () => void): () => void;
  /** For the owner: who is a server, and who becomes one. */
  readonly registry: RegistryDesk;
  /** Before the hub of a space is opened. */
  join(space: string): Promise<Membership>;
  /** Whether there is such a space, or was, by whichever server it was made. */
  findSpace(space: string): Promise<NatsSpace | null>;
  /** Tells of every space that is there, is made or is removed at any server; the answer stops the telling. */
  followSpaces(hear: (space: NatsSpace) => void): () => void;
  read(after: string | null, limit: number): ClusterStatus;
  /** Opens spaces that another server wants this one to have, and of those that are not open here what nobody has; the answer ends it. */
  heed(open: OpenSpace, closed: () => Iterable<string>): () => void;
  /** Hands over all that is sequenced here and takes none; null when nobody else is there. */
  drain(isDraining: boolean): Promise<DrainStatus | null>;
  /** For Prometheus. */
  metrics(): string;
  /** When no space is open any more. */
  close(): Promise<void>;
}

export interface DrainStatus {
  readonly server: string;
  readonly draining: boolean;
  /** Spaces it sequences, besides those that it keeps. */
  readonly left: number;
  /** While it drains: those that no other server that is there may serve. */
  readonly kept: string[];
}

export interface Membership {
  readonly sequencing: Sequencing;
  /** Whether all servers read what is compressed. */
  readonly mayCompress: () => boolean;
  /** Whether all servers know that a space may still be unmade. */
  readonly mayUnmake: () => boolean;
  /** When the hub is open: from now on it decides for the others, when it is its turn. */
  serve(hub: Hub, log: Log): void;
  /** Before the hub closes: another takes over at once. */
  leave(): Promise<void>;
}

export interface ClusterOptions {
  readonly place: NatsPlace;
  /** Of this server. */
  readonly name: string;
  readonly version: string;
  /** Its data directory, where its key lies. */
  readonly dir: string;
  onTrouble(what: string, cause: unknown): void;
  warn(line: string): void;
}

interface Served {
  readonly hub: Hub;
  readonly log: Partial<NatsLog>;
  readonly sequencing: Forwarding;
  readonly lease: Lease;
  readonly origins: Origins;
}

/** Who asks for a drain is answered by then. */
const DRAIN_MS_MAX = 20_000;
const DRAIN_LOOK_MS = 100;

/**
 * Spaces of a server that is not heard of go to others after LOST_MS, which costs nothing should it come back. What its
 * programs do is done a second time by then, and paid for: a pause of some seconds, or a node of NATS that is lost, is waited out.
 */
const GIVEN_UP_MS = 4 * LOST_MS;

/** Throws ClusterError when this server may not take part. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const link = await openLink(options.place);
  try {
    const member = await openMember(link, options);
    return await takePart(options, link, member).catch((cause: unknown) => {
      member.close();
      throw cause;
    });
  } catch (cause) {
    await link.release();
    throw cause;
  }
}

async function takePart(options: ClusterOptions, link: Link, member: Member): Promise<Cluster> {
  const { place, name, version, onTrouble } = options;
  const { seals, hellos } = member;
  const served = new Map<string, Served>();
  const since = Date.now();
  let url: string | null = null;
  let isDraining = false;
  // As it was asked for, until a log says what it has.
  let durability: Durability = {
    ...{ replicas: place.replicas, storage: 'file', isSynced: null, isStrict: false },
  };
  const mayHave = (server: string, space: string): boolean => {
    const known = member.stream.registry.servers.get(server);
    return known !== undefined && known.revoked === null && serves(known, space);
  };
  const leases = await begin(async () =>
    openLeases({
      mayHave,
      ...{ name, id: createId(), path: shownPlace(place), steady: STEADY },
      store: await openLeaseStore(link, place, vouchLeases(seals)),
      onLost: (cause) => onTrouble('this server is not counted on by the others', cause),
    }),
  );
  const news = openNews(link, place, seals, () => ({
    ...{ name, version, url, since, isDraining },
    spaces: [...served].map(([space, one]) => told(space, one)),
  }));

  const summons = openSummons(link, place, leases.id, seals);
  const spread = createSpread({
    ...{ name, steady: STEADY, servers: leases.servers, summon: summons.summon, mayHave },
    spaces: () => [...served].map(([space, one]) => [space, movable(one)] as const),
  });
  let vacancies: Vacancies | null = null;
  leases.onServers(() => vacancies?.lookAtAll());
  leases.onWord((space) => vacancies?.lookAt(space));
  /** Of spaces that were closed: what was counted stays counted. */
  const ended = { conflicts: 0, forwarded: 0 };

  function movable({ lease, sequencing, origins, hub }: Served): Movable {
    const { isMine } = lease;
    return {
      nearest: isMine ? origins.nearest(STEADY.now(), hub.stats.entries) : null,
      ...{ isMine, isHeld: lease.holder !== null, mineMs: lease.mineMs },
      handOver: sequencing.handOver,
    };
  }

  function sequenced(): string[] {
    return [...served].flatMap(([space, { lease }]) => (lease.isMine ? [space] : []));
  }

  /** What is sequenced here, and can be handed to nobody that is there. */
  function kept(): string[] {
    const able = ableServers(leases.servers(), name, true);
    return sequenced().filter((space) => !able.some((one) => mayHave(one.name, space)));
  }

  async function begin<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw natsFailure(shownPlace(place), 'join', cause);
    }
  }

  function told(space: string, { hub, sequencing }: Served): SpaceNews {
    const position = hub.stats.entries;
    const isMine = !sequencing.isElsewhere;
    const lag = isMine ? 0 : Math.max(0, news.sequenced(space) - position);
    return { space, position, lag, isMine };
  }

  return {
    name,
    incarnation: leases.id,
    isLost: (incarnation) => leases.isLost(incarnation, GIVEN_UP_MS),
    findSpace: (space) => findNatsSpace(link, place, space),
    followSpaces: (hear) => followNatsSpaces(link, place, hear),
    announce(at) {
      url = at;
    },
    refuses: member.refuses,
    onRevoked: member.onRevoked,
    registry: createRegistryDesk(link, place, member),
    async join(space) {
      try {
        const lease = await leases.of(space);
        const origins = createOrigins(name);
        const courier = openCourier(link, place, space, seals, hellos, onTrouble, origins.note);
        const sequencing = createForwarding(name, lease, courier, STEADY);
        return {
          sequencing,
          mayCompress: () => leases.allCan('readsCompressed'),
          mayUnmake: () => leases.allCan('countsMakers'),
          serve(hub, log) {
            const natsLog = log as Partial<NatsLog> & Log;
            served.set(space, { hub, log: natsLog, sequencing, lease, origins });
            durability = natsLog.durability ?? durability;
            sequencing.serve(hub);
            if (isDraining) void spread.look();
          },
          async leave() {
            const last = served.get(space);
            ended.conflicts += last?.log.conflicts ?? 0;
            ended.forwarded += sequencing.forwarded;
            served.delete(space);
            await sequencing.leave();
            sequencing.close();
            courier.close();
          },
        };
      } catch (cause) {
        throw natsFailure(shownPlace(place), 'join', cause);
      }
    },
    read: (after, limit) =>
      clusterStatus(
        {
          ...{ server: name, address: shownPlace(place), servers: news.servers(), durability },
          standing: (space) => served.get(space)?.sequencing.standing ?? null,
        },
        after,
        limit,
      ),
    heed(open, closed) {
      summons.heed(open);
      const { servers, isVacant } = leases;
      const looking = { name, steady: STEADY, servers, mayHave, isVacant, closed, open };
      vacancies = createVacancies(looking);
      return vacancies.close;
    },
    async drain(is) {
      if (is && !(await leases.hasHeir())) return null;
      isDraining = is;
      await leases.drain(is);
      spread.drain(is);
      const stopAt = STEADY.now() + DRAIN_MS_MAX;
      const isEmpty = (): boolean => sequenced().length <= kept().length;
      while (isDraining && is && !isEmpty() && STEADY.now() < stopAt) {
        await spread.look();
        if (!isEmpty()) await new Promise<void>((go) => void STEADY.after(DRAIN_LOOK_MS, go));
      }
      const keeps = isDraining ? kept().sort() : [];
      const left = sequenced().length - keeps.length;
      return { server: name, draining: isDraining, left, kept: keeps };
    },
    metrics() {
      const all = [...served];
      return clusterMetrics({
        failovers: leases.failovers,
        conflicts: all.reduce((sum, [, one]) => sum + (one.log.conflicts ?? 0), ended.conflicts),
        forwarded: all.reduce((sum, [, one]) => sum + one.sequencing.forwarded, ended.forwarded),
        spaces: all.map(([space, one]) => told(space, one)),
      });
    },
    async close() {
      spread.close();
      summons.close();
      news.close();
      await leases.close();
      member.close();
      await link.release();
    },
  };
}
