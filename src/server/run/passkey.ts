/**
 * What a browser says of a passkey, checked as WebAuthn asks for it (level 3, §7.1 and §7.2), with nothing but
 * `node:crypto`: the browser hands over the key as SPKI, so that no CBOR is read. Whoever uses it must have
 * been verified by the device, on the hub's own page, for this one challenge [PK2].
 */
import { createHash, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import { readJson } from '../../core/law/json.ts';
import type { PasskeyCheck, PasskeyClaim, PasskeyOffer, PasskeyPlace } from '../desk/platform.ts';

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_KEY = 0x40;
/** Hash of the place, flags, count. */
const HEAD_BYTES = 37;
const AAGUID_BYTES = 16;
const RSA_BITS_MIN = 2_048;

interface Head {
  readonly flags: number;
  readonly signCount: number;
}

export const passkeyCheck: PasskeyCheck = {
  /** The count it begins with, or what is wrong. */
  offered(offer: PasskeyOffer, place: PasskeyPlace) {
    const wrong = clientProblem(offer.clientData, 'webauthn.create', place);
    if (wrong !== null) return wrong;
    const data = bytesOf(offer.authenticatorData);
    const head = readHead(data, place);
    if (typeof head === 'string') return head;
    if (
      (head.flags & HAS_KEY) === 0 ||
      !data.includes(bytesOf(offer.id), HEAD_BYTES + AAGUID_BYTES)
    ) {
      return 'the device speaks of another key';
    }
    return readKey(offer.publicKey) === null ? 'the key is of no kind that is known here' : head;
  },

  /** The count it is at, or what is wrong. */
  claimed(claim: PasskeyClaim, publicKey: string, place: PasskeyPlace) {
    const wrong = clientProblem(claim.clientData, 'webauthn.get', place);
    if (wrong !== null) return wrong;
    const data = bytesOf(claim.authenticatorData);
    const head = readHead(data, place);
    if (typeof head === 'string') return head;
    const key = readKey(publicKey);
    if (key === null) return 'the key is of no kind that is known here';
    const signed = Buffer.concat([data, sha256(bytesOf(claim.clientData))]);
    const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
    return verify(digest, signed, key, bytesOf(claim.signature)) ? head : 'the signature is wrong';
  },
};

function clientProblem(text: string, type: string, place: PasskeyPlace): string | null {
  let said: Record<string, unknown>;
  try {
    said = Object(readJson(bytesOf(text).toString('utf8')));
  } catch {
    return 'what the browser said is not JSON';
  }
  if (said.type !== type) return 'the browser was asked for something else';
  if (said.challenge !== place.challenge) return 'it answers another challenge';
  if (said.origin !== place.origin || said.crossOrigin === true)
    return 'it was made on another page';
  return null;
}

function readHead(data: Buffer, { rpId }: PasskeyPlace): Head | string {
  if (data.length < HEAD_BYTES) return 'what the device said is cut short';
  if (!timingSafeEqual(data.subarray(0, 32), sha256(Buffer.from(rpId)))) {
    return 'it was made for another place';
  }
  const flags = data.readUInt8(32);
  const wanted = USER_PRESENT | USER_VERIFIED;
  if ((flags & wanted) !== wanted) return 'the device did not verify who holds it';
  return { flags, signCount: data.readUInt32BE(33) };
}

function readKey(text: string): KeyObject | null {
  try {
    const key = createPublicKey({ key: bytesOf(text), format: 'der', type: 'spki' });
    const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
    const isKnown =
      key.asymmetricKeyType === 'ed25519' ||
      (key.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1') ||
      (key.asymmetricKeyType === 'rsa' && modulusLength >= RSA_BITS_MIN);
    return isKnown ? key : null;
  } catch {
    return null;
  }
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
