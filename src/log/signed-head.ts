/**
 * A signed head: how long the log was, its chain head there, and when, under the hub's Ed25519 key.
 * Kept where nobody who writes the log can reach it, it is an anchor: the log must still have that head
 * at that position, so neither a cut tail nor a rewritten chain gets past it [RC3]. One line of JSON;
 * what is signed is the text that `headText` gives.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

export interface Head {
  readonly space: string;
  /** The head after the first append of this log: no other log has it. */
  readonly origin: string;
  readonly position: number;
  readonly head: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}

export interface SignedHead extends Head {
  /** `ed25519:` and the public key, base64url: an id that needs no directory of keys. */
  readonly key: string;
  readonly signature: string;
}

export interface SigningKey {
  /** As a signed head names it. */
  readonly id: string;
  sign(head: Head): SignedHead;
}

const FORMAT = 1;
const HEX = /^[0-9a-f]{64}$/;
const SPACE = /^[a-z0-9_-]{1,64}$/;
const AT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const KEY_START = 'ed25519:';
const KEY = /^ed25519:[A-Za-z0-9_-]{43}$/;
const SIGNATURE = /^[A-Za-z0-9_-]{86}$/;

/** The text that is signed, as UTF-8. */
export function headText({ space, origin, position, head, at }: Head): string {
  return `synod-head ${FORMAT}\nspace ${space}\norigin ${origin}\nposition ${position}\nhead ${head}\nat ${at}\n`;
}

/** A private key as PEM (PKCS#8); null when it is no Ed25519 key. */
export function readSigningKey(pem: string): SigningKey | null {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // The caller says which file holds no key.
    return null;
  }
  if (key.asymmetricKeyType !== 'ed25519') return null;
  const id = keyIdOf(createPublicKey(key));
  return {
    id,
    sign: (head) => ({
      ...head,
      key: id,
      signature: sign(null, Buffer.from(headText(head)), key).toString('base64url'),
    }),
  };
}

export function makeSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export function hasGoodSignature({ key, signature, ...head }: SignedHead): boolean {
  const x = key.slice(KEY_START.length);
  const known = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(headText(head)), known, Buffer.from(signature, 'base64url'));
}

/** One line, without its newline. */
export function encodeSignedHead(head: SignedHead): string {
  const { space, origin, position, head: hash, at, key, signature } = head;
  const fields = { space, origin, position, head: hash, at, key, signature };
  return JSON.stringify({ synod_head: FORMAT, ...fields });
}

/** Null when the text is no signed head of this format; its signature is not looked at. */
export function parseSignedHead(text: string): SignedHead | null {
  let value: Partial<SignedHead> & { synod_head?: unknown };
  try {
    value = JSON.parse(text);
  } catch {
    // The last line of a file may be cut short; the caller knows what that means.
    return null;
  }
  const { space, origin, position, head, at, key, signature } = value ?? {};
  const isWhole =
    value?.synod_head === FORMAT &&
    isText(space, SPACE) &&
    isText(origin, HEX) &&
    Number.isSafeInteger(position) &&
    (position as number) > 0 &&
    isText(head, HEX) &&
    isText(at, AT) &&
    isText(key, KEY) &&
    isText(signature, SIGNATURE);
  if (!isWhole) return null;
  return { space, origin, position, head, at, key, signature } as SignedHead;
}

function isText(value: unknown, shape: RegExp): boolean {
  return typeof value === 'string' && shape.test(value);
}

export function keyIdOf(key: KeyObject): string {
  return `${KEY_START}${key.export({ format: 'jwk' }).x}`;
}
