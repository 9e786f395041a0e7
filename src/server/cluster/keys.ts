/**
 * Ed25519 keys of servers and of join tokens: a public key is a word (`ed25519:` and 32 bytes), a private one lies in a
 * file of its owner's alone, or in a token. Nothing here is secret but what `KeyPair` holds.
 */
import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

export interface KeyPair {
  /** The public half, as records name it. */
  readonly id: string;
  sign(bytes: Uint8Array): Uint8Array;
}

export const SIGNATURE_BYTES = 64;
export const SEED_BYTES = 32;
const KEY_START = 'ed25519:';
const KEY = /^ed25519:[A-Za-z0-9_-]{43}$/;
/** What stands before the 32 bytes of a private key in PKCS#8. */
const PKCS8_START = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Null when the PEM holds no such key. */
export function readKeyPair(pem: string): KeyPair | null {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? pairOf(key) : null;
  } catch {
    // The caller says which file holds no key.
    return null;
  }
}

export function keyPairOfSeed(seed: Uint8Array): KeyPair {
  const der = Buffer.concat([PKCS8_START, seed]);
  return pairOf(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
}

export function createSeed(): Uint8Array {
  const { privateKey } = generateKeyPairSync('ed25519');
  const der = privateKey.export({ type: 'pkcs8', format: 'der' });
  return new Uint8Array(der.subarray(PKCS8_START.byteLength));
}

/** Null when the word is no key. */
export function readPublicKey(id: string): KeyObject | null {
  if (!KEY.test(id)) return null;
  try {
    const x = id.slice(KEY_START.length);
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  } catch {
    // Not a point of the curve.
    return null;
  }
}

export function isSignedBy(key: KeyObject, bytes: Uint8Array, signature: Uint8Array): boolean {
  return signature.byteLength === SIGNATURE_BYTES && verify(null, bytes, key, signature);
}

function pairOf(key: KeyObject): KeyPair {
  const { x } = createPublicKey(key).export({ format: 'jwk' });
  return { id: `${KEY_START}${x}`, sign: (bytes) => new Uint8Array(sign(null, bytes, key)) };
}

export const HALF_BYTES = 32;

/** One side of an agreement: a secret that two have when each knows the other's public half (X25519). */
export interface Half {
  readonly public: Uint8Array;
  /** Null when what is given is no half: with some points everybody would have the same secret. */
  agree(other: Uint8Array): Uint8Array | null;
}

export function createHalf(): Half {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const { x } = publicKey.export({ format: 'jwk' });
  return {
    public: new Uint8Array(Buffer.from(x as string, 'base64url')),
    agree(other) {
      try {
        const jwk = { kty: 'OKP', crv: 'X25519', x: Buffer.from(other).toString('base64url') };
        const theirs = createPublicKey({ key: jwk, format: 'jwk' });
        return diffieHellman({ privateKey, publicKey: theirs });
      } catch {
        return null;
      }
    },
  };
}

/** The 32 bytes of a public key. */
export function publicBytes(id: string): Uint8Array {
  return new Uint8Array(Buffer.from(id.slice(KEY_START.length), 'base64url'));
}
