/**
 * The registry of servers: what became of a cluster since it was founded, told from signed records in the order of the
 * stream that keeps them. The first record names the founder; every other counts when a server that was in the
 * registry by then has signed it. Whoever may write to the stream and has no key changes nothing [JN1]. What has
 * expired is told by the stream's own times, so every server tells the same and no two clocks are compared.
 */
import { createHash, type KeyObject } from 'node:crypto';
import { readJson } from '../../core/law/json.ts';
import { isSignedBy, type KeyPair, readPublicKey } from './keys.ts';

export interface Server {
  readonly name: string;
  readonly publicKey: string;
  readonly key: KeyObject;
  /** Null: all. */
  readonly spaces: readonly string[] | null;
  /** Of the token it joined with, by which NATS knows it; null for the founder. */
  readonly tokenKey: string | null;
  /** Who invited it; null for the founder. */
  readonly joinedBy: string | null;
  /** Milliseconds since the epoch, by NATS. */
  readonly joinedAt: number;
  readonly revoked: Revoked | null;
}

export interface Revoked {
  readonly by: string;
  readonly at: number;
}

export interface Invitation {
  readonly id: string;
  readonly publicKey: string;
  /** Null: any that is free. */
  readonly name: string | null;
  readonly spaces: readonly string[] | null;
  readonly by: string;
  readonly at: number;
  readonly expiresAt: number;
  readonly usedBy: string | null;
  readonly revoked: Revoked | null;
}

export type Entry =
  | { readonly kind: 'founded'; prefix: string; name: string; key: string; nonce: string }
  | {
      readonly kind: 'invited';
      readonly cluster: string;
      readonly id: string;
      readonly key: string;
      readonly name: string | null;
      readonly spaces: readonly string[] | null;
      readonly ttlMs: number;
      readonly by: string;
    }
  | { readonly kind: 'joined'; cluster: string; invitation: string; name: string; key: string }
  | {
      readonly kind: 'revoked';
      readonly cluster: string;
      readonly subject: Subject;
      readonly by: string;
      /** One that is shown again is told from one that is meant again. Older servers wrote none: theirs all count. */
      readonly nonce?: string;
    };

export type Subject = { readonly server: string } | { readonly invitation: string };

/** One message of the stream. */
export interface Stored {
  readonly subject: string;
  readonly text: string;
  readonly at: number;
}

export interface Registry {
  /** Null: nobody has founded it. */
  readonly cluster: string | null;
  readonly servers: ReadonlyMap<string, Server>;
  readonly invitations: ReadonlyMap<string, Invitation>;
  /** Takes in the next message; false when it counts for nothing. */
  take(stored: Stored): boolean;
}

export const SERVER_NAME: RegExp = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const SPACE = /^[a-z0-9_-]{1,64}$/;
const ID = /^[0-9a-f]{12}$/;
const CLUSTER_CHARS = 32;
export const TTL_MS_MAX: number = 30 * 24 * 60 * 60 * 1_000;
export const SPACES_OF_ONE_MAX = 64;
/** Before what is signed, so that a signature for one purpose is none for another. */
const PURPOSE = 'synod registry 1\n';

interface Envelope {
  readonly record: string;
  readonly signature: string;
  /** Of a `joined`: by the key of the token. */
  readonly token?: string;
}

/** The text of a message: a record with its signatures over exactly these characters. */
export function writeRecord(entry: Entry, key: KeyPair, token?: KeyPair): string {
  const record = JSON.stringify(entry);
  const signed = (pair: KeyPair): string =>
    Buffer.from(pair.sign(signedBytes(record))).toString('base64url');
  const envelope: Envelope = {
    record,
    signature: signed(key),
    ...(token !== undefined && { token: signed(token) }),
  };
  return JSON.stringify(envelope);
}

function signedBytes(record: string): Uint8Array {
  return Buffer.from(PURPOSE + record);
}

