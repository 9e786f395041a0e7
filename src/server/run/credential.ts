/**
 * The owner's credential: a secret in a file only its user can read. Whoever can
 * read it is that user, so on one machine nobody has to set anything up [I7].
 */
import { randomBytes } from 'node:crypto';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unavailable } from '../../log/disk.ts';

export function credentialPath(dir: string): string {
  return join(dir, 'credential');
}

/** Reads the credential, making it on first use; a file others can read is closed first. */
export async function ensureCredential(dir: string): Promise<string> {
  const path = credentialPath(dir);
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) await chmod(path, 0o600);
    const text = (await readFile(path, 'utf8')).trim();
    if (text.length >= 32) return text;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw unavailable(path, 'read', cause);
  }
  const secret = `own_${randomBytes(32).toString('base64url')}`;
  try {
    await writeFile(path, `${secret}\n`, { mode: 0o600 });
  } catch (cause) {
    throw unavailable(path, 'write', cause);
  }
  return secret;
}
