/**
 * What goes from server to server is signed: for one purpose, one space and one cluster, with the sender's name, its
 * incarnation and a number that it uses once. It is opened when the signature holds and the sender is known, was not
 * taken out, and serves that space; nothing else is looked at, let alone deserialised [JN3].
 */
import { createHash, randomBytes } from 'node:crypto';
import { isSignedBy, type KeyPair, SIGNATURE_BYTES } from './keys.ts';
import type { Registry, Server } from './registry.ts';
import { createReplays, type Heard, type Replays } from './replays.ts';

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
  seal(sealed: Sealed, bytes: Uint8Array): Uint8Array;
  /** Null when it is dropped. What may come but once is shown to `hear` then. */
  open(sealed: Sealed, bytes: Uint8Array): Opened | null;
  /** Whether it is heard for the first time; what is not has been counted as dropped. */
  hear(opened: Opened): Heard;
  /** Sent by this server, since it started. */
  isOwn(bytes: Uint8Array): boolean;
  readonly replays: Replays;
}

export interface SealsOptions {
  readonly name: string;
  readonly key: KeyPair;
  readonly registry: Registry;
  onDropped(why: Dropped, from: string | null): void;
}

const VERSION = 1;
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
  let count = 0;

  function whoMay(server: Server | undefined, space: string | null): Server | Dropped {
    if (server === undefined) return 'unknown server';
    if (server.revoked !== null) return 'revoked server';
    if (space !== null && !serves(server, space)) return 'server of other spaces';
    return server;
  }

  function open(sealed: Sealed, bytes: Uint8Array): Opened | null {
    const parts = split(bytes);
    if (parts === null) return drop('unsigned', null);
    const { from, head, signature, payload } = parts;
    const server = whoMay(registry.servers.get(from), sealed.space);
    if (typeof server === 'string') return drop(server, from);
    const digest = digestOf(registry.cluster, sealed, head, payload);
    if (!isSignedBy(server.key, digest, signature)) return drop('wrong signature', from);
    return {
      ...{ from, bytes: payload, mark: signature },
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
    seal(sealed, bytes) {
      const head = headOf(name, incarnation, ++count);
      const signature = key.sign(digestOf(registry.cluster, sealed, head, bytes));
      return Buffer.concat([head, signature, bytes]);
    },
    open,
    hear(opened) {
      const heard = replays.hear(opened.from, opened.incarnation, opened.count);
      if (heard !== 'fresh') onDropped(heard, opened.from);
      return heard;
    },
    isOwn(bytes) {
      const parts = split(bytes);
      return parts?.from === name && parts.incarnation === own;
    },
  };
}

/** What an answer to a sealed message names. */
export function markOf(sealed: Uint8Array): Uint8Array {
  return split(sealed)?.signature ?? new Uint8Array();
}

export function serves({ spaces }: Server, space: string): boolean {
  return spaces === null || spaces.includes(space);
}

function headOf(name: string, incarnation: Uint8Array, count: number): Buffer {
  const word = Buffer.from(name);
  const head = Buffer.alloc(2 + word.byteLength + INCARNATION_BYTES + COUNT_BYTES);
  head[0] = VERSION;
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
  readonly signature: Uint8Array;
  readonly payload: Uint8Array;
}

function split(bytes: Uint8Array): Parts | null {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const nameEnd = 2 + (all[1] ?? 0);
  const headEnd = nameEnd + INCARNATION_BYTES + COUNT_BYTES;
  if (all[0] !== VERSION || all.byteLength < headEnd + SIGNATURE_BYTES) return null;
  const count = Number(all.readBigUInt64BE(nameEnd + INCARNATION_BYTES));
  if (!Number.isSafeInteger(count)) return null;
  return {
    ...{ from: all.toString('utf8', 2, nameEnd), count },
    incarnation: all.toString('hex', nameEnd, nameEnd + INCARNATION_BYTES),
    head: all.subarray(0, headEnd),
    signature: all.subarray(headEnd, headEnd + SIGNATURE_BYTES),
    payload: all.subarray(headEnd + SIGNATURE_BYTES),
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
