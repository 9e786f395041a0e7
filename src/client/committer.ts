/**
 * Moves the durable read cursor behind a reader: only over messages it has handled
 * [K10], many at a time, never two commits at once. A commit that could not be
 * made for the moment is made later; one that the hub refuses is the reader's to know.
 */
import { isPassing, SynodError } from './error.ts';

export interface Committer {
  /** The reader is done with this one and all before it. */
  handled(position: number): void;
  /** Commits what is handled and not yet committed. */
  flush(): Promise<void>;
}

const COMMIT_EVERY_MS = 100;

export function createCommitter(
  commit: (through: number) => Promise<unknown>,
  onRefused: (error: unknown) => void,
): Committer {
  let through = -1;
  let isDue = false;
  let isStopped = false;
  let running: Promise<void> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function schedule(): void {
    if (timer !== undefined || isStopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      void run();
    }, COMMIT_EVERY_MS);
  }

  async function run(): Promise<void> {
    running ??= commitDue().finally(() => {
      running = null;
    });
    await running;
  }

  async function commitDue(): Promise<void> {
    if (!isDue) return;
    isDue = false;
    try {
      await commit(through);
    } catch (error) {
      if (error instanceof SynodError && isPassing(error)) {
        isDue = true;
        schedule();
      } else if (!isStopped) {
        isStopped = true;
        onRefused(error);
      }
    }
    if (isDue) schedule();
  }

  return {
    handled(position) {
      // A released message lies below what was committed already, and still has to be counted.
      through = Math.max(through, position);
      isDue = true;
      schedule();
    },
    async flush() {
      isStopped = true;
      clearTimeout(timer);
      await running;
      await run();
    },
  };
}
