/** How a room reaches the store: `useAsk` for what it shows, `useAct` for what a person does. */
import {
  type Context,
  createContext,
  useCallback,
  useContext,
  useMemo,
  useSyncExternalStore,
} from 'react';
import type { CallId, CallInput, CallOutput } from '../../client/index.ts';
import { type Asked, keyOf } from './asks.ts';
import type { Act, PageStore } from './page-store.ts';

export const StoreContext: Context<PageStore | null> = createContext<PageStore | null>(null);

export function useStore(): PageStore {
  const store = useContext(StoreContext);
  if (store === null) throw new Error('a room stands outside of the page');
  return store;
}

/** What the hub answers now, or answered at the moment looked at; asked again when a noun changes. Null: not asked. */
export function useAsk<Id extends CallId>(
  operation: Id,
  input: CallInput<Id> | null,
  nouns: readonly string[],
): Asked<CallOutput<Id>> {
  const { asks } = useStore();
  const key = input === null ? null : `${keyOf({ operation, input, nouns })} ${nouns.join()}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says it all, and is the same when they are.
  const question = useMemo(() => (input === null ? null : { operation, input, nouns }), [key]);
  const watch = useCallback(
    (listener: () => void) => (question === null ? () => {} : asks.watch(question, listener)),
    [asks, question],
  );
  const read = useCallback(() => asks.read(question), [asks, question]);
  return useSyncExternalStore(watch, read) as Asked<CallOutput<Id>>;
}

export function useAct(): Act {
  return useStore().act;
}
