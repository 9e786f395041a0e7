/** The state and whoever watches it. One event at a time; a watcher may dispatch, and is told again. */
import { type ChatEvent, type ChatState, evolve } from './state.ts';

export interface Store {
  state(): ChatState;
  dispatch(event: ChatEvent): void;
  /** Tells of every change until the returned function is called. */
  watch(watcher: () => void): () => void;
}

export function createStore(initial: ChatState): Store {
  const watchers = new Set<() => void>();
  let state = initial;
  return {
    state: () => state,
    dispatch(event) {
      const next = evolve(state, event);
      if (next === state) return;
      state = next;
      for (const watcher of [...watchers]) watcher();
    },
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}
