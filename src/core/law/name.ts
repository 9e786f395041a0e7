/**
 * Channel names. Three prefixes are reserved: `dm/` (two parties), `group/` (its
 * members) and `sox/` (spoken by the hub alone). No glob sees any of them [C4].
 */
import { CHANNEL_NAME_CHARS_MAX } from './limits.ts';
import { isSeen } from './text.ts';

export type ChannelKind = 'plain' | 'dm' | 'group' | 'sox';

export const PRESENCE_CHANNEL = 'sox/presence';
export const ACKS_CHANNEL = 'sox/acks';
/** What happens to claims, for whoever follows it. */
export const CLAIMS_CHANNEL = 'sox/claims';
const TO_PREFIX = 'sox/to/';

/** Where the hub tells one agent what concerns nobody else. */
export function toChannel(agent: string): string {
  return `${TO_PREFIX}${agent}`;
}

/** Whom a private channel of the hub is for, or null when it is none. */
export function addresseeOf(name: string): string | null {
  return name.startsWith(TO_PREFIX) ? name.slice(TO_PREFIX.length) : null;
}

export function channelKind(name: string): ChannelKind {
  if (name.startsWith('dm/')) return 'dm';
  if (name.startsWith('group/')) return 'group';
  if (name.startsWith('sox/')) return 'sox';
  return 'plain';
}

/** Most names, and quickly told. */
const PLAIN = /^[\x20-\x7e]+$/;

/**
 * Free text otherwise, as SOX has it: nothing in it is hidden or stands at its rim unseen, and the only
 * blank is a space [C1].
 */
export function isChannelName(name: string): boolean {
  if (name.length < 1 || name.length > CHANNEL_NAME_CHARS_MAX) return false;
  if (PLAIN.test(name)) return name.trim() === name;
  return isSeen(name) && !/^\s|\s$|[^\S ]/u.test(name);
}

/** The two names of a dm channel, or null when the name is not of that form. */
export function dmParties(name: string): readonly [string, string] | null {
  const parts = name.slice('dm/'.length).split('~');
  const [first, second] = parts;
  if (parts.length !== 2 || !first || !second) return null;
  return [first, second];
}

/** The one name two agents share: names in byte order [D1]. */
export function dmName(a: string, b: string): string {
  return compareBytes(a, b) <= 0 ? `dm/${a}~${b}` : `dm/${b}~${a}`;
}

/** Code-point order, which is UTF-8 byte order; JavaScript's `<` is not, beyond the basic plane. */
export function compareBytes(a: string, b: string): number {
  const left = [...a];
  const right = [...b];
  const shared = Math.min(left.length, right.length);
  for (let i = 0; i < shared; i++) {
    const l = left[i]?.codePointAt(0) ?? 0;
    const r = right[i]?.codePointAt(0) ?? 0;
    if (l !== r) return l - r;
  }
  return left.length - right.length;
}

/** Group verbs take the full name; a bare id is tolerated [GR2]. */
export function groupName(id: string): string {
  return id.startsWith('group/') ? id : `group/${id}`;
}
