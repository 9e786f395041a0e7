/**
 * Passphrases by scrypt: what is kept takes a tenth of a second and 64 MB to try once, off the event
 * loop. The costs stand in the line, so that they can be raised without making people unknown.
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

const COST = { N: 2 ** 16, r: 8, p: 1 } as const;
const KEY_BYTES = 32;
const MEMORY_BYTES_MAX = 256 * 1024 * 1024;
/** `scrypt$N$r$p$salt$key`, both in base64url. */
const SEAL = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]+)\$([\w-]+)$/;

export async function sealPassphrase(passphrase: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(passphrase, salt, COST);
  const { N, r, p } = COST;
  return `scrypt$${N}$${r}$${p}$${salt.toString('base64url')}$${key.toString('base64url')}`;
}

export async function checkPassphrase(passphrase: string, seal: string | null): Promise<boolean> {
  const [, N, r, p, salt, key] = SEAL.exec(seal ?? '') ?? [];
  if (salt === undefined || key === undefined) {
    await derive(passphrase, randomBytes(16), COST);
    return false;
  }
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const found = await derive(passphrase, Buffer.from(salt, 'base64url'), cost);
  const kept = Buffer.from(key, 'base64url');
  return kept.length === found.length && timingSafeEqual(kept, found);
}

/** The same words typed on two keyboards are the same bytes: NFKC. */
function derive(
  passphrase: string,
  salt: Buffer,
  cost: { readonly N: number; readonly r: number; readonly p: number },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { ...cost, maxmem: MEMORY_BYTES_MAX };
    scrypt(passphrase.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
