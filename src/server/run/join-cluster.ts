/**
 * A data directory becomes a server of a cluster, before any hub runs in it: the token is redeemed, and what
 * `synod serve` needs is put into the configuration of the directory.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '../../core/law/json.ts';
import { replaceFile } from '../../log/disk.ts';
import { lockDirectory } from '../../log/lock.ts';
import type { Joined } from '../cluster/redeem.ts';

export interface JoinWish {
  readonly token: string;
  /** Absolute. */
  readonly dir: string;
  readonly name: string | null;
  readonly store: string | null;
  readonly ca: string | null;
}

/** Read by every start in this directory that names no other file. */
export function directoryConfigPath(dir: string): string {
  return join(dir, 'config.json');
}

export async function joinCluster(wish: JoinWish): Promise<Joined & { readonly config: string }> {
  const lock = lockDirectory(wish.dir);
  try {
    const path = directoryConfigPath(wish.dir);
    const before = readSettings(path);
    const { redeem } = await import('../cluster/redeem.ts');
    const joined = await redeem(wish);
    const settings = { ...before, store: joined.store, server_name: joined.name };
    replaceFile(path, `${JSON.stringify(settings, null, 2)}\n`);
    return { ...joined, config: path };
  } finally {
    lock.release();
  }
}

function readSettings(path: string): Record<string, unknown> {
  try {
    return readJson(readFileSync(path, 'utf8')) as Record<string, unknown>;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw cause;
  }
}
