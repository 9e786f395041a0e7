/**
 * Keys that two servers share while both of them live. Each start of a server has a half of its own, which it signs with its
 * name and incarnation in answer to a challenge: so each of the two knows whose half it has, and that this one lives. What they
 * say to one another alone is then vouched for by a MAC under the key that both halves make, which costs a twentieth of
 * signing and verifying. A key goes with the incarnation, and with the key that the registry has for the server: one that
 * was taken out and came back with another has none [JN10].
 */
import {
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { createHalf, HALF_BYTES } from './keys.ts';
import type { Registry, Server } from './registry.ts';

export const MAC_BYTES = 32;
/** Before what the key is made of. */
const PURPOSE = 'synod session 1\n';

export interface Session {
  mac(digest: Uint8Array): Uint8Array;
  isMac(digest: Uint8Array, mac: Uint8Array): boolean;
}

export interface Sessions {
  /** Ours, to be signed and told. */
  readonly half: Uint8Array;
  /** What another signed in answer to a challenge of ours; one of before says nothing, and has no key. */
  learn(server: Server, incarnation: string, half: Uint8Array): void;
  /** Null where there is none. */
  with(server: Server, incarnation: string): Session | null;
}

interface Known {
  readonly incarnation: string;
  readonly publicKey: string;
  readonly session: Session;
}

export function createSessions(
  name: string,
  incarnation: string,
  registry: Pick<Registry, 'cluster'>,
): Sessions {
  const own = createHalf();
  const known = new Map<string, Known>();

  function keyWith(other: string, theirs: string, half: Uint8Array): KeyObject | null {
    const secret = own.agree(half);
    if (secret === null) return null;
    const parties = [
      `${name} ${incarnation} ${Buffer.from(own.public).toString('hex')}\n`,
      `${other} ${theirs} ${Buffer.from(half).toString('hex')}\n`,
    ].sort();
    const about = `${PURPOSE}${registry.cluster}\n${parties.join('')}`;
    const bytes = hkdfSync('sha256', secret, '', about, MAC_BYTES);
    return createSecretKey(new Uint8Array(bytes));
  }

  return {
    half: own.public,
    learn(server, theirs, half) {
      if (half.byteLength !== HALF_BYTES) return;
      const key = keyWith(server.name, theirs, half);
      if (key === null) return;
      const { publicKey } = server;
      known.set(server.name, { incarnation: theirs, publicKey, session: sessionOf(key) });
    },
    with(server, theirs) {
      const one = known.get(server.name);
      const isSame = one?.incarnation === theirs && one.publicKey === server.publicKey;
      return isSame ? one.session : null;
    },
  };
}

function sessionOf(key: KeyObject): Session {
  const mac = (digest: Uint8Array): Uint8Array => createHmac('sha256', key).update(digest).digest();
  return {
    mac,
    isMac: (digest, given) => given.byteLength === MAC_BYTES && timingSafeEqual(mac(digest), given),
  };
}
