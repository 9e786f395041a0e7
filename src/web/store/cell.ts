/** A value that can be watched: what the page knows and React does not. */
import { useSyncExternalStore } from 'react';

export interface Cell<T> {
  get(): T;
  set(value: T): void;
  /** Told after every change, until the returned function is called. */
  watch(listener: () => void): () => void;
}

export function createCell<T>(first: T): Cell<T> {
  const listeners = new Set<() => void>();
  let value = first;
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useCell<T>(cell: Cell<T>): T {
  return useSyncExternalStore(cell.watch, cell.get);
}
