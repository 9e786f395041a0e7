/** Which log a command means: that of a space in the data directory, or one by its URL. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { dataDirectory, type Globals } from '../client/node/target.ts';
import type { Heads } from '../log/heads.ts';
import type { Log } from '../log/log.ts';
import { fail } from './failure.ts';

export interface StoreFlags extends Globals {
  readonly store?: string;
}

export interface LogPlace {
  readonly space: string | null;
  readonly url: string;
  /** The file or directory, for messages. */
  readonly path: string;
  /** The data directory. */
  readonly dir: string;
}

export const STORE_FLAG = [
  '--store <url>',
  'sqlite:///path, file:///dir or nats://HOST:PORT/PREFIX (the space in the data directory)',
] as const;

export async function openAt(place: LogPlace, readOnly: boolean): Promise<Log> {
  if (!readOnly) await requireMayWriteAt(place);
  const { openLog } = await import('../server/run/open-log.ts');
  return openLog(place.url, { readOnly });
}

/** Refused where the log is one of servers of which the data directory is none [JN9]. */
export async function requireMayWriteAt({ url, dir }: LogPlace): Promise<void> {
  const { requireMayWrite } = await import('../server/run/cluster-of.ts');
  await requireMayWrite(url, dir);
}

/** The signed heads of the log and the notes of its anchors. */
export async function headsAt(place: LogPlace): Promise<Heads> {
  const { parseStoreUrl } = await import('../server/run/store-url.ts');
  const store = parseStoreUrl(place.url);
  if (store?.kind === 'nats') {
    const { openNatsHeads } = await import('../log/nats/heads.ts');
    return openNatsHeads(store.place, place.space ?? 'default');
  }
  const { openHeadsBeside } = await import('../log/heads.ts');
  return openHeadsBeside(place.path);
}

export async function placeOf(flags: StoreFlags): Promise<LogPlace> {
  const dir = dataDirectory(flags.dir, process.env);
  if (flags.store !== undefined) return storePlace(flags.store, flags.space, dir);
  const space = flags.space ?? (process.env.SOX_NAMESPACE || 'default');
  return spacePlace(dir, space);
}

export async function placesOf(flags: StoreFlags): Promise<LogPlace[]> {
  if (flags.store !== undefined || flags.space !== undefined) return [await placeOf(flags)];
  const dir = dataDirectory(flags.dir, process.env);
  const folder = join(dir, 'spaces');
  const files = existsSync(folder)
    ? readdirSync(folder).filter((name) => name.endsWith('.sqlite'))
    : [];
  if (files.length === 0) {
    throw fail('cli.no-input', `there is no log in ${folder}`, {
      hint: 'name one with --dir or --store',
    });
  }
  return files.sort().map((name) => spacePlace(dir, basename(name, '.sqlite')));
}

function spacePlace(dir: string, space: string): LogPlace {
  if (!/^[a-z0-9_-]{1,64}$/.test(space)) {
    throw fail('cli.usage', `${space} is not the name of a space: 1 to 64 of a-z, 0-9, _ and -`);
  }
  const path = join(dir, 'spaces', `${space}.sqlite`);
  return { space, url: `sqlite://${path}`, path, dir };
}

async function storePlace(text: string, space: string | undefined, dir: string): Promise<LogPlace> {
  const { parseStoreUrl, shownStore, storeUrl } = await import('../server/run/store-url.ts');
  const store = parseStoreUrl(text);
  if (store?.kind === 'nats') {
    const named = space ?? store.space ?? 'default';
    const url = storeUrl({ ...store, space: named });
    return { space: named, url, path: shownStore(url), dir };
  }
  if (store === null || !('path' in store)) {
    throw fail(
      'cli.usage',
      `--store must be sqlite:///path or file:///dir (absolute), or nats://HOST:PORT/PREFIX; found ${text}`,
    );
  }
  return { space: null, url: storeUrl(store), path: store.path, dir };
}
