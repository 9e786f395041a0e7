/**
 * A namespace of the shared context, typed: read, written, changed by many at once without losing a change,
 * looked at as it was, compared and followed. It keeps nothing: every answer is the hub's.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createBackoff } from '../../client/backoff.ts';
import { isPassing, SynodError } from '../../client/error.ts';
import type { CallInput, CallOutput } from '../../client/operations.ts';
import type { HubCalls } from '../process/supervisor-options.ts';

type Keys<Values> = keyof Values & string;

/**
 * A value with its version; there is none where nothing was set.
 *
 * @example
 * ```ts
 * const told = ({ value, by }: ContextValue<string>): string => `${by} says ${value}`;
 * ```
 */
export interface ContextValue<Value> {
  readonly value: Value;
  readonly version: number;
  readonly by: string;
  readonly setAtMs: number;
  readonly expiresAtMs: number | null;
}

/**
 * On what condition a value is set, and for how long.
 *
 * @example
 * ```ts
 * const onlyIfNew: ContextSetOptions = { ifVersion: 0, ttlMs: 60_000 };
 * ```
 */
export interface ContextSetOptions {
  /** Only if the key is at this version; 0: only if there is none. Else it throws `context.version`. */
  readonly ifVersion?: number;
  readonly ttlMs?: number;
}

/**
 * A key that was added, changed or removed.
 *
 * @example
 * ```ts
 * const line = ({ key, change, version }: ContextChange<{ goal: string }>): string =>
 *   `${key} ${change}, now ${version}`;
 * ```
 */
export interface ContextChange<Values> {
  readonly key: Keys<Values>;
  readonly change: 'added' | 'changed' | 'removed';
  /** What is there after, and what was there before; undefined: nothing. */
  readonly value: Values[Keys<Values>] | undefined;
  readonly before: Values[Keys<Values>] | undefined;
  /** The version after; 0: there is none. */
  readonly version: number;
}

/**
 * The namespace as it was at one moment; it never changes.
 *
 * @example
 * ```ts
 * async function goalThen(then: ContextSnapshot<{ goal: string }>): Promise<string> {
 *   return (await then.get('goal'))?.value ?? 'none yet';
 * }
 * ```
 */
export interface ContextSnapshot<Values> {
  readonly ns: string;
  /** The position that it can be looked at again by. */
  readonly position: number;
  get<K extends Keys<Values>>(key: K): Promise<ContextValue<Values[K]> | undefined>;
  /** All that begin with the prefix, by key. */
  entries(prefix?: string): Promise<Map<Keys<Values>, Values[Keys<Values>]>>;
}

/**
 * Which changes are followed, and from where on.
 *
 * @example
 * ```ts
 * const stop = new AbortController();
 * const follow: ContextFollowOptions = { prefix: 'plan/', signal: stop.signal };
 * ```
 */
export interface ContextFollowOptions {
  /** From where on; omitted: from now. */
  readonly since?: number;
  readonly prefix?: string;
  readonly signal?: AbortSignal;
}

/**
 * Values that agents share under a namespace, typed by their keys.
 *
 * @example
 * ```ts
 * async function remember(shared: Context<{ goal: string }>): Promise<number> {
 *   return shared.set('goal', 'ship on Friday', { ifVersion: 0 });
 * }
 * ```
 */
export interface Context<Values> {
  readonly ns: string;
  get<K extends Keys<Values>>(key: K): Promise<ContextValue<Values[K]> | undefined>;
  entries(prefix?: string): Promise<Map<Keys<Values>, Values[Keys<Values>]>>;
  /** The new version. */
  set<K extends Keys<Values>>(
    key: K,
    value: Values[K],
    options?: ContextSetOptions,
  ): Promise<number>;
  /**
   * Reads, has the value changed, and writes it if nobody else did meanwhile; else again, so that no change is
   * lost. What is changed into undefined stays as it is. The version it has then.
   */
  update<K extends Keys<Values>>(
    key: K,
    change: (now: Values[K] | undefined) => Values[K] | undefined | Promise<Values[K] | undefined>,
    options?: Pick<ContextSetOptions, 'ttlMs'>,
  ): Promise<number>;
  /** Whether there was one. */
  delete(key: Keys<Values>, options?: Pick<ContextSetOptions, 'ifVersion'>): Promise<boolean>;
  snapshot(): Promise<ContextSnapshot<Values>>;
  at(position: number): ContextSnapshot<Values>;
  diff(from: number, to?: number, prefix?: string): Promise<ContextChange<Values>[]>;
  /** What changes, in order of time, until the signal; over breaks of the connection none is missed. */
  changes(options?: ContextFollowOptions): AsyncGenerator<ContextChange<Values>, void, void>;
}

/** Whoever loses so often has the others let them through never. */
const TRIES_MAX = 100;
const WAIT_MS = 25_000;
const ANSWER_MS = 10_000;
const PAGE_ROWS = 500;

/**
 * A namespace of the context of a hub, as `connect()` of `synod` reaches it.
 *
 * @example
 * ```ts
 * interface Plan { goal: string; done: string[] }
 * const plan = createContext<Plan>(client, 'plan');
 * await plan.set('goal', 'ship', { ifVersion: 0 });
 * await plan.update('done', (done = []) => [...done, 'parser']);
 * const then = await plan.snapshot();
 * ```
 */
