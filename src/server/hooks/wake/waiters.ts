/**
 * Sessions that ask to be woken: a plugin inside the harness holds one request open, and gets the text as
 * its answer. One waits for each session; a newer takes the place of an older one. All are bounded in
 * number and in time [WA5].
 */
import type { WakeMeans } from './wake-means.ts';

export interface Woken {
  readonly id: string;
  readonly prompt: string;
}

export interface Waiters {
  readonly means: WakeMeans;
  /** Null when the time was up, another took the place, or too many wait. */
  wait(space: string, session: string, signal: AbortSignal): Promise<Woken | null>;
  close(): void;
}

export const WAITERS_MAX = 1_000;
export const WAIT_MS = 50_000;

export function createWaiters(waitMs: number = WAIT_MS): Waiters {
  const waiting = new Map<string, (woken: Woken | null) => void>();
  const keyOf = (space: string, session: string | null): string => `${space} ${session}`;
  return {
    means: {
      name: 'plugin',
      isFor: ({ space, idle }) => waiting.has(keyOf(space, idle?.session ?? null)),
      async attempt({ attention, id, text }) {
        const give = waiting.get(keyOf(attention.space, attention.idle?.session ?? null));
        if (give === undefined) return 'the plugin does not wait';
        give({ id, prompt: text });
        return null;
      },
    },
    wait(space, session, signal) {
      const key = keyOf(space, session);
      waiting.get(key)?.(null);
      if (waiting.size >= WAITERS_MAX || signal.aborted) return Promise.resolve(null);
      return new Promise((resolve) => {
        const give = (woken: Woken | null): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', leave);
          if (waiting.get(key) === give) waiting.delete(key);
          resolve(woken);
        };
        const leave = (): void => give(null);
        const timer = setTimeout(leave, waitMs);
        signal.addEventListener('abort', leave);
        waiting.set(key, give);
      });
    },
    close() {
      for (const give of [...waiting.values()]) give(null);
    },
  };
}
