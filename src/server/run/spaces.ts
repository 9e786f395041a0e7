/**
 * The spaces of one server: each a log and a hub, opened on first use. A space that
 * lies on disk exists; a new one is made only for those who may.
 */
import { breakText } from '../../core/docket/log-broken.ts';
import { type Refusal, refuse, refuseFull } from '../../core/law/decider.ts';
import { SPACES_MAX } from '../../core/law/limits.ts';
import type { Clock } from '../../hub/clock.ts';
import { type Hub, openHub } from '../../hub/hub.ts';
import { LogError } from '../../log/log.ts';
import type { NatsSpace } from '../../log/nats/directory.ts';
import type { NatsLog } from '../../log/nats.ts';
import type { Cluster, Membership } from '../cluster/cluster.ts';
import {
  DEFAULT_SPACE,
  isSpaceName,
  type OpenSpaceOptions,
  type RemovedSpace,
  type Spaces,
} from '../desk/spaces.ts';
import type { KeptSpace, RecordKeeper } from '../record/keeper.ts';
import { createBytePages } from './byte-pages.ts';
import { hearWhoIsThere } from './hear-who-is-there.ts';
import { type LaidDown, layDown } from './lay-down.ts';
import { finishMending, mendStore } from './mend-store.ts';
import { alwaysThere, cannotOpen, gone, noName, notFound, sidecarName } from './no-space.ts';
import { isSidecar, logUrlOf, openSpaceLog, spacesOnDisk } from './open-log.ts';
import {
  deleteRemoved,
  deleteStore,
  forgetEmptyRemoval,
  moveAside,
  natsRemoval,
  type Removal,
  removalsOnDisk,
} from './removed-spaces.ts';
import { located, placeOf } from './store-place.ts';
import { parseStoreUrl } from './store-url.ts';
import { timedLog } from './timed-log.ts';
import { createUnsettledSpaces, type Made } from './unsettled-spaces.ts';

export interface SpacesOptions extends LaidDown {
  readonly store: string | null;
  readonly dir: string;
  readonly clock: Clock;
  /** Spaces that exist because the configuration names them. */
  readonly named: readonly string[];
  /** Absent where this server is alone. */
  readonly cluster?: Cluster | undefined;
  /** Signs heads; absent where nothing is signed. */
  readonly record?: RecordKeeper;
  onTrouble(what: string, cause: unknown): void;
  /** A batch of a space took so long to be durable. */
  onAppended?(space: string, ms: number): void;
}

export interface OpenSpaces extends Spaces {
  /** Spaces that are there and not open here. */
  closed(): string[];
  /** Spaces that are open, but for the default one, which always is. */
  opened(): Hub[];
  /** Closes a space that nobody here uses; who asks for it next opens it again. */
  rest(name: string): Promise<void>;
  /** Tells of spaces that are closed so; the answer stops the telling. */
  onRested(listener: (name: string) => void): () => void;
  isStoreOk(): boolean;
  /** Tells of every space that is open or opens; the answer stops the telling. */
  onOpened(listener: (hub: Hub) => void): () => void;
  /** The first step of stopping: whoever waits is answered, and may still leave its queue. */
  endWaits(): void;
  close(): Promise<void>;
}

