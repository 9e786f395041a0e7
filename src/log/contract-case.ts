/**
 * The shape of a contract case, and the few words its checks are written in.
 *
 * No test framework, so that a doctor command can hold a real store to the same cases.
 */
import { inspect, isDeepStrictEqual } from 'node:util';
import { LogError } from './log.ts';

const SHOWN_CHARACTERS_MAX = 400;

export interface Case<Port> {
  readonly name: string;
  run(open: () => Promise<Port>): Promise<void>;
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

export function codeOf(error: unknown): string | null {
  return error instanceof LogError ? error.code : null;
}

export function same(actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  const show = (value: unknown): string =>
    inspect(value, { depth: 6 }).slice(0, SHOWN_CHARACTERS_MAX);
  throw new Error(`expected ${show(expected)}, got ${show(actual)}`);
}

export function check(holds: boolean, complaint: string): void {
  if (!holds) throw new Error(complaint);
}

/** Something that may happen now or later, and how often it did. */
export function createBell(): { readonly count: number; ring(): void; rang(): Promise<void> } {
  let count = 0;
  const first = Promise.withResolvers<void>();
  return {
    get count() {
      return count;
    },
    ring() {
      count++;
      first.resolve();
    },
    rang: () => first.promise,
  };
}
