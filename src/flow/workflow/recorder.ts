/**
 * Writes to the journal of one run: one call at a time, so that the order of the journal is the order in which
 * things were said, and everything said meanwhile goes with the next call [FW5]. A call whose answer was lost
 * is made again, and counts once. Once the lease is lost nothing is written any more, and nobody waits.
 */
import { ENTRIES_LIST_MAX } from '../../core/workflows/workflow-limits.ts';
import type { Clock } from '../../server/run/index.ts';
import { codeOf, type HubLine, isPassingError } from './hub-line.ts';
import type { Entry, Recorded } from './seam.ts';

export interface Recorder {
  /** Resolves once they are durable; throws what the hub refused. Never settles when the run was lost. */
  record(...entries: Entry[]): Promise<void>;
  /** Calls under way, and entries that wait for one. */
  readonly isBusy: boolean;
  stop(): void;
}

interface Batch {
  readonly entries: readonly Entry[];
  settle(error: unknown): void;
}

export interface RecorderOptions {
  readonly hub: HubLine;
  readonly clock: Clock;
  readonly id: string;
  readonly epoch: number;
  /** Told before those who wait for the record go on. */
  onRecorded(answer: Recorded): void;
  /** Another executor has the run, or it is over. */
  onLost(): void;
}

const RETRY_MS = 100;
const RETRY_MS_MAX = 5_000;
const SAID: ReadonlySet<string | null> = new Set([
  'workflow.step-completed',
  'workflow.step-state',
]);
const NOTHING_NEW = { id: '', news: 0, cancelling: null };
const LOST: ReadonlySet<string | null> = new Set(['workflow.stale', 'workflow.not-found']);

export function createRecorder(options: RecorderOptions): Recorder {
  const { hub, clock, id, epoch } = options;
  let queue: Batch[] = [];
  let isCalling = false;
  let isStopped = false;

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => void clock.after(ms, resolve));

  async function call(entries: readonly Entry[]): Promise<Recorded | null> {
    let mayBeThere = false;
    for (let waitMs = RETRY_MS; !isStopped; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
      try {
        return await hub.call<Recorded>('workflows.record', { id, epoch, entries });
      } catch (error) {
        if (LOST.has(codeOf(error))) return null;
        // Nobody else writes under our epoch: what is there already is what we said before.
        if (mayBeThere && SAID.has(codeOf(error))) return NOTHING_NEW;
        if (!isPassingError(error)) throw error;
        mayBeThere = true;
      }
      await pause(waitMs);
    }
    return null;
  }

  /** Batches that fit into one call. */
  function nextBatches(): Batch[] {
    let count = 0;
    let taken = 0;
    for (const { entries } of queue) {
      if (taken > 0 && count + entries.length > ENTRIES_LIST_MAX) break;
      count += entries.length;
      taken++;
    }
    return queue.splice(0, taken);
  }

  /** False when the run is lost. */
  async function write(batches: readonly Batch[]): Promise<boolean> {
    try {
      const answer = await call(batches.flatMap(({ entries }) => entries));
      if (answer === null) return false;
      options.onRecorded(answer);
      for (const { settle } of batches) settle(null);
      return true;
    } catch (error) {
      // A call is all or nothing: the one that is at fault must not take the others along.
      if (batches.length > 1) {
        for (const batch of batches) if (!(await write([batch]))) return false;
      } else batches[0]?.settle(error);
      return true;
    }
  }

  async function pump(): Promise<void> {
    if (isCalling) return;
    isCalling = true;
    while (queue.length > 0 && !isStopped) {
      if (await write(nextBatches())) continue;
      isStopped = true;
      options.onLost();
    }
    isCalling = false;
  }

  return {
    record: (...entries) =>
      new Promise((resolve, reject) => {
        if (isStopped) return;
        queue.push({ entries, settle: (error) => (error === null ? resolve() : reject(error)) });
        void pump();
      }),
    get isBusy() {
      return isCalling || queue.length > 0;
    },
    stop() {
      isStopped = true;
      queue = [];
    },
  };
}
