/**
 * Decisions on their way to a record: gathered for a moment, the same decision once with how often it was
 * made, and never waited for. What does not fit or is not taken is counted, and the next that is taken says
 * how many are missing [PO13].
 */

const GATHER_MS = 250;
const BATCH_MAX = 100;
const GATHERED_MAX = 1_000;
const TEXT_CHARS_MAX = 1_024;

/**
 * A decision, or how an integration's call ended.
 *
 * @example
 * ```ts
 * const line = ({ guard, what, why }: Recordable): string => `${guard}: ${what}: ${why}`;
 * ```
 */
export interface Recordable {
  readonly guard: string;
  readonly kind: 'read' | 'write' | 'delete' | 'execute' | 'connect' | 'rail' | 'invoke';
  readonly what: string;
  readonly allowed: boolean;
  readonly code: string;
  readonly why: string;
  readonly enforcement: 'advisory' | 'os';
  readonly as?: string;
}

export interface Told extends Recordable {
  /** How often. */
  readonly times: number;
}

export interface DecisionQueue {
  readonly record: (entry: Recordable) => void;
  /** Tells what is gathered, and waits until it is taken or counted as missing. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface QueueOptions {
  /** Puts them on the record; throws when it cannot. */
  readonly tell: (decisions: readonly Told[], missed: number) => Promise<void>;
  readonly gatherMs?: number;
  /** Different ones at once; more are counted as missing. */
  readonly gatheredMax?: number;
}

export function createDecisionQueue({
  tell,
  gatherMs = GATHER_MS,
  gatheredMax = GATHERED_MAX,
}: QueueOptions): DecisionQueue {
  const gathered = new Map<string, Recordable & { times: number }>();
  let missed = 0;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function send(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    while (gathered.size > 0) {
      const batch = [...gathered.entries()].slice(0, BATCH_MAX);
      for (const [key] of batch) gathered.delete(key);
      const told = missed;
      missed = 0;
      try {
        await tell(
          batch.map(([, entry]) => entry),
          told,
        );
      } catch {
        // Whoever decided goes on; the next batch tells how much is missing.
        missed += told + batch.reduce((sum, [, { times }]) => sum + times, 0);
      }
    }
  }

  function flush(): Promise<void> {
    sending = sending.then(send);
    return sending;
  }

  return {
    record({ guard, kind, what, allowed, code, why, enforcement, as }) {
      if (isClosed) return;
      const key = JSON.stringify([guard, kind, what, code, enforcement, as]);
      const known = gathered.get(key);
      if (known !== undefined) known.times++;
      else if (gathered.size >= gatheredMax) missed++;
      else {
        const texts = { what: what.slice(0, TEXT_CHARS_MAX), why: why.slice(0, TEXT_CHARS_MAX) };
        const entry = { guard, kind, allowed, code, enforcement, ...texts, times: 1 };
        gathered.set(key, as === undefined ? entry : { ...entry, as });
      }
      // A program that has nothing else to do is not kept for this.
      timer ??= setTimeout(() => void flush(), gatherMs).unref();
    },
    flush,
    async close() {
      isClosed = true;
      await flush();
    },
  };
}
