/**
 * The state as it may be looked at: the same shape, and nothing in it can be changed.
 * Deciders, questions and listeners get a view; only `evolve` and thawing get the
 * state itself, so that a change that is not an event does not compile.
 */
import type { ByMessage } from '../talk/by-message.ts';
import type { LowestCursor } from '../talk/lowest-cursor.ts';
import type { Positions } from '../talk/positions.ts';
import type { ThreadIndex } from '../threads/thread-index.ts';
import type { Register } from '../work/claim/register.ts';
import type { ScopeIndex, Searchable } from '../work/claim/scope-index.ts';
import type { Deadlines } from './deadlines.ts';
import type { FifoMap } from './fifo-map.ts';
import type { Heap } from './heap.ts';

export type View<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends FifoMap<infer K, infer V>
    ? ReadonlyMap<K, View<V>> & Pick<T, 'oldest'>
    : T extends ReadonlyMap<infer K, infer V>
      ? ReadonlyMap<K, View<V>>
      : T extends ReadonlySet<infer V>
        ? ReadonlySet<View<V>>
        : T extends readonly unknown[]
          ? { readonly [K in keyof T]: View<T[K]> }
          : ViewOfOurs<T>;

/** Our own collections show what only reads; what is not named here is hidden. */
type ViewOfOurs<T> = T extends Positions
  ? Pick<T, 'length' | 'head' | 'at' | 'lastAtOrBefore'>
  : T extends ByMessage<infer V>
    ? Pick<T, 'size' | 'has'> & { get(position: number): ReadonlyMap<string, View<V>> | undefined }
    : T extends ThreadIndex
      ? Omit<T, 'addPost' | 'addReply' | 'mark' | 'freeze'>
      : T extends Deadlines
        ? Pick<T, 'next' | 'size'>
        : T extends LowestCursor
          ? Pick<T, 'among'>
          : T extends Heap<infer Item>
            ? Pick<T, 'size'> &
                Iterable<View<Item>> & {
                  readonly first: View<Item> | undefined;
                  firsts(isWanted: (item: View<Item>) => boolean, max: number): View<Item>[];
                }
            : T extends Register<infer Value>
              ? Pick<T, 'size'> & {
                  get(key: string): View<Value> | undefined;
                  values(): Iterable<View<Value>>;
                }
              : T extends ScopeIndex<infer Holder>
                ? Pick<T, 'size'> & Searchable<View<Holder>>
                : T extends object
                  ? { readonly [K in keyof T]: View<T[K]> }
                  : T;

/** For who makes one, field by field, before it is anybody's. */
export type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
