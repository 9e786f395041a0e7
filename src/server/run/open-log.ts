/**
 * A log by URL: `memory:`, `file:///dir`, `sqlite:///path`, `nats://…`, or of a package that was named. The only
 * place that knows the adapters by name, and the only dynamic imports of them.
 */
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Log, LogError } from '../../log/log.ts';
import { DEFAULT_SPACE, isSpaceName } from '../desk/spaces.ts';
import { type NatsStore, parseStoreUrl, STORE_FORMS, type Store, storeUrl } from './store-url.ts';

/** Where the log of a space lies, given the configured store. */
export function logUrlOf(store: string | null, dir: string, space: string): string {
  if (store === null) return `sqlite://${join(dir, 'spaces', `${space}.sqlite`)}`;
  const parsed = parseStoreUrl(store);
  if (parsed?.kind === 'nats') return storeUrl({ ...parsed, space });
  // One store URL names the default space; others lie beside it.
  if (!hasPath(parsed) || space === DEFAULT_SPACE) return store;
  return storeUrl({ ...parsed, path: parsed.path.replace(SUFFIX, `.${space}$1`) });
}

/** In capitals, as no space is named: an index beside a store, and what SQLite keeps beside that. */
const INDEX_END = '.SEARCH';
export const INDEX_ENDS: readonly string[] = ['', '-wal', '-shm'].map((end) => INDEX_END + end);

/** Where the search index of a space lies; SQLite's `:memory:` for a log that is not kept either. */
export function indexPathOf(store: string | null, dir: string, space: string): string {
  const parsed = parseStoreUrl(logUrlOf(store, dir, space));
  if (hasPath(parsed)) return parsed.path + INDEX_END;
  const isElsewhere = parsed?.kind === 'package' || parsed?.kind === 'nats';
  return isElsewhere ? join(dir, 'search', space + INDEX_END) : ':memory:';
}

export interface StoreFiles {
  readonly folder: string;
  /** What the name of a space's store begins and ends with. */
  readonly stem: string;
  readonly end: string;
  /** Everything that lies in the folder. */
  readonly names: readonly string[];
}

/** Where the stores of all spaces lie, and what lies there. */
export async function storeFiles(store: string | null, dir: string): Promise<StoreFiles> {
  const parsed = store === null ? null : parseStoreUrl(store);
  if (parsed !== null && !hasPath(parsed)) return { folder: dir, stem: '', end: '', names: [] };
  const path = parsed?.path ?? join(dir, 'spaces', '.sqlite');
  const [, suffix = ''] = SUFFIX.exec(basename(path)) ?? [];
  const folder = dirname(path);
  return {
    folder,
    stem: parsed === null ? '' : `${basename(path).slice(0, -suffix.length || undefined)}.`,
    end: parsed === null ? '.sqlite' : suffix,
    names: await listed(folder),
  };
}

/** The log of a space, to be written to. */
export async function openSpaceLog(
  store: string | null,
  dir: string,
  space: string,
  options: Omit<OpenLogOptions, 'readOnly'>,
): Promise<Log> {
  const parsed = store === null ? null : parseStoreUrl(store);
  if (parsed?.kind !== 'package') return openLog(logUrlOf(store, dir, space), options);
  const { openPackageLog } = await import('./package-store.ts');
  return openPackageLog(parsed, dir, space);
}

/** The spaces that lie in the store already. */
export async function spacesOnDisk(store: string | null, dir: string): Promise<string[]> {
  const parsed = store === null ? null : parseStoreUrl(store);
  if (parsed?.kind === 'package') {
    const { listPackageSpaces } = await import('./package-store.ts');
    return listPackageSpaces(parsed, dir);
  }
  if (parsed?.kind === 'nats') {
    const { natsSpaces } = await import('../../log/nats.ts');
    return (await natsSpaces(parsed.place)).filter(isSpaceName);
  }
  const { stem, end, names } = await storeFiles(store, dir);
  return names
    .filter((name) => name.startsWith(stem) && name.endsWith(end))
    .map((name) => name.slice(stem.length, name.length - end.length))
    .filter((name) => isSpaceName(name) && !isSidecar(store, name));
}

