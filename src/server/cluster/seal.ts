/**
 * What goes from server to server is signed: for one purpose, one space and one cluster, with the sender's name, its
 * incarnation and a number that it uses once. It is opened when the signature holds and the sender is known, was not
 * taken out, and serves that space; nothing else is looked at, let alone deserialised [JN3]. Between two that have met, what
 * is for one of them alone has a MAC in place of the signature [JN10].
 */
import { createHash, randomBytes } from 'node:crypto';
import { isSignedBy, type KeyPair, SIGNATURE_BYTES } from './keys.ts';
import type { Registry, Server } from './registry.ts';
import { createReplays, type Heard, type Replays } from './replays.ts';
import { createSessions, MAC_BYTES, type Session } from './sessions.ts';

/** What it is for: a signature for one is none for another. */
export type Purpose =
  | 'ask'
  | 'answer'
  | 'part'
  | 'whisper'
  | 'lease'
  | 'news'
  | 'hello'
  | 'summons';

export interface Sealed {
  readonly purpose: Purpose;
  /** Null: of no space. */
  readonly space: string | null;
  /** What it answers, or whom it is for. */
  readonly to?: Uint8Array | string;
}

export interface Opened {
  readonly from: string;
  readonly bytes: Uint8Array;
  /** No two messages have the same: an answer names it. */
  readonly mark: Uint8Array;
  readonly incarnation: string;
  readonly count: number;
  /** By which it was vouched for; null when it was signed. */
  readonly session: Session | null;
}

export type Dropped =
  /** Not of this shape, or of another version. */
  | 'unsigned'
  | 'unknown server'
  | 'revoked server'
  | 'server of other spaces'
  | 'wrong signature'
  | 'repeated'
  | 'unconfirmed';

export interface Seals {
  readonly name: string;
  readonly incarnation: string;
  readonly count: number;
  /** With a session for the other side of it alone. */
  seal(sealed: Sealed, bytes: Uint8Array, session?: Session | null): Uint8Array;
  /** Null when it is dropped. What may come but once is shown to `hear` then. */
  open(sealed: Sealed, bytes: Uint8Array): Opened | null;
  /** Whether it is heard for the first time; what is not has been counted as dropped. */
  hear(opened: Opened): Heard;
  /**
   * Of what was dropped: by whom it says to be, where that one may speak here and has used a key. It may be the key that
   * it shared with the start of this server before.
   */
  keyedBy(
    bytes: Uint8Array,
    space: string,
  ): { readonly from: string; readonly mark: Uint8Array } | null;
  /** Sent by this server, since it started. */
  isOwn(bytes: Uint8Array): boolean;
  readonly replays: Replays;
  /** Our half of every session, for who asks which incarnation of us lives. */
  readonly half: Uint8Array;
  /** What one answered to a challenge: that it lives, and its half. */
  meet(answer: Opened): void;
  /** With who sent it; null where there is none, or it is not in the registry any more. */
  sessionWith(opened: Pick<Opened, 'from' | 'incarnation'>): Session | null;
}

export interface SealsOptions {
  readonly name: string;
  readonly key: KeyPair;
  readonly registry: Registry;
  onDropped(why: Dropped, from: string | null): void;
}

/** Signed, or with a MAC; between them is what stands before a part of an answer. */
const [SIGNED, KEYED] = [1, 3];
/** Of those which one server says to one other. */
const KEYED_PURPOSES: ReadonlySet<Purpose> = new Set<Purpose>(['ask', 'answer', 'part']);
/** Words of leases lie in the store and are read twice a second: that many are verified once each. */
const SIGNED_MAX = 1_024;
const INCARNATION_BYTES = 8;
const COUNT_BYTES = 8;
/** Before what is signed. */
const PURPOSE = 'synod seal 1\n';
/** Of a message, beside what it carries: a name of 64 characters at most. */
export const SEAL_BYTES_MAX: number = 2 + 64 + INCARNATION_BYTES + COUNT_BYTES + SIGNATURE_BYTES;

