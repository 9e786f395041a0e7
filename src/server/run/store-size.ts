/** Which kind of store a space lies in, and how many bytes it takes there. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasPath, logUrlOf } from './open-log.ts';
import { parseStoreUrl } from './store-url.ts';

export interface StoreSize {
  readonly kind: string;
  /** Null where it is not told: in memory, in a package's own place, or when the disk says no. */
  readonly bytes: number | null;
}

export async function readStoreSize(
  store: string | null,
  dir: string,
  space: string,
): Promise<StoreSize> {
  const parsed = parseStoreUrl(logUrlOf(store, dir, space));
  const kind = parsed?.kind ?? 'unknown';
  if (!hasPath(parsed)) return { kind, bytes: null };
  try {
    const { path } = parsed;
    const paths =
      kind === 'file'
        ? (await readdir(path)).map((name) => join(path, name))
        : [path, `${path}-wal`];
    const sizes = await Promise.all(paths.map(sizeOf));
    return { kind, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  } catch {
    return { kind, bytes: null };
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}
