/**
 * Secrets in files that only their user can read. Whoever can read the owner's credential is that
 * user, so on one machine nobody has to set anything up [I7]; the tokens of doors that ask for one
 * lie beside it.
 */
import { randomBytes } from 'node:crypto';
import { chmod, link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeOwnDirectory, PRIVATE_FILE, unavailable } from '../../log/disk.ts';

/** Each with the file it lies in and how it begins. */
const SECRETS = {
  owner: ['credential', 'own_'],
  bus: ['bus-token', 'bus_'],
  synapse: ['synapse-token', 'syp_'],
} as const;

const SECRET_CHARS_MIN = 32;

export type SecretName = keyof typeof SECRETS;

export function secretPath(dir: string, name: SecretName): string {
  return join(dir, SECRETS[name][0]);
}

/** Reads the secret, making it on first use; a file others can read is closed first. */
export async function ensureSecret(dir: string, name: SecretName): Promise<string> {
  makeOwnDirectory(dir);
  const path = secretPath(dir, name);
  const known = await readSecret(path);
  if (known !== null && known.length >= SECRET_CHARS_MIN) return known;
  const secret = `${SECRETS[name][1]}${randomBytes(32).toString('base64url')}`;
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, `${secret}\n`, { mode: PRIVATE_FILE });
    // Of several that make it at once one is first, and the others use that one.
    if (known === null) await link(draft, path);
    else await rename(draft, path);
    return secret;
  } catch (cause) {
    const isLate = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    const first = isLate ? await readSecret(path) : null;
    if (first === null) throw unavailable(path, 'write', cause);
    return first;
  } finally {
    await rm(draft, { force: true });
  }
}

async function readSecret(path: string): Promise<string | null> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) await chmod(path, PRIVATE_FILE);
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unavailable(path, 'read', cause);
  }
}