export async function openSpaces(options: SpacesOptions): Promise<OpenSpaces> {
  const hubs = new Map<string, Hub>();
  const openPage = createBytePages();
  const kept = new Map<Hub, KeptSpace>();
  const memberships = new Map<Hub, Membership>();
  const opening = new Map<string, Promise<Hub>>();
  const resting = new Map<string, Promise<void>>();
  /** How far they had come, those that were closed for want of use. */
  const rested = new Map<string, number>();
  const restListeners = new Set<(name: string) => void>();
  const { store, dir } = options;
  await finishMending(store, dir);
  const onDisk = await spacesOnDisk(store, dir);
  const removed = await removalsOnDisk(store, dir);
  for (const name of [DEFAULT_SPACE, ...onDisk]) removed.delete(name);
  const named = options.named.filter((name) => !removed.has(name));
  const known = new Set([DEFAULT_SPACE, ...named, ...onDisk]);
  const removing = new Map<string, Promise<RemovedSpace | Refusal>>();
  const removalListeners = new Set<(name: string) => void>();
  const openingListeners = new Set<(hub: Hub) => void>();

  const { onTrouble } = options;
  const unsettled = createUnsettledSpaces({ find: (name) => hubs.get(name), unmake, onTrouble });
  const parsed = store === null ? null : parseStoreUrl(store);
  const nats = parsed?.kind === 'nats' ? parsed : null;
  // What a package keeps only it takes away; a space in NATS says itself whether it may be unmade.
  const canDelete = parsed?.kind !== 'package' && nats === null;

  async function unmake(name: string, hub: Hub, { entries, making }: Made): Promise<void> {
    try {
      hubs.delete(name);
      await shut(hub, 'space_removed');
      // Whoever found it open may have stored something until it closed.
      if (hub.stats.entries > entries) return await making?.settle();
      if (making === null) await deleteStore(store, dir, name);
      else if (!(await making.unmake())) return;
      known.delete(name);
      for (const listener of removalListeners) listener(name);
    } catch (cause) {
      // What is there of it at NATS is found by who asks for it.
      if (making !== null) known.delete(name);
      onTrouble(`space ${name}, in which nothing is stored, cannot be taken away`, cause);
    }
  }

  async function shut(hub: Hub, reason?: 'space_removed'): Promise<void> {
    const record = kept.get(hub);
    kept.delete(hub);
    await record?.beginClose();
    // Another takes over while we finish.
    await memberships.get(hub)?.leave();
    memberships.delete(hub);
    await hub.close(reason);
    await record?.finishClose(reason === 'space_removed');
  }

  /** A log that breaks is mended, if there is something to go on from [RC8]; then it is opened as any other. */
  async function openOne(name: string, revives = false): Promise<Hub> {
    const url = logUrlOf(store, dir, name);
    try {
      return await openAt(name, url, revives);
    } catch (cause) {
      const place = placeOf(url);
      const isCorrupt = cause instanceof LogError && cause.code === 'log.corrupt';
      const canMend = isCorrupt && place !== null && place.kind !== 'nats';
      const found = canMend ? await mendStore(place, options.clock.now()) : null;
      if (found === null) throw cause;
      options.onTrouble(`space ${name}: ${breakText(found)}`, cause);
      return openAt(name, url, revives);
    }
  }

  async function openWhenClosed(name: string, revives: boolean): Promise<Hub> {
    await resting.get(name);
    return openOne(name, revives);
  }

  async function openAt(name: string, url: string, revives: boolean): Promise<Hub> {
    const membership = await options.cluster?.join(name);
    const isShared = membership !== undefined;
    // Only a call that may be refused begins what may be unmade.
    const mayUnmake = !revives && !known.has(name) && (membership?.mayUnmake() ?? true);
    const shared = { isShared, mayCompress: membership?.mayCompress, mayUnmake };
    const opened = await openSpaceLog(store, dir, name, { ...shared, revives }).catch(
      async (cause: unknown) => {
        await membership?.leave();
        throw cause;
      },
    );
    const log = timedLog(opened, (ms) => options.onAppended?.(name, ms));
    let hub: Hub | null = null;
    try {
      const record = await options.record?.open(name, log, placeOf(url));
      hub = await openHub({
        space: name,
        log,
        clock: options.clock,
        openPage,
        ...(membership !== undefined && { sequencing: membership.sequencing }),
        onTrouble: (what, cause) => options.onTrouble(`space ${name}: ${what}`, cause),
      });
      membership?.serve(hub, log);
      await hearWhoIsThere(hub);
      if (membership !== undefined) memberships.set(hub, membership);
      await layDown(hub, options);
      // Taken out while it was opening: whoever was told to close what was open has not seen it [JN6].
      const elsewhere = elsewhereOf(name);
      if (elsewhere !== null) throw new LogError('log.unavailable', elsewhere.message);
      record?.follow(hub);
      if (record !== undefined) kept.set(hub, record);
      const { making = null } = opened as Partial<NatsLog>;
      const isNew = !known.has(name) && (canDelete || making !== null);
      known.add(name);
      hubs.set(name, hub);
      if (isNew) unsettled.made(name, { entries: hub.stats.entries, making });
      rested.delete(name);
      const removal = removed.get(name);
      removed.delete(name);
      if (removal !== undefined) await forgetEmptyRemoval(removal).catch(() => {});
      for (const listener of openingListeners) listener(hub);
      return hub;
    } catch (cause) {
      await membership?.leave();
      if (hub !== null) memberships.delete(hub);
      await (hub ?? log).close();
      throw cause instanceof LogError ? located(cause, url) : cause;
    }
  }

  /** Why this server of several does not serve it. */
  function elsewhereOf(name: string): Refusal | null {
    return options.cluster?.refuses(name) ?? null;
  }

  async function open(
    name: string,
    { mayCreate, isExplicit = false }: OpenSpaceOptions,
  ): Promise<Hub | Refusal> {
    await unsettled.unmaking(name);
    if (isExplicit && (!known.has(name) || unsettled.has(name))) unsettled.keep(name);
    const hub = hubs.get(name);
    if (hub !== undefined) return isExplicit ? settled(name, hub) : hub;
    if (!isSpaceName(name)) return noName();
    const elsewhere = elsewhereOf(name);
    if (elsewhere !== null) return elsewhere;
    if (!known.has(name)) await lookElsewhere(name);
    const removal = removed.get(name);
    if (removal !== undefined && (!isExplicit || removing.has(name))) return gone(name, removal);
    if (!known.has(name)) {
      if (!mayCreate) return notFound(name, [...known]);
      if (known.size >= SPACES_MAX) return refuseFull('SPACES_MAX', SPACES_MAX);
      if (isSidecar(store, name)) return sidecarName();
    }
    let promise = opening.get(name);
    if (promise === undefined) {
      promise = openWhenClosed(name, isExplicit).finally(() => opening.delete(name));
      opening.set(name, promise);
    }
    try {
      return isExplicit ? await settled(name, await promise) : await promise;
    } catch (cause) {
      // One damaged file is the trouble of one space; whoever asks for it is told, the others go on [SP2].
      if (!(cause instanceof LogError)) throw cause;
      const elsewhereNow = elsewhereOf(name);
      if (elsewhereNow !== null) return elsewhereNow;
      if (cause.code === 'log.removed') await lookElsewhere(name);
      const wasRemoved = removed.get(name);
      if (wasRemoved !== undefined) return gone(name, wasRemoved);
      options.onTrouble(`space ${name} cannot be opened`, cause);
      return cannotOpen(name, cause.code);
    }
  }

  /** Who asked for it by name is answered when every server has it. */
  async function settled(name: string, hub: Hub): Promise<Hub> {
    await unsettled.settle(name);
    return hub;
  }

  /** Another server of the cluster may have made or removed it a moment ago. */
  async function lookElsewhere(name: string): Promise<void> {
    // Whether NATS does not answer is told by who opens the log.
    const found = await options.cluster?.findSpace(name).catch(() => null);
    if (found != null) await hearSpace(found);
  }

  /** What the directory of all servers says of a space. */
  async function hearSpace({ name, removal }: NatsSpace): Promise<void> {
    if (!isSpaceName(name) || removing.has(name)) return;
    if (removal === null) {
      removed.delete(name);
      known.add(name);
    } else if (nats !== null) await forget(name, natsRemoval(nats.place, removal));
  }

  /** It was removed by another server: it is closed here too, and refused by name from now on. */
  async function forget(name: string, removal: Removal): Promise<void> {
    removed.set(name, removal);
    if (!known.delete(name)) return;
    await opening.get(name)?.catch(() => {});
    await resting.get(name);
    const hub = hubs.get(name);
    hubs.delete(name);
    if (hub !== undefined) await shut(hub, 'space_removed');
    for (const listener of removalListeners) listener(name);
  }

  async function removeOne(name: string, isDeleted: boolean): Promise<RemovedSpace | Refusal> {
    // From here on it is refused by name; what was asked before is still done.
    const begun: Removal = removed.get(name) ?? { at: options.clock.now(), path: null };
    const isThere = known.has(name);
    let removal = begun;
    try {
      if (isThere) {
        await opening.get(name)?.catch(() => {});
        await resting.get(name);
        const hub = hubs.get(name);
        removed.set(name, begun);
        hubs.delete(name);
        if (hub !== undefined) await shut(hub, 'space_removed');
        removal = await moveAside(store, dir, name, begun.at);
        removed.set(name, removal);
        known.delete(name);
        for (const listener of removalListeners) listener(name);
      }
      if (isDeleted) await deleteRemoved(removal);
      return { at: removal.at, kept: isDeleted ? null : removal.path };
    } catch (cause) {
      if (!(cause instanceof LogError)) throw cause;
      options.onTrouble(`space ${name} cannot be removed`, cause);
      return refuse('store.unavailable', `space ${name} could not be removed (${cause.code})`);
    } finally {
      // It stayed where it is, and may be opened again.
      if (known.has(name)) removed.delete(name);
    }
  }

  async function remove(
    name: string,
    { isDeleted }: { isDeleted: boolean },
  ): Promise<RemovedSpace | Refusal> {
    if (name === DEFAULT_SPACE) return alwaysThere();
    await removing.get(name);
    if (!known.has(name)) await lookElsewhere(name);
    if (!known.has(name) && !removed.has(name)) return notFound(name, [...known]);
    const promise = removeOne(name, isDeleted).finally(() => removing.delete(name));
    removing.set(name, promise);
    return promise;
  }

  async function rest(name: string): Promise<void> {
    const hub = hubs.get(name);
    if (hub === undefined || name === DEFAULT_SPACE) return;
    // From here on who asks waits until it is closed, and opens it again.
    hubs.delete(name);
    rested.set(name, hub.stats.entries);
    for (const listener of restListeners) listener(name);
    const promise = shut(hub)
      .catch((cause: unknown) => options.onTrouble(`space ${name} cannot be closed`, cause))
      .finally(() => resting.delete(name));
    resting.set(name, promise);
    await promise;
  }

  const isThere = (name: string): boolean =>
    known.has(name) && unsettled.unmaking(name) === undefined;
  /** Whoever was served here is told where it ends, and refused by name from now on [JN6]. */
  const stopHearing = options.cluster?.onRevoked(() => {
    const ended = [...hubs.values()];
    hubs.clear();
    for (const hub of ended) {
      shut(hub).catch((cause: unknown) =>
        options.onTrouble(`space ${hub.space} cannot be closed`, cause),
      );
    }
  });
  // A server of some spaces alone does not open the others, not even this one.
  if (elsewhereOf(DEFAULT_SPACE) === null) await openOne(DEFAULT_SPACE);
  const unfollow = options.cluster?.followSpaces((space) => {
    hearSpace(space).catch((cause) =>
      options.onTrouble(
        `space ${space.name}, which another server removed, cannot be closed`,
        cause,
      ),
    );
  });

  return {
    open,
    has: isThere,
    enter: (name) => (isThere(name) && !unsettled.has(name) ? null : unsettled.enter(name)),
    remove,
    onRemoved(listener) {
      removalListeners.add(listener);
      return () => removalListeners.delete(listener);
    },
    onOpened(listener) {
      openingListeners.add(listener);
      for (const hub of hubs.values()) listener(hub);
      return () => openingListeners.delete(listener);
    },
    find: (name) => hubs.get(name) ?? null,
    list: () =>
      [...known].sort().map((name) => ({
        name,
        entries: hubs.get(name)?.stats.entries ?? rested.get(name) ?? 0,
      })),
    closed: () => [...known].filter((name) => !hubs.has(name) && !opening.has(name)),
    opened: () => [...hubs.values()].filter((hub) => hub.space !== DEFAULT_SPACE),
    rest,
    onRested(listener) {
      restListeners.add(listener);
      return () => restListeners.delete(listener);
    },
    isStoreOk: () => [...hubs.values()].every((hub) => hub.isAvailable),
    endWaits() {
      for (const hub of hubs.values()) hub.watch.endWaits();
    },
    async close() {
      unfollow?.();
      stopHearing?.();
      await Promise.allSettled([...opening.values(), ...removing.values(), ...resting.values()]);
      await Promise.all([...hubs.values()].map((hub) => shut(hub)));
    },
  };
}
