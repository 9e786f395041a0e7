/**
 * Where a log is kept, as a URL: `memory:`, `file:///dir`, `sqlite:///path`, `nats://host:port/prefix`, or
 * `npm:PACKAGE?options` for a package that keeps it elsewhere.
 *
 * The path is taken as it is written, without percent-decoding, because that is how
 * SOX writes it; three or four slashes mean the same absolute path. A relative path or
 * another scheme is refused: where a store lies must not depend on where one stands.
 */

import { NATS_OPTIONS, type NatsPlace, parseNatsUrl, unknownOption } from '../../log/nats/place.ts';

export type Store =
  | { readonly kind: 'memory' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'sqlite'; readonly path: string }
  | NatsStore
  | PackagePlace;

export interface NatsStore {
  readonly kind: 'nats';
  readonly place: NatsPlace;
  /** As it was written, without the space. */
  readonly text: string;
  /** The default one where none is named. */
  readonly space: string | null;
}

export interface PackagePlace {
  readonly kind: 'package';
  readonly name: string;
  /** Without its `?`; may be empty. */
  readonly query: string;
}

/** As npm names packages, so that no name leads out of the folder they lie in. */
const PACKAGE = /^npm:((?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*)(?:\?([^#\s]*))?$/;
const PACKAGE_NAME_CHARS_MAX = 214;

export const STORE_FORMS =
  'memory:, file:///dir, sqlite:///path (an absolute path), nats://HOST:PORT/PREFIX?options or npm:PACKAGE?options';

/** Why the text names no store. */
export function storeTrouble(text: string): string {
  const option = unknownOption(text);
  if (option === null) return `must be ${STORE_FORMS}`;
  return `must have known options: nats: has no "${option}", but ${NATS_OPTIONS}`;
}

/** Null when the text names no store. */
export function parseStoreUrl(text: string): Store | null {
  if (/^(memory:(\/\/)?|sqlite:\/\/\/?:memory:)$/.test(text)) return { kind: 'memory' };
  const [, name, query = ''] = PACKAGE.exec(text) ?? [];
  if (name !== undefined)
    return name.length > PACKAGE_NAME_CHARS_MAX ? null : { kind: 'package', name, query };
  if (text.startsWith('nats:')) return parseNatsStore(text);
  const [, kind, path] = /^(file|sqlite):\/\/\/+([^/].*)$/s.exec(text) ?? [];
  if (path === undefined || /\0/.test(path)) return null;
  return { kind: kind as 'file' | 'sqlite', path: `/${path}` };
}

function parseNatsStore(whole: string): NatsStore | null {
  const [text = '', space = null, more] = whole.split('#');
  const place = parseNatsUrl(text);
  if (place === null || more !== undefined || space === '') return null;
  return { kind: 'nats', place, text, space };
}

/** The one spelling of a store. */
export function storeUrl(store: Store): string {
  if (store.kind === 'memory') return 'memory:';
  if (store.kind === 'package') return `npm:${store.name}${store.query && `?${store.query}`}`;
  if (store.kind === 'nats') return store.text + (store.space === null ? '' : `#${store.space}`);
  return `${store.kind}://${store.path}`;
}

/** For a screen: the options of a package, and what one comes to NATS with, may hold a password. */
export function shownStore(url: string): string {
  return url
    .replace(/^(npm:[^?]*)\?.*$/s, '$1?(hidden)')
    .replace(/^nats:\/\/[^@/]*@/, 'nats://(hidden)@')
    .replace(/^(nats:.*[?&]token=)[^&#]*/, '$1(hidden)');
}
