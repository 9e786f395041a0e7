/**
 * Where a log is kept, as a URL: `memory:`, `file:///dir`, `sqlite:///path`.
 *
 * The path is taken as it is written, without percent-decoding, because that is how
 * SOX writes it; three or four slashes mean the same absolute path. A relative path or
 * another scheme is refused: where a store lies must not depend on where one stands.
 */

export type Store =
  | { readonly kind: 'memory' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'sqlite'; readonly path: string };

export const STORE_FORMS = 'memory:, file:///dir or sqlite:///path (an absolute path)';

/** Null when the text names no store. */
export function parseStoreUrl(text: string): Store | null {
  if (/^(memory:(\/\/)?|sqlite:\/\/\/?:memory:)$/.test(text)) return { kind: 'memory' };
  const [, kind, path] = /^(file|sqlite):\/\/\/+([^/].*)$/s.exec(text) ?? [];
  if (path === undefined || /\0/.test(path)) return null;
  return { kind: kind as 'file' | 'sqlite', path: `/${path}` };
}

/** The one spelling of a store. */
export function storeUrl(store: Store): string {
  return store.kind === 'memory' ? 'memory:' : `${store.kind}://${store.path}`;
}