export function createSeals(options: SealsOptions): Seals {
  const { name, key, registry, onDropped } = options;
  const incarnation = randomBytes(INCARNATION_BYTES);
  const own = incarnation.toString('hex');
  const replays = createReplays();
  const sessions = createSessions(name, own, registry);
  let count = 0;
  /** Of what is read again and again, those that were found to be signed; the newest of them. */
  const signed = new Set<string>();

  function isSigned(
    { key: by, publicKey }: Server,
    isKept: boolean,
    digest: Uint8Array,
    proof: Uint8Array,
  ): boolean {
    if (!isKept) return isSignedBy(by, digest, proof);
    const mark = `${publicKey} ${Buffer.concat([digest, proof]).toString('latin1')}`;
    if (signed.has(mark)) return true;
    if (!isSignedBy(by, digest, proof)) return false;
    signed.add(mark);
    const [oldest] = signed.size > SIGNED_MAX ? signed : [];
    if (oldest !== undefined) signed.delete(oldest);
    return true;
  }

  function whoMay(server: Server | undefined, space: string | null): Server | Dropped {
    if (server === undefined) return 'unknown server';
    if (server.revoked !== null) return 'revoked server';
    if (space !== null && !serves(server, space)) return 'server of other spaces';
    return server;
  }

  function open(sealed: Sealed, bytes: Uint8Array): Opened | null {
    const parts = split(bytes);
    if (parts === null) return drop('unsigned', null);
    const { from, head, proof, payload } = parts;
    const server = whoMay(registry.servers.get(from), sealed.space);
    if (typeof server === 'string') return drop(server, from);
    if (parts.isKeyed && !KEYED_PURPOSES.has(sealed.purpose)) return drop('unsigned', from);
    const session = parts.isKeyed ? sessions.with(server, parts.incarnation) : null;
    if (parts.isKeyed && session === null) return drop('unconfirmed', from);
    const digest = digestOf(registry.cluster, sealed, head, payload);
    const isVouched =
      session?.isMac(digest, proof) ?? isSigned(server, sealed.purpose === 'lease', digest, proof);
    if (!isVouched) return drop('wrong signature', from);
    return {
      ...{ from, bytes: payload, mark: proof, session },
      ...{ incarnation: parts.incarnation, count: parts.count },
    };
  }

  function drop(why: Dropped, from: string | null): null {
    onDropped(why, from);
    return null;
  }

  return {
    name,
    incarnation: own,
    get count() {
      return count;
    },
    replays,
    half: sessions.half,
    meet(answer) {
      replays.confirm(answer.from, answer.incarnation, answer.count);
      const server = registry.servers.get(answer.from);
      if (server !== undefined) sessions.learn(server, answer.incarnation, answer.bytes);
    },
    sessionWith({ from, incarnation: theirs }) {
      const server = registry.servers.get(from);
      return server === undefined || server.revoked !== null ? null : sessions.with(server, theirs);
    },
    seal(sealed, bytes, session = null) {
      const head = headOf(session === null ? SIGNED : KEYED, name, incarnation, ++count);
      const digest = digestOf(registry.cluster, sealed, head, bytes);
      const proof = session === null ? key.sign(digest) : session.mac(digest);
      return Buffer.concat([head, proof, bytes]);
    },
    open,
    hear(opened) {
      const heard = replays.hear(opened.from, opened.incarnation, opened.count);
      if (heard !== 'fresh') onDropped(heard, opened.from);
      return heard;
    },
    keyedBy(bytes, space) {
      const parts = split(bytes);
      if (!parts?.isKeyed) return null;
      const isHeard = typeof whoMay(registry.servers.get(parts.from), space) !== 'string';
      return isHeard ? { from: parts.from, mark: parts.proof } : null;
    },
    isOwn(bytes) {
      const parts = split(bytes);
      return parts?.from === name && parts.incarnation === own;
    },
  };
}

/** What an answer to a sealed message names. */
export function markOf(sealed: Uint8Array): Uint8Array {
  return split(sealed)?.proof ?? new Uint8Array();
}

export function serves({ spaces }: Server, space: string): boolean {
  return spaces === null || spaces.includes(space);
}

function headOf(version: number, name: string, incarnation: Uint8Array, count: number): Buffer {
  const word = Buffer.from(name);
  const head = Buffer.alloc(2 + word.byteLength + INCARNATION_BYTES + COUNT_BYTES);
  head[0] = version;
  head[1] = word.byteLength;
  head.set(word, 2);
  head.set(incarnation, 2 + word.byteLength);
  head.writeBigUInt64BE(BigInt(count), 2 + word.byteLength + INCARNATION_BYTES);
  return head;
}

interface Parts {
  readonly from: string;
  readonly incarnation: string;
  readonly count: number;
  readonly head: Uint8Array;
  readonly isKeyed: boolean;
  /** The signature, or the MAC. */
  readonly proof: Uint8Array;
  readonly payload: Uint8Array;
}

function split(bytes: Uint8Array): Parts | null {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const nameEnd = 2 + (all[1] ?? 0);
  const headEnd = nameEnd + INCARNATION_BYTES + COUNT_BYTES;
  const isKeyed = all[0] === KEYED;
  const proofEnd = headEnd + (isKeyed ? MAC_BYTES : SIGNATURE_BYTES);
  if ((all[0] !== SIGNED && !isKeyed) || all.byteLength < proofEnd) return null;
  const count = Number(all.readBigUInt64BE(nameEnd + INCARNATION_BYTES));
  if (!Number.isSafeInteger(count)) return null;
  return {
    ...{ from: all.toString('utf8', 2, nameEnd), count, isKeyed },
    incarnation: all.toString('hex', nameEnd, nameEnd + INCARNATION_BYTES),
    head: all.subarray(0, headEnd),
    proof: all.subarray(headEnd, proofEnd),
    payload: all.subarray(proofEnd),
  };
}

/** Everything that a message is about: none of its parts can be put under another. */
function digestOf(
  cluster: string | null,
  { purpose, space, to = '' }: Sealed,
  head: Uint8Array,
  payload: Uint8Array,
): Uint8Array {
  const bound = Buffer.from(to);
  const about = `${PURPOSE}${purpose}\n${cluster}\n${space ?? ''}\n${bound.byteLength}\n`;
  return createHash('sha256').update(about).update(bound).update(head).update(payload).digest();
}