/** Without a suffix the files SQLite keeps beside a store read as stores of their own. */
export function isSidecar(store: string | null, space: string): boolean {
  const parsed = store === null ? null : parseStoreUrl(store);
  if (parsed?.kind !== 'sqlite' || SUFFIX.exec(basename(parsed.path))?.[1] !== undefined)
    return false;
  return /-(wal|shm|journal)$/.test(space);
}

interface OpenLogOptions {
  readonly readOnly?: boolean;
  /** Several servers write to it, in concert; only a store at nats:// can be that. */
  readonly isShared?: boolean;
  /** All of them read what is compressed. */
  readonly mayCompress?: (() => boolean) | undefined;
  /** A space that was removed from NATS is made again. */
  readonly revives?: boolean;
  /** One that is made in NATS may still be unmade. */
  readonly mayUnmake?: boolean;
}

/** To be written to, a store is locked until the log is closed: it has one writer [G10]. */
export async function openLog(url: string, options: OpenLogOptions = {}): Promise<Log> {
  const store = parseStoreUrl(url);
  if (store?.kind === 'nats' && !options.readOnly && !options.isShared)
    return openLeased(store, options);
  if (!hasPath(store) || options.readOnly) {
    return openUnlocked(url, store, options);
  }
  const { lockStore } = await import('../../log/lock.ts');
  const lock = lockStore(store.path, store.kind);
  try {
    const log = await openUnlocked(url, store, options);
    const close = async (): Promise<void> => {
      await log.close();
      lock.release();
    };
    return Object.create(log, { close: { value: close } });
  } catch (cause) {
    lock.release();
    throw cause;
  }
}

async function openLeased({ place, space }: NatsStore, options: OpenLogOptions): Promise<Log> {
  const [{ takeLease }, { openNatsLog }] = await Promise.all([
    import('../../log/nats/lease-store.ts'),
    import('../../log/nats.ts'),
  ]);
  const name = space ?? DEFAULT_SPACE;
  const lease = await takeLease(place, name);
  try {
    const log = await openNatsLog(place, name, options);
    const close = async (): Promise<void> => {
      await log.close();
      await lease.release();
    };
    return Object.create(log, { close: { value: close } });
  } catch (cause) {
    await lease.release();
    throw cause;
  }
}

async function openUnlocked(
  url: string,
  store: Store | null,
  { readOnly = false, revives = false, mayUnmake = false, mayCompress }: OpenLogOptions,
): Promise<Log> {
  const options = { readOnly };
  switch (store?.kind) {
    case 'memory': {
      const { openMemoryLog } = await import('../../log/memory.ts');
      return openMemoryLog();
    }
    case 'sqlite': {
      const { openSqliteLog } = await import('../../log/sqlite.ts');
      return openSqliteLog(store.path, options);
    }
    case 'file': {
      const { openFileLog } = await import('../../log/file.ts');
      return openFileLog(store.path, options);
    }
    case 'nats': {
      const { openNatsLog } = await import('../../log/nats.ts');
      const shared = { readOnly, revives, mayUnmake, mayCompress };
      return openNatsLog(store.place, store.space ?? DEFAULT_SPACE, shared);
    }
    case 'package':
    case undefined:
      throw new LogError('log.unavailable', `no store is known for ${url}; use ${STORE_FORMS}`);
  }
}

type PathStore = Extract<Store, { readonly path: string }>;

export function hasPath(store: Store | null): store is PathStore {
  return store !== null && 'path' in store;
}

/** `.sqlite` of `log.sqlite`; nothing of a bare name. */
const SUFFIX = /(\.[^./]+)?$/;

async function listed(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch {
    // A data directory that was never used has no spaces yet.
    return [];
  }
}
