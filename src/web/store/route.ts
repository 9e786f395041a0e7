/** Which room stands open, and what in it: kept in the address (`#/talk/general/m12`), so that back, forward and a link work. */
import { useSyncExternalStore } from 'react';

export const ROOMS = ['needs', 'talk', 'work', 'agents', 'record', 'health'] as const;
export type Room = (typeof ROOMS)[number];

export interface Route {
  readonly room: Room;
  readonly rest: readonly string[];
}

export function parseRoute(hash: string): Route {
  const [first, ...rest] = hash.replace(/^#\/?/, '').split('/').map(decoded);
  const room = ROOMS.find((one) => one === first) ?? 'needs';
  return { room, rest: rest.filter((one) => one !== '') };
}

export function hrefOf(room: Room, ...rest: readonly string[]): string {
  return `#/${[room, ...rest].map(encodeURIComponent).join('/')}`;
}

export function go(room: Room, ...rest: readonly string[]): void {
  location.hash = hrefOf(room, ...rest);
}

/** An address somebody typed may hold anything. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function watchHash(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

let known: { readonly hash: string; readonly route: Route } | null = null;

function readRoute(): Route {
  const { hash } = location;
  if (known?.hash !== hash) known = { hash, route: parseRoute(hash) };
  return known.route;
}

export function useRoute(): Route {
  return useSyncExternalStore(watchHash, readRoute);
}
