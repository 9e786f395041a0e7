/** Namespaces that bear an agent's name, and go with it: another of that name finds them empty [CX7]. */
import { toChannel } from '../law/name.ts';

const PRIVATE = 'private/';

export function ownNamespaces(agent: string): readonly string[] {
  return [`${PRIVATE}${agent}`, `by/${agent}`];
}

/** A channel that is read by those who read the namespace, for who asks whether a deed may be shown. */
export function channelOfNamespace(ns: string): string {
  return ns.startsWith(PRIVATE) ? toChannel(ns.slice(PRIVATE.length)) : ns;
}