export function createRegistry(prefix: string): Registry {
  let cluster: string | null = null;
  const servers = new Map<string, Server>();
  const invitations = new Map<string, Invitation>();
  /** Records that have taken a server out: it may have been invited again since. */
  const spent = new Set<string>();

  /** Who may speak for the cluster: there, not revoked, and for all spaces. */
  function officer(name: string): Server | null {
    const server = servers.get(name);
    return server !== undefined && server.revoked === null && server.spaces === null
      ? server
      : null;
  }

  function takeFounded(entry: Kind<'founded'>, record: string, by: Check, at: number): boolean {
    const key = readPublicKey(entry.key);
    if (cluster !== null || key === null || entry.prefix !== prefix) return false;
    if (!isName(entry.name) || !by(key)) return false;
    cluster = clusterIdOf(record);
    servers.set(entry.name, {
      ...{ name: entry.name, publicKey: entry.key, key, spaces: null },
      ...{ tokenKey: null, joinedBy: null, joinedAt: at, revoked: null },
    });
    return true;
  }

  function takeInvited(entry: Kind<'invited'>, by: Check, at: number): boolean {
    const { id, name, spaces, ttlMs } = entry;
    const inviter = officer(entry.by);
    if (inviter === null || !by(inviter.key) || !ID.test(id) || invitations.has(id)) return false;
    if ((name !== null && !isName(name)) || !isScope(spaces) || !isTtl(ttlMs)) return false;
    if (readPublicKey(entry.key) === null) return false;
    invitations.set(id, {
      ...{ id, publicKey: entry.key, name, spaces, by: entry.by, at },
      ...{ expiresAt: at + ttlMs, usedBy: null, revoked: null },
    });
    return true;
  }

  function takeJoined(entry: Kind<'joined'>, by: Check, byToken: Check, at: number): boolean {
    const { name } = entry;
    const key = readPublicKey(entry.key);
    const invitation = invitations.get(entry.invitation);
    if (key === null || invitation === undefined || !isName(name)) return false;
    if (whyNotJoin(invitation, name, at) !== null) return false;
    const known = servers.get(name);
    if (known !== undefined && known.revoked === null) return false;
    const tokenKey = readPublicKey(invitation.publicKey);
    if (tokenKey === null || !byToken(tokenKey) || !by(key)) return false;
    invitations.set(invitation.id, { ...invitation, usedBy: name });
    servers.set(name, {
      ...{ name, publicKey: entry.key, key, spaces: invitation.spaces },
      ...{ tokenKey: invitation.publicKey, joinedBy: invitation.by, joinedAt: at, revoked: null },
    });
    return true;
  }

  function takeRevoked(entry: Kind<'revoked'>, record: string, by: Check, at: number): boolean {
    const revoker = officer(entry.by);
    // Nobody takes itself out: one that may invite is always left.
    if (revoker === null || !by(revoker.key)) return false;
    const revoked: Revoked = { by: entry.by, at };
    if ('server' in entry.subject) {
      const server = servers.get(entry.subject.server);
      if (server === undefined || server.revoked !== null || server.name === entry.by) return false;
      if (entry.nonce !== undefined && spent.has(record)) return false;
      spent.add(record);
      servers.set(server.name, { ...server, revoked });
      return true;
    }
    const invitation = invitations.get(entry.subject.invitation);
    if (invitation === undefined || invitation.revoked !== null || invitation.usedBy !== null)
      return false;
    invitations.set(invitation.id, { ...invitation, revoked });
    return true;
  }

  return {
    get cluster() {
      return cluster;
    },
    servers,
    invitations,
    take({ subject, text, at }) {
      const read = readEnvelope(text);
      if (read === null || subject !== subjectOf(prefix, read.entry)) return false;
      const { entry, record, bytes } = read;
      const by: Check = (key) => isSignedBy(key, bytes, read.signature);
      if (entry.kind === 'founded') return takeFounded(entry, record, by, at);
      if (entry.cluster !== cluster) return false;
      if (entry.kind === 'invited') return takeInvited(entry, by, at);
      if (entry.kind === 'revoked') return takeRevoked(entry, record, by, at);
      return takeJoined(entry, by, (key) => isSignedBy(key, bytes, read.token), at);
    },
  };
}