export function createContext<Values extends object = Record<string, unknown>>(
  hub: HubCalls,
  ns: string,
): Context<Values> {
  type Key = Keys<Values>;

  async function read<K extends Key>(
    key: K,
    at?: number,
  ): Promise<ContextValue<Values[K]> | undefined> {
    const found = await hub.call('context.get', { ns, key, ...(at !== undefined && { at }) });
    if (found.version === 0) return undefined;
    const { version, value, by, set_at: setAt, expires_at: expiresAt } = found;
    return {
      ...{ value: value as Values[K], version, by: by ?? '', setAtMs: (setAt ?? 0) * 1000 },
      expiresAtMs: expiresAt === null ? null : expiresAt * 1000,
    };
  }

  async function list(prefix: string, at?: number): Promise<Map<Key, Values[Key]>> {
    const found = new Map<Key, Values[Key]>();
    const asked = { ns, prefix, values: true, limit: PAGE_ROWS };
    for (let page: { at?: number; after?: string } = at === undefined ? {} : { at }; ; ) {
      const { entries, next, snapshot } = await hub.call('context.list', { ...asked, ...page });
      for (const { key, value } of entries) found.set(key as Key, value as Values[Key]);
      if (next === null) return found;
      // The pages that follow are of the same moment as the first.
      page = { at: snapshot, after: next };
    }
  }

  async function set(
    key: string,
    value: unknown,
    options: ContextSetOptions = {},
  ): Promise<number> {
    const { ifVersion, ttlMs } = options;
    const { version } = await hub.call('context.set', {
      ...{ ns, key, value },
      ...(ifVersion !== undefined && { if_version: ifVersion }),
      ...(ttlMs !== undefined && { ttl: ttlMs / 1000 }),
    });
    return version;
  }

  async function between(
    asked: Pick<CallInput<'context.diff'>, 'from' | 'to' | 'prefix'>,
    after?: string,
  ): Promise<ContextChange<Values>[]> {
    const told: ContextChange<Values>[] = [];
    const wish = { ns, ...asked, values: true, limit: PAGE_ROWS };
    for (let page = after === undefined ? {} : { after }, to = asked.to; ; ) {
      const more = { ...wish, ...page, ...(to !== undefined && { to }) };
      const answer = await hub.call('context.diff', more);
      told.push(...answer.changes.map(toChange<Values>));
      if (answer.next === null) return told;
      page = { after: answer.next };
      to = answer.to;
    }
  }

  const at = (position: number): ContextSnapshot<Values> => ({
    ns,
    position,
    get: (key) => read(key, position),
    entries: (prefix = '') => list(prefix, position),
  });

  return {
    ns,
    at,
    get: (key) => read(key),
    entries: (prefix = '') => list(prefix),
    set,
    async update(key, change, options = {}) {
      const backoff = createBackoff({ minMs: 5, maxMs: 500 });
      for (let tries = 1; ; tries++) {
        const now = await read(key);
        const next = await change(now?.value);
        if (next === undefined) return now?.version ?? 0;
        try {
          return await set(key, next, { ...options, ifVersion: now?.version ?? 0 });
        } catch (error) {
          const isLate = error instanceof SynodError && error.code === 'context.version';
          if (!isLate || tries >= TRIES_MAX) throw error;
          await sleep(backoff.next());
        }
      }
    },
    async delete(key, { ifVersion } = {}) {
      const bound = ifVersion === undefined ? {} : { if_version: ifVersion };
      const { deleted } = await hub.call('context.delete', { ns, key, ...bound });
      return deleted > 0;
    },
    async snapshot() {
      const { snapshot } = await hub.call('context.snapshot', { ns });
      return at(snapshot);
    },
    diff: (from, to, prefix = '') => between({ from, to, prefix }),
    async *changes({ since, prefix = '', signal } = {}) {
      const backoff = createBackoff();
      let from = since ?? (await hub.call('context.snapshot', { ns })).snapshot;
      const asked = { ns, prefix, values: true, limit: PAGE_ROWS, wait_ms: WAIT_MS };
      const how = { timeoutMs: WAIT_MS + ANSWER_MS, ...(signal !== undefined && { signal }) };
      while (signal?.aborted !== true) {
        let news: CallOutput<'context.watch'>;
        try {
          news = await hub.call('context.watch', { ...asked, since: from }, how);
        } catch (error) {
          if (signal?.aborted) return;
          if (!(error instanceof SynodError && isPassing(error))) throw error;
          await sleep(backoff.next(), undefined, { ...(signal && { signal }) }).catch(() => {});
          continue;
        }
        backoff.reset();
        const { changes, next, snapshot: to } = news;
        for (const one of changes) yield toChange<Values>(one);
        if (next !== null) yield* await between({ from, to, prefix }, next);
        from = to;
      }
    },
  };
}

function toChange<Values>(
  change: CallOutput<'context.diff'>['changes'][number],
): ContextChange<Values> {
  const { key, change: kind, value, before_value: before, after } = change;
  const told = { key, change: kind, value, before, version: after };
  return told as ContextChange<Values>;
}
