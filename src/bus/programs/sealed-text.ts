/**
 * A text that only the holder of a key can read, or have changed: AES-256-GCM, with a fresh nonce each
 * time. What was sealed for one purpose does not open for another.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isObject, textAt } from '../process/json-object.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const PURPOSE = Buffer.from('synod agent logins');

export interface Sealed {
  readonly cipher: string;
  readonly nonce: string;
  readonly tag: string;
  readonly text: string;
}

/** As text, for a keychain. */
export function createKey(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

export function isKey(text: string): boolean {
  return Buffer.from(text, 'base64url').length === KEY_BYTES;
}

export function seal(text: string, key: string): Sealed {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, Buffer.from(key, 'base64url'), nonce).setAAD(PURPOSE);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  const [tag, first, all] = [cipher.getAuthTag(), nonce, sealed].map((one) =>
    one.toString('base64url'),
  ) as [string, string, string];
  return { cipher: CIPHER, nonce: first, tag, text: all };
}

/** Null when the key is another one, or somebody changed it. */
export function unseal(sealed: unknown, key: string): string | null {
  const part = (name: keyof Sealed): Buffer => Buffer.from(textAt(sealed, name) ?? '', 'base64url');
  if (!isObject(sealed) || sealed.cipher !== CIPHER) return null;
  try {
    const decipher = createDecipheriv(CIPHER, Buffer.from(key, 'base64url'), part('nonce'), {
      authTagLength: 16,
    });
    decipher.setAAD(PURPOSE).setAuthTag(part('tag'));
    return Buffer.concat([decipher.update(part('text')), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}
