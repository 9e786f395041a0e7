/**
 * What the space knows of context: namespaces, their keys, and at which version each key is. Values are
 * not here; they stay in the log, and a version says where [CX4].
 *
 * A version is the length of the log after the entry that made it, and so is a snapshot: a key had at a
 * snapshot the newest version that is not above it. Each entry names the version its key had before and
 * the one its namespace had before, so that the past of both is found by walking back [CX5].
 */
import { fieldsOf, fifoOf, mapBy, whole } from '../law/fields.ts';
import { FifoMap } from '../law/fifo-map.ts';
import { count } from '../law/shares.ts';
import type { View } from '../law/view.ts';

export interface ContextBook {
  readonly namespaces: Map<string, Namespace>;
  /** Those of them that hold nothing, by who took the last key away; the oldest are forgotten first. */
  readonly empty: FifoMap<string, string>;
  /** Namespaces that were forgotten, by when: what they held at snapshots before that is not told. */
  readonly forgotten: FifoMap<string, number>;
  /** The same of those whose names are forgotten, too. */
  forgottenThrough: number;
  /** Keys, and bytes of their values, by who wrote them last. */
  readonly keysOf: Map<string, number>;
  readonly bytesOf: Map<string, number>;
  keys: number;
  bytes: number;
}

export interface Namespace {
  readonly name: string;
  readonly entries: Map<string, ContextEntry>;
  /** The version of its first change and of its newest. */
  readonly from: number;
  head: number;
  bytes: number;
}

export interface ContextEntry {
  readonly key: string;
  readonly version: number;
  readonly bytes: number;
  readonly by: string;
  readonly at: number;
  readonly expiresAt: number | null;
}

export type NamespaceView = View<Namespace>;

const NAMESPACE = fieldsOf<Namespace>()({
  name: 'stored',
  entries: mapBy<ContextEntry>(({ key }) => key),
  from: 'stored',
  head: 'stored',
  bytes: 'stored',
});

const BOOK = fieldsOf<ContextBook>()({
  namespaces: mapBy<Namespace>(({ name }) => name, whole(NAMESPACE)),
  empty: fifoOf<string, string>(),
  forgotten: fifoOf<string, number>(),
  forgottenThrough: 'stored',
  keysOf: 'derived',
  bytesOf: 'derived',
  keys: 'derived',
  bytes: 'derived',
});

export function createContext(): ContextBook {
  return {
    ...{ namespaces: new Map(), empty: new FifoMap<string, string>() },
    ...{ forgotten: new FifoMap<string, number>(), forgottenThrough: 0 },
    ...{ keysOf: new Map(), bytesOf: new Map(), keys: 0, bytes: 0 },
  };
}

export function freezeContext(book: ContextBook): object {
  return BOOK.freeze(book, {});
}

export function thawContext(frozen: unknown): ContextBook {
  const counts = { keysOf: new Map(), bytesOf: new Map(), keys: 0, bytes: 0 };
  const book = BOOK.thaw(frozen, counts);
  for (const { entries } of book.namespaces.values()) {
    for (const entry of entries.values()) countEntry(book, entry, 1);
  }
  return book;
}

/** For evolve and thawing: what each has written. */
export function countEntry(book: ContextBook, { by, bytes }: ContextEntry, sign: 1 | -1): void {
  count(book.keysOf, by, sign);
  count(book.bytesOf, by, sign * bytes);
  book.keys += sign;
  book.bytes += sign * bytes;
}
