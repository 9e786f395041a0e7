/**
 * What a snapshot keeps of a state, as a table with one row for each field. The table
 * is typed by the state: a field without a row does not compile, nor does a row
 * without a field, and one row serves both directions, so that what is frozen is
 * what is thawed.
 *
 * Freezing takes a copy that later events cannot reach, and takes it at once; turning
 * the copy into text may take its time (see frozen-text.ts).
 */
import { FifoMap } from './fifo-map.ts';

/** - `stored`: kept as it is. Only for what never changes in place and is plain JSON.
 *  - `linked`: kept by hand, because it refers to others; freezing must be given it.
 *  - `derived`: found again from the rest when thawing.
 *  - `memory`: promised to nobody after a restart.
 *  - a codec: kept in the codec's own way. */
type Row<T> =
  | (Fixed<T> extends true ? 'stored' : never)
  | 'linked'
  | 'derived'
  | 'memory'
  | Codec<T>;

export interface Codec<T> {
  /** Plain JSON or `Runs`; shares nothing with the value that may still change. */
  freeze(value: T): unknown;
  thaw(frozen: unknown): T;
}

const RUN = 128;

/** A list that is made when it is written, a run at a time. */
export class Runs {
  readonly runs: () => Iterable<readonly unknown[]>;

  constructor(runs: () => Iterable<readonly unknown[]>) {
    this.runs = runs;
  }
}

type Fields<S> = { readonly [K in keyof S]-?: Row<S[K]> };
type KeysOf<F, Kind> = { [K in keyof F]: F[K] extends Kind ? K : never }[keyof F];
type Kept = 'stored' | { freeze: unknown };

export interface StateCodec<S, F> {
  /** `linked` is what the rows of that name are kept as. */
  freeze(state: S, linked: Record<KeysOf<F, 'linked'>, unknown>): Readonly<Record<string, unknown>>;
  /** `rest` is every field that is not kept by its row. */
  thaw(frozen: unknown, rest: Omit<S, KeysOf<F, Kept>>): S;
}

/** Called as `fieldsOf<State>()({ … })`: the rows are inferred, the state is not. */
export function fieldsOf<S extends object>(): <const F extends Fields<S>>(
  rows: F & { readonly [K in Exclude<keyof F, keyof S>]: never },
) => StateCodec<S, F> {
  return (rows) => {
    const kept: { readonly key: keyof S; readonly codec: Codec<unknown> | null }[] = [];
    for (const key of Object.keys(rows) as (keyof S)[]) {
      const row = rows[key] as Row<unknown>;
      if (typeof row === 'object') kept.push({ key, codec: row });
      else if (row === 'stored') kept.push({ key, codec: null });
    }
    return {
      freeze(state, linked) {
        const frozen: Record<keyof S, unknown> = { ...linked } as never;
        for (const { key, codec } of kept) {
          frozen[key] = codec === null ? state[key] : codec.freeze(state[key]);
        }
        return frozen;
      },
      thaw(frozen, rest) {
        const state = { ...rest } as Record<keyof S, unknown>;
        const source = frozen as Record<keyof S, unknown>;
        for (const { key, codec } of kept) {
          if (!(key in source)) throw new Error(`a snapshot without ${String(key)}`);
          state[key] = codec === null ? source[key] : codec.thaw(source[key]);
        }
        return state as S;
      },
    };
  };
}

/** For a state all of whose fields are kept by their rows. */
export function whole<S extends object, F extends Record<keyof S, Kept>>(
  fields: StateCodec<S, F>,
): Codec<S> {
  return {
    freeze: (state) => fields.freeze(state, {} as never),
    thaw: (frozen) => fields.thaw(frozen, {} as never),
  };
}

/** Values that are neither fixed nor have a codec cannot be named. */
type CodecFor<V> = Fixed<V> extends true ? [] : [codec: Codec<V>];

/** As one flat list: key, value, key, value … */
export function mapOf<K extends string | number, V>(...codec: CodecFor<V>): Codec<Map<K, V>> {
  return mapMadeBy(() => new Map<K, V>(), codec[0]);
}

/** The same. Such maps grow long, so the list is put together while it is written. */
export function fifoOf<K extends string | number, V>(...codec: CodecFor<V>): Codec<FifoMap<K, V>> {
  const [one] = codec;
  const { thaw } = mapMadeBy(() => new FifoMap<K, V>(), one);
  return {
    thaw,
    freeze(map) {
      const keys = [...map.keys()];
      const values =
        one === undefined
          ? [...map.values()]
          : Array.from(map.values(), (value) => one.freeze(value));
      return new Runs(function* () {
        for (let start = 0; start < keys.length; start += RUN) {
          const run: unknown[] = [];
          for (let i = start; i < Math.min(start + RUN, keys.length); i++) {
            run.push(keys[i], values[i]);
          }
          yield run;
        }
      });
    },
  };
}

function mapMadeBy<K, V, M extends Map<K, V>>(
  create: () => M,
  codec: Codec<V> | undefined,
): Codec<M> {
  return {
    freeze(map) {
      const list: unknown[] = [];
      map.forEach((value, key) => {
        list.push(key, codec === undefined ? value : codec.freeze(value));
      });
      return list;
    },
    thaw(frozen) {
      const map = create();
      const list = frozen as unknown[];
      for (let i = 0; i < list.length; i += 2) {
        const value = list[i + 1];
        map.set(list[i] as K, codec === undefined ? (value as V) : codec.thaw(value));
      }
      return map;
    },
  };
}

/** A map whose values know their own key: a list of them. */
export function mapBy<V>(
  keyOf: (value: V) => string,
  ...codec: CodecFor<V>
): Codec<Map<string, V>> {
  const [one] = codec;
  return {
    freeze: (map) => Array.from(map.values(), (value) => one?.freeze(value) ?? value),
    thaw(frozen) {
      const map = new Map<string, V>();
      for (const item of frozen as unknown[]) {
        const value = one === undefined ? (item as V) : one.thaw(item);
        map.set(keyOf(value), value);
      }
      return map;
    },
  };
}

export function setOf<V extends string | number>(): Codec<Set<V>> {
  return { freeze: (set) => [...set], thaw: (frozen) => new Set(frozen as V[]) };
}

/** A list that grows in place. */
export function listOf<V>(..._fixed: Fixed<V> extends true ? [] : [never]): Codec<V[]> {
  return { freeze: (list) => list.slice(), thaw: (frozen) => (frozen as V[]).slice() };
}

export function orNull<T>(codec: Codec<T>): Codec<T | null> {
  return {
    freeze: (value) => (value === null ? null : codec.freeze(value)),
    thaw: (frozen) => (frozen === null ? null : codec.thaw(frozen)),
  };
}

/** True for plain JSON that is read-only as deep as it goes. What is `unknown` came out of JSON. */
type Fixed<T> = unknown extends T
  ? true
  : T extends string | number | boolean | null | undefined
    ? true
    : T extends readonly (infer E)[]
      ? T extends unknown[]
        ? false
        : Fixed<E>
      : HasMethods<T> extends true
        ? false
        : false extends { [K in keyof T]-?: Fixed<T[K]> }[keyof T]
          ? false
          : IsSame<T, Readonly<T>>;

/** Maps, sets and our own collections. */
type HasMethods<T> = [Extract<T[keyof T], (...args: never[]) => unknown>] extends [never]
  ? false
  : true;

/** Two types are the same when nothing can be told apart by them, also not by `readonly`. */
type IsSame<A, B> =
  (<G>() => G extends A ? 1 : 2) extends <G>() => G extends B ? 1 : 2 ? true : false;
