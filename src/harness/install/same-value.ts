/**
 * Whether two parsed values hold the same, whoever parsed them: some parsers make objects without a
 * prototype, and the order of names means nothing.
 */
import { isDeepStrictEqual } from 'node:util';

export function isSameValue(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(plain(a), plain(b));
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}
