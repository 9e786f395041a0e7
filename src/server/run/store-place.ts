/** Where the store of a space lies: for who looks at it beside the hub, and in what is said of its trouble. */
import { LogError } from '../../log/log.ts';
import type { StorePlace } from '../record/keeper.ts';
import { hasPath } from './open-log.ts';
import { parseStoreUrl } from './store-url.ts';

export function placeOf(url: string): StorePlace | null {
  const store = parseStoreUrl(url);
  if (store?.kind === 'nats') return { kind: 'nats', place: store.place };
  return hasPath(store) ? { kind: store.kind, path: store.path } : null;
}

/** What the hub says of an entry, with the store it lies in: whoever must act has to find it. */
export function located(cause: LogError, url: string): LogError {
  const store = parseStoreUrl(url);
  if (cause.path !== undefined || !hasPath(store)) return cause;
  const { path } = store;
  const told = cause.message.slice(cause.code.length + 2);
  return new LogError(cause.code, `${path}: ${told}`, { cause, path });
}
