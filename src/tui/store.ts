/** The state and whoever watches it. One event at a time; a watcher may dispatch, and is told again. */
import { type ChatEvent, type ChatState, evolve } from './state.ts';

export interface Store {
  state(): ChatState;
  dispatch(event: ChatEvent): void;
  /** Tells a person something, on the status line. */
  say(text: string, isProblem?: boolean): void;
  /** Tells of every change until the returned function is called. */
  watch(watcher: () => void): () => void;
}

export function createStore(initial: ChatState): Store {
  const watchers = new Set<() => void>();
  let state = initial;
  function dispatch(event: ChatEvent): void {
    const next = evolve(state, event);
    if (next === state) return;
    state = next;
    for (const watcher of [...watchers]) watcher();
  }
  return {
    state: () => state,
    dispatch,
    say: (text, isProblem = false) => dispatch({ type: 'noticed', notice: { text, isProblem } }),
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}