type Kind<Name extends Entry['kind']> = Extract<Entry, { readonly kind: Name }>;
type Check = (key: KeyObject) => boolean;

export type WhyNot = 'used' | 'expired' | 'revoked' | 'name';

/** Null: it lets a server of that name in. */
export function whyNotJoin(invitation: Invitation, name: string, at: number): WhyNot | null {
  if (invitation.revoked !== null) return 'revoked';
  if (invitation.usedBy !== null) return 'used';
  if (at >= invitation.expiresAt) return 'expired';
  return invitation.name === null || invitation.name === name ? null : 'name';
}

/** Where a record is published; each kind has subjects of its own, so that permissions can tell them apart. */
export function subjectOf(prefix: string, entry: Entry): string {
  switch (entry.kind) {
    case 'founded':
    case 'joined':
      return `${prefix}.servers.${nameWord(entry.name)}`;
    case 'invited':
      return `${prefix}.joins.${entry.id}`;
    case 'revoked':
      return `${prefix}.revoked.${'server' in entry.subject ? nameWord(entry.subject.server) : entry.subject.invitation}`;
  }
}

/** A name of a server as one word of a subject. */
export function nameWord(name: string): string {
  return name.replaceAll('.', '=');
}

export function clusterIdOf(record: string): string {
  return createHash('sha256').update(PURPOSE).update(record).digest('hex').slice(0, CLUSTER_CHARS);
}

interface Read {
  readonly entry: Entry;
  readonly record: string;
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
  readonly token: Uint8Array;
}

/** Null when the text is not of the shape of a record; anybody may have written it. */
function readEnvelope(text: string): Read | null {
  try {
    const { record, signature, token = '' } = readJson(text) as Partial<Envelope>;
    if (typeof record !== 'string' || typeof signature !== 'string' || typeof token !== 'string')
      return null;
    const entry = readJson(record) as Entry;
    if (!isEntry(entry)) return null;
    return {
      ...{ entry, record, bytes: signedBytes(record) },
      signature: Buffer.from(signature, 'base64url'),
      token: Buffer.from(token, 'base64url'),
    };
  } catch {
    return null;
  }
}

const TEXTS: Readonly<Record<Entry['kind'], readonly string[]>> = {
  founded: ['prefix', 'name', 'key', 'nonce'],
  invited: ['cluster', 'id', 'key', 'by'],
  joined: ['cluster', 'invitation', 'name', 'key'],
  revoked: ['cluster', 'by'],
};

function isEntry(value: unknown): value is Entry {
  const entry = value as Record<string, unknown> | null;
  if (typeof entry !== 'object' || entry === null) return false;
  const texts = Object.hasOwn(TEXTS, String(entry.kind))
    ? TEXTS[entry.kind as Entry['kind']]
    : null;
  if (!texts?.every((name) => typeof entry[name] === 'string')) return false;
  if (entry.kind === 'invited') return entry.name === null || typeof entry.name === 'string';
  return entry.kind !== 'revoked' || isSubject(entry.subject);
}

function isSubject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { server, invitation } = value as Record<string, unknown>;
  return typeof server === 'string' ? isName(server) : typeof invitation === 'string';
}

function isName(name: string): boolean {
  return SERVER_NAME.test(name);
}

function isScope(spaces: unknown): boolean {
  if (spaces === null) return true;
  if (!Array.isArray(spaces) || spaces.length === 0 || spaces.length > SPACES_OF_ONE_MAX)
    return false;
  return spaces.every((space) => typeof space === 'string' && SPACE.test(space));
}

function isTtl(ttlMs: unknown): boolean {
  return Number.isSafeInteger(ttlMs) && (ttlMs as number) > 0 && (ttlMs as number) <= TTL_MS_MAX;
}
