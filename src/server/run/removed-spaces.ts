/**
 * Spaces that were removed, as they lie on disk: the store of `alpha`, renamed to
 * `alpha.sqlite.REMOVED-<milliseconds>`. The one rename removes the space, so that a crash leaves it
 * there or removed and nothing between; the name is the record, also when what it held was deleted. In NATS it is the
 * pointer of the space that says so.
 */
import { existsSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  makePrivateDirectory,
  syncDirectory,
  touchPrivateFile,
  unavailable,
} from '../../log/disk.ts';
import { LogError } from '../../log/log.ts';
import type { NatsPlace } from '../../log/nats/place.ts';
import type { NatsRemoval } from '../../log/nats/removal.ts';
import { isSpaceName } from '../desk/spaces.ts';
import { hasPath, INDEX_ENDS, logUrlOf, storeFiles } from './open-log.ts';
import { parseStoreUrl } from './store-url.ts';

export interface Removal {
  /** When; milliseconds. */
  readonly at: number;
  /** What is left of it, a path or a stream; null where nothing was kept anywhere. */
  readonly path: string | null;
  /** In which streams of NATS it is. */
  readonly streams?: { readonly place: NatsPlace; readonly space: string; readonly id: string };
}

/** In capitals, as no space is named. */
const MARK = '.REMOVED-';

/** The newest removal of each name. One that has a store again is not removed: the caller looks. */
export async function removalsOnDisk(
  store: string | null,
  dir: string,
): Promise<Map<string, Removal>> {
  const found = new Map<string, Removal>();
  const parsed = store === null ? null : parseStoreUrl(store);
  if (parsed?.kind === 'nats') {
    const { natsRemovals } = await import('../../log/nats/removal.ts');
    for (const one of await natsRemovals(parsed.place)) {
      if (isSpaceName(one.space)) found.set(one.space, natsRemoval(parsed.place, one));
    }
    return found;
  }
  const { folder, stem, end, names } = await storeFiles(store, dir);
  for (const file of names) {
    const [whole = '', stamp = ''] = file.split(MARK);
    if (!whole.startsWith(stem) || !whole.endsWith(end) || !/^\d{1,15}$/.test(stamp)) continue;
    const name = whole.slice(stem.length, whole.length - end.length);
    const at = Number(stamp);
    if (!isSpaceName(name) || at < (found.get(name)?.at ?? 0)) continue;
    found.set(name, { at, path: join(folder, file) });
  }
  return found;
}

export function natsRemoval(place: NatsPlace, { space, at, id, stream }: NatsRemoval): Removal {
  return { at, path: stream, streams: { place, space, id } };
}

/** Moves the store of a space aside. It must be closed. */
export async function moveAside(
  store: string | null,
  dir: string,
  space: string,
  now: number,
): Promise<Removal> {
  const place = parseStoreUrl(logUrlOf(store, dir, space));
  if (place?.kind === 'package') {
    const what = `the store package ${place.name} keeps its spaces; remove it there`;
    throw new LogError('log.unavailable', what);
  }
  if (place?.kind === 'nats') {
    const { removeNatsSpace } = await import('../../log/nats/removal.ts');
    const removal = await removeNatsSpace(place.place, space, now);
    return removal === null ? { at: now, path: null } : natsRemoval(place.place, removal);
  }
  if (!hasPath(place)) return { at: now, path: null };
  const { path } = place;
  let at = now;
  while (existsSync(`${path}${MARK}${at}`)) at++;
  const aside = `${path}${MARK}${at}`;
  try {
    if (existsSync(path)) renameSync(path, aside);
    else if (place.kind === 'file') await mkdir(aside, { recursive: true, mode: 0o700 });
    else {
      makePrivateDirectory(dirname(path));
      touchPrivateFile(aside);
    }
    syncDirectory(dirname(path));
  } catch (cause) {
    throw unavailable(path, 'move aside', cause);
  }
  // A closed store has no such files but where somebody was reading it meanwhile.
  for (const end of ['-wal', '-shm', '.HEADS', '.ANCHORS'])
    if (existsSync(path + end)) renameSync(path + end, aside + end);
  // An index is made again from the log, should somebody bring that back.
  for (const end of ['.LOCK', '.HOLDER', ...INDEX_ENDS]) rmSync(path + end, { force: true });
  return { at, path: aside };
}

/** Deletes what a removed space held. The empty file, or directory, stays: it says that it was removed. */
export async function deleteRemoved({ path, streams }: Removal): Promise<void> {
  if (streams !== undefined) {
    const { deleteNatsRemoved } = await import('../../log/nats/removal.ts');
    return deleteNatsRemoved(streams.place, streams);
  }
  if (path === null) return;
  try {
    if (statSync(path).isDirectory()) {
      for (const name of await readdir(path)) await rm(join(path, name), { recursive: true });
      return;
    }
    for (const end of ['-wal', '-shm', '.HEADS', '.ANCHORS']) rmSync(path + end, { force: true });
    truncateSync(path);
  } catch (cause) {
    throw unavailable(path, 'delete what is in', cause);
  }
}

/** Deletes a store in which nothing was ever said, so that no record of it is needed. It must be closed. */
export async function deleteStore(store: string | null, dir: string, space: string): Promise<void> {
  const place = parseStoreUrl(logUrlOf(store, dir, space));
  if (!hasPath(place)) return;
  const beside = ['-wal', '-shm', '.LOCK', '.HOLDER', '.HEADS', '.ANCHORS', ...INDEX_ENDS];
  for (const end of ['', ...beside]) {
    await rm(place.path + end, { recursive: true, force: true });
  }
}

/** A space of that name was made again: a removal that kept nothing says nothing any more. */
export async function forgetEmptyRemoval({ path, streams }: Removal): Promise<void> {
  if (path === null || streams !== undefined || !existsSync(path)) return;
  const stat = statSync(path);
  const isEmpty = stat.isDirectory() ? (await readdir(path)).length === 0 : stat.size === 0;
  if (isEmpty) await rm(path, { recursive: true });
}
