/**
 * Calls under way in the older era of MCP, where a cancellation comes in a request of
 * its own. A scope is one session of one caller, so nobody can end what is not
 * theirs, and two clients of one agent that count their requests alike do not meet.
 */

export interface Exchanges {
  /** Returns how to leave; leaving twice is harmless. */
  enter(scope: string | null, ids: readonly unknown[], end: () => void): () => void;
  cancel(scope: string | null, id: unknown): void;
  cancelAll(scope: string | null): void;
}

export function createExchanges(): Exchanges {
  const scopes = new Map<string, Map<unknown, () => void>>();
  return {
    enter(scope, ids, end) {
      // A batch has one answer: ending it for one of its calls would end the others.
      if (scope === null || ids.length !== 1) return () => {};
      const open = scopes.get(scope) ?? new Map<unknown, () => void>();
      scopes.set(scope, open);
      for (const id of ids) open.set(id, end);
      return () => {
        for (const id of ids) if (open.get(id) === end) open.delete(id);
        if (open.size === 0 && scopes.get(scope) === open) scopes.delete(scope);
      };
    },
    cancel(scope, id) {
      if (scope !== null) scopes.get(scope)?.get(id)?.();
    },
    cancelAll(scope) {
      const open = scope === null ? undefined : scopes.get(scope);
      for (const end of [...(open?.values() ?? [])]) end();
    },
  };
}
