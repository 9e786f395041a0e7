/**
 * A log by URL: `memory:`, `file:///dir`, `sqlite:///path`. The only place that
 * knows the adapters by name, and the only dynamic imports of them.
 */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Log, LogError } from '../log/log.ts';

/** Where the log of a space lies, given the configured store. */
export function logUrlOf(store: string | null, dir: string, space: string): string {
  if (store === null) return `sqlite://${join(dir, 'spaces', `${space}.sqlite`)}`;
  if (store === 'memory:') return store;
  // One store URL names the default space; others lie beside it.
  if (space === 'default') return store;
  return store.startsWith('file:')
    ? `${store}.${space}`
    : store.replace(/(\.[^./]+)?$/, `.${space}$1`);
}

export async function openLog(url: string, options: { readOnly?: boolean } = {}): Promise<Log> {
  if (url === 'memory:') {
    const { openMemoryLog } = await import('../log/memory.ts');
    return openMemoryLog();
  }
  if (url.startsWith('sqlite:')) {
    const path = pathOf(url);
    if (!options.readOnly) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const { openSqliteLog } = await import('../log/sqlite.ts');
    return openSqliteLog(path, options);
  }
  if (url.startsWith('file:')) {
    const { openFileLog } = await import('../log/file.ts');
    return openFileLog(fileURLToPath(url), options);
  }
  throw new LogError(
    'log.unavailable',
    `no store is known for ${url}; use memory:, file:///dir or sqlite:///path`,
  );
}

/** `sqlite:///path` and `sqlite:////path` both name /path. */
export function pathOf(url: string): string {
  return url.replace(/^sqlite:\/\//, '').replace(/^\/\/+/, '/');
}
