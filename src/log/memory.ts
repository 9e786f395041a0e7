/**
 * The log that forgets: everything in memory, for tests and trying out.
 *
 * It keeps every promise of a Log but the ones about crashes: what it holds
 * goes with the process. It stores encoded batches, so heads, checksums and
 * verification are the same as on disk.
 */
import { GENESIS } from './batch.ts';
import type { BatchStorage, Tail } from './batch-log.ts';
import { openBatchLog } from './batch-log.ts';
import type { Log, StoredBatch } from './log.ts';
import { SNAPSHOTS_KEPT } from './snapshot.ts';

/** Batches handed out by one load. */
const LOAD_BATCHES_MAX = 256;

export function openMemoryLog(): Log {
  const stored: StoredBatch[] = [];
  let snapshots: { position: number; bytes: Uint8Array }[] = [];

  const tail = (): Tail => {
    const last = stored.at(-1);
    return last === undefined
      ? { length: 0, head: GENESIS }
      : { length: last.first + last.count, head: last.head };
  };

  const storage: BatchStorage = {
    path: 'memory:',
    tail,
    refresh: tail,
    write(batch) {
      stored.push(batch);
      return true;
    },
    load(position, limit) {
      let low = 0;
      for (let high = stored.length; low < high; ) {
        const middle = (low + high) >>> 1;
        const batch = stored[middle];
        if (batch !== undefined && batch.first + batch.count <= position) low = middle + 1;
        else high = middle;
      }
      return stored.slice(low, low + (limit === 'one' ? 1 : LOAD_BATCHES_MAX));
    },
    async saveSnapshot(position, bytes) {
      const others = snapshots.filter((snapshot) => snapshot.position !== position);
      snapshots = [{ position, bytes }, ...others]
        .sort((a, b) => b.position - a.position)
        .slice(0, SNAPSHOTS_KEPT);
    },
    snapshots: () => snapshots.map((snapshot) => snapshot.bytes),
    close() {},
  };
  return openBatchLog(storage);
}
