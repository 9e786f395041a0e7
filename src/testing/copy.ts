/** What arrives at another machine is a copy: nothing there and here is the same object. */
export function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (value instanceof Set) return new Set([...value].map(copyOf)) as T;
  if (value instanceof Map) return new Map([...value].map(copyOf)) as T;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copyOf(one)])) as T;
}
