/**
 * Who may come over TCP. A token is known by its SHA-256 alone; every known hash is compared, in
 * constant time, so that neither the time nor the answer tells which was near. What a client sends
 * before it is known is read only for its token, and only once.
 */
import { type ByteLine, messageOf } from '../process/byte-line.ts';
import { isObject, parseObject } from '../process/json-object.ts';
import { scan } from '../process/scan-message.ts';
import { loadCrypto } from '../process/secrets.ts';
import type { KnownClient } from './config.ts';
import type { Identity } from './peer.ts';

/** Shorter ones can be guessed. */
export const TOKEN_CHARS_MIN = 16;
/** What a client without an identity may send at once. */
export const AUTH_BYTES_MAX = 16_384;
export const AUTH_WAIT_MS = 5_000;

/** What the token of the environment stands for. */
const ENVIRONMENT_SUBJECT = 'bus-token';

export interface Admission {
  readonly identity: Identity;
  /** Asked again after a reload: a token that was taken away must not go on. */
  readonly tokenHash: string;
}

export interface Gate {
  /** Whether any token is known: then every client must show one. */
  readonly isGuarded: boolean;
  /** Whether it would be, were these the clients of the config. */
  wouldGuard(clients: readonly KnownClient[]): boolean;
  admit(token: string): Admission | null;
  /** Who the owner of this token is now; null when the token is not known any more. */
  identityOf(tokenHash: string): Identity | null;
}

export function hashToken(token: string): string {
  return loadCrypto().createHash('sha256').update(token, 'utf8').digest('hex');
}

/** The clients are asked for each time: a reload may change them. */
export function createGate(clients: () => readonly KnownClient[], token: string | null): Gate {
  const fixed: readonly KnownClient[] =
    token === null
      ? []
      : [{ subjectId: ENVIRONMENT_SUBJECT, role: 'client', tokenHash: hashToken(token) }];
  const known = (): readonly KnownClient[] => [...fixed, ...clients()];
  return {
    get isGuarded() {
      return known().length > 0;
    },
    wouldGuard: (next) => fixed.length + next.length > 0,
    admit(shown) {
      const tokenHash = hashToken(shown);
      const hash = Buffer.from(tokenHash, 'hex');
      let match: KnownClient | null = null;
      const { timingSafeEqual } = loadCrypto();
      for (const client of known()) {
        if (timingSafeEqual(hash, Buffer.from(client.tokenHash, 'hex'))) match = client;
      }
      return match === null ? null : { identity: identityFor(match), tokenHash };
    },
    identityOf(tokenHash) {
      const match = known().findLast((client) => client.tokenHash === tokenHash);
      return match === undefined ? null : identityFor(match);
    },
  };
}

function identityFor({ subjectId, role }: KnownClient): Identity {
  return { subjectId, role, assertedBy: 'bus' };
}

export interface Introduction {
  /** The raw JSON of the id, for the answer. */
  readonly id: string;
  readonly token: string | null;
  /** What the bus shall see of it: a hello without its token, or nothing. */
  readonly rest: ByteLine | null;
}

/** The first line of a connection: a hello with `params.token`, or `{"type":"auth","token":…}`. */
export function readIntroduction(line: ByteLine): Introduction {
  // By the law of every other line, and first: what nests too deep could not even be written again below.
  if (scan(line).kind === 'problem') return { id: 'null', token: null, rest: null };
  const message = parseObject(line) ?? {};
  const { id, method, type, params } = message;
  const isScalar = typeof id === 'string' || typeof id === 'number' || typeof id === 'boolean';
  const idText = isScalar ? messageOf(id) : 'null';
  if (type === 'auth' && method === undefined) {
    return { id: idText, token: textOrNull(message.token), rest: null };
  }
  if (method !== 'stdio_bus/hello' || !isObject(params)) {
    return { id: idText, token: null, rest: null };
  }
  const { token, ...others } = params;
  const rest = messageOf({ ...message, params: others });
  return { id: idText, token: textOrNull(token), rest };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
