/**
 * The spaces of one server: each a log and a hub, opened on first use. A space that
 * lies on disk exists; a new one is made only for those who may.
 */
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import { SERVER } from '../../core/law/principal.ts';
import type { SpaceSettings } from '../../core/law/state.ts';
import type { Clock } from '../../hub/clock.ts';
import { type Hub, openHub } from '../../hub/hub.ts';
import { LogError } from '../../log/log.ts';
import { nearest } from '../../wire/nearest.ts';
import { DEFAULT_SPACE, isSpaceName, type Spaces } from '../desk/spaces.ts';
import { logUrlOf, openLog, spacesOnDisk } from './open-log.ts';
import { parseStoreUrl } from './store-url.ts';

export const SPACES_MAX = 256;
const NEAREST_MAX = 3;

export interface SpacesOptions {
  readonly store: string | null;
  readonly dir: string;
  readonly clock: Clock;
  readonly settings: Partial<SpaceSettings>;
  /** JSON Schemas by channel, laid down in every space; given, even empty, only these channels exist. */
  readonly typedChannels: Readonly<Record<string, unknown>> | null;
  /** Spaces that exist because the configuration names them. */
  readonly named: readonly string[];
  onTrouble(what: string, cause: unknown): void;
}

export interface OpenSpaces extends Spaces {
  isStoreOk(): boolean;
  close(): Promise<void>;
}

export async function openSpaces(options: SpacesOptions): Promise<OpenSpaces> {
  const hubs = new Map<string, Hub>();
  const opening = new Map<string, Promise<Hub>>();
  const known = new Set([
    DEFAULT_SPACE,
    ...options.named,
    ...(await spacesOnDisk(options.store, options.dir)),
  ]);

  async function openOne(name: string): Promise<Hub> {
    const url = logUrlOf(options.store, options.dir, name);
    const log = await openLog(url);
    let hub: Hub | null = null;
    try {
      hub = await openHub({
        space: name,
        log,
        clock: options.clock,
        onTrouble: (what, cause) => options.onTrouble(`space ${name}: ${what}`, cause),
      });
      await configure(hub, options);
      known.add(name);
      hubs.set(name, hub);
      return hub;
    } catch (cause) {
      await (hub ?? log).close();
      throw cause instanceof LogError ? located(cause, url) : cause;
    }
  }

  async function open(name: string, { mayCreate }: { mayCreate: boolean }): Promise<Hub | Refusal> {
    const hub = hubs.get(name);
    if (hub !== undefined) return hub;
    if (!isSpaceName(name)) {
      return refuse('space.name-invalid', 'a space is named with 1 to 64 of a-z, 0-9, _ and -');
    }
    if (!known.has(name)) {
      if (!mayCreate) return notFound(name, [...known]);
      if (known.size >= SPACES_MAX) {
        return refuse(
          'limit.reached',
          `this hub has ${SPACES_MAX} spaces already; stop it and move one of their files away`,
          {
            limit: 'SPACES_MAX',
          },
        );
      }
    }
    let promise = opening.get(name);
    if (promise === undefined) {
      promise = openOne(name).finally(() => opening.delete(name));
      opening.set(name, promise);
    }
    try {
      return await promise;
    } catch (cause) {
      // One damaged file is the trouble of one space; whoever asks for it is told, the others go on [SP2].
      if (!(cause instanceof LogError)) throw cause;
      options.onTrouble(`space ${name} cannot be opened`, cause);
      return refuse(
        'store.unavailable',
        `space ${name} cannot be opened (${cause.code}); the hub’s log says why and what to do`,
        { failure: cause.code },
      );
    }
  }

  await openOne(DEFAULT_SPACE);

  return {
    open,
    has: (name) => known.has(name),
    find: (name) => hubs.get(name) ?? null,
    list: () =>
      [...known].sort().map((name) => ({ name, entries: hubs.get(name)?.stats.entries ?? 0 })),
    isStoreOk: () => [...hubs.values()].every((hub) => hub.isAvailable),
    async close() {
      await Promise.allSettled(opening.values());
      await Promise.all([...hubs.values()].map((hub) => hub.close()));
    },
  };
}

/** Reading makes no space, so that a misspelt name is told and not made [SP3]. */
function notFound(name: string, known: readonly string[]): Refusal {
  const near = nearest(name, known, NEAREST_MAX);
  const meant = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
  return refuse(
    'space.not-found',
    `there is no space ${name} here.${meant} The first write makes a space, as does spaces.create`,
    { space: name, nearest: near },
  );
}

/** What the hub says of an entry, with the store it lies in: whoever must act has to find it. */
function located(cause: LogError, url: string): LogError {
  const store = parseStoreUrl(url);
  if (cause.path !== undefined || store === null || store.kind === 'memory') return cause;
  const { path } = store;
  const told = cause.message.slice(cause.code.length + 2);
  return new LogError(cause.code, `${path}: ${told}`, { cause, path });
}

/** Lays the configuration down; what is so already leaves no trace in the log. */
async function configure(hub: Hub, { settings, typedChannels }: SpacesOptions): Promise<void> {
  const typed = Object.entries(typedChannels ?? {});
  for (const [channel, schema] of typed) {
    await taken(
      hub.submit({
        type: 'channel.configure',
        by: SERVER,
        at: hub.stamp(),
        channel,
        change: { schema: JSON.stringify(schema) },
      }),
    );
  }
  const change = typedChannels === null ? settings : { ...settings, isTypedOnly: true };
  if (Object.keys(change).length === 0) return;
  await taken(hub.submit({ type: 'space.configure', by: SERVER, at: hub.stamp(), change }));
}

/** A hub must not run under other rules than its operator wrote down. */
async function taken(answer: Promise<object | Refusal>): Promise<void> {
  const outcome = await answer;
  if (isRefusal(outcome)) {
    throw new LogError('log.unavailable', `the configuration was not taken: ${outcome.message}`);
  }
}
