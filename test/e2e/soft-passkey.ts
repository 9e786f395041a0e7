/** A device with a passkey, in software: signs as WebAuthn says, and can be told to get any part of it wrong. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface Wrongs {
  readonly origin?: string;
  readonly rpId?: string;
  /** Present and verified, unless said otherwise. */
  readonly flags?: number;
  readonly type?: string;
  readonly signCount?: number;
  readonly crossOrigin?: boolean;
}

export interface SoftPasskey {
  readonly id: string;
  offer(challenge: string, wrongs?: Wrongs): Record<string, string>;
  claim(challenge: string, wrongs?: Wrongs): Record<string, string>;
}

const PRESENT_AND_VERIFIED = 0x05;
const HAS_KEY = 0x40;

export function createSoftPasskey(origin: string): SoftPasskey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const raw = randomBytes(16);
  const id = raw.toString('base64url');
  let count = 0;

  function said(type: string, challenge: string, wrongs: Wrongs): Buffer {
    const { crossOrigin = false } = wrongs;
    return Buffer.from(
      JSON.stringify({
        ...{ type: wrongs.type ?? type, challenge, origin: wrongs.origin ?? origin, crossOrigin },
      }),
    );
  }

  function head(flags: number, wrongs: Wrongs): Buffer {
    const place = createHash('sha256')
      .update(wrongs.rpId ?? 'localhost')
      .digest();
    const counted = Buffer.alloc(4);
    counted.writeUInt32BE(wrongs.signCount ?? ++count);
    return Buffer.concat([place, Buffer.from([wrongs.flags ?? flags]), counted]);
  }

  return {
    id,
    offer(challenge, wrongs = {}) {
      const length = Buffer.from([0, raw.length]);
      const key = Buffer.concat([Buffer.alloc(16), length, raw, Buffer.from([0xa0])]);
      const data = Buffer.concat([head(PRESENT_AND_VERIFIED | HAS_KEY, wrongs), key]);
      return {
        ...{ challenge, passkey_id: id },
        public_key: publicKey.export({ type: 'spki', format: 'der' }).toString('base64url'),
        client_data: said('webauthn.create', challenge, wrongs).toString('base64url'),
        authenticator_data: data.toString('base64url'),
      };
    },
    claim(challenge, wrongs = {}) {
      const client = said('webauthn.get', challenge, wrongs);
      const data = head(PRESENT_AND_VERIFIED, wrongs);
      const digest = createHash('sha256').update(client).digest();
      return {
        ...{ challenge, passkey_id: id },
        client_data: client.toString('base64url'),
        authenticator_data: data.toString('base64url'),
        signature: sign('sha256', Buffer.concat([data, digest]), privateKey).toString('base64url'),
      };
    },
  };
}
