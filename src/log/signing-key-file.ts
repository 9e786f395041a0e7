/**
 * The key that signs heads, in a file of its owner's alone, outside the data directory: a copy of the
 * directory, and whoever may write it, has the log but not the key [RC2]. It is made on first use. A file
 * that others can read, or that lies in the data directory, is refused.
 */
import { linkSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { makeOwnDirectory, PRIVATE_FILE, unavailable } from './disk.ts';
import { LogError } from './log.ts';
import { makeSigningKey, readSigningKey, type SigningKey } from './signed-head.ts';

const READABLE_BY_OTHERS = 0o077;

/** Where the key lies unless somebody chose another place. */
export function usualKeyPath(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): string {
  const state = env.XDG_STATE_HOME ?? '';
  const base = isAbsolute(state) ? state : join(home, '.local', 'state');
  return join(base, 'synod', 'record.key');
}

/** The key at the path; made there when there is none. Throws LogError. */
export function ensureSigningKey(path: string, dir: string): SigningKey {
  makeOwnDirectory(dirname(path));
  requireOutside(path, dir);
  return keyOf(ensureKeyPem(path), path);
}

/** The key at the path, or null when there is none. */
export function readKeyFile(path: string): SigningKey | null {
  const pem = readKeyPem(path);
  return pem === null ? null : keyOf(pem, path);
}

function keyOf(pem: string, path: string): SigningKey {
  const key = readSigningKey(pem);
  if (key === null) {
    throw unfit(
      `${path} holds no Ed25519 private key (PEM); restore it, or move it away and the next start makes another`,
      path,
    );
  }
  return key;
}

/** The text of a key, made when there is none; a file that others can read is refused. */
export function ensureKeyPem(path: string): string {
  const known = readKeyPem(path);
  if (known !== null) return known;
  makeKeyFile(path);
  const made = readKeyPem(path);
  if (made === null) throw unfit(`${path} was made and is gone again; try once more`, path);
  return made;
}

function readKeyPem(path: string): string | null {
  try {
    const { mode } = statSync(path);
    if ((mode & READABLE_BY_OTHERS) !== 0) {
      const shown = (mode & 0o777).toString(8);
      throw unfit(
        `others may read ${path} (mode ${shown}), so what it signs proves nothing; close it with "chmod 600 ${path}", or remove it and the next start makes another`,
        path,
      );
    }
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unavailable(path, 'read', cause);
  }
}

/** Of several hubs that make it at once one is first, and the others use that one. */
function makeKeyFile(path: string): void {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, makeSigningKey(), { mode: PRIVATE_FILE, flush: true });
    linkSync(draft, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw unavailable(path, 'write', cause);
  } finally {
    rmSync(draft, { force: true });
  }
}

function requireOutside(path: string, dir: string): void {
  if (!isWithin(path, dir)) return;
  throw unfit(
    `${path} lies in the data directory ${dir}, with the log that it should prove; name another file with "record_key"`,
    path,
  );
}

/** Links are followed: a way into the directory is in it, however it is spelt. */
export function isWithin(path: string, dir: string): boolean {
  const from = relative(realOf(dir), join(realOf(dirname(path)), basename(path)));
  return from !== '..' && !from.startsWith(`..${sep}`);
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // It is not there yet; what it would lie in is.
    return dirname(path) === path ? path : join(realOf(dirname(path)), basename(path));
  }
}

function unfit(message: string, path: string): LogError {
  return new LogError('log.key', message, { path });
}
