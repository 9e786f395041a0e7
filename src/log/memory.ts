/**
 * The log that forgets: everything in memory, for tests and trying out.
 *
 * It keeps every promise of a Log but the ones about crashes: what it holds
 * goes with the process. It stores encoded batches, so heads, checksums and
 * verification are the same as on disk. Several openings of one store are
 * several writers, as on disk.
 */
import { GENESIS } from './batch.ts';
import type { BatchStorage, Tail } from './batch-log.ts';
import { openBatchLog } from './batch-log.ts';
import type { Compacted, Log, StoredBatch } from './log.ts';
import { SNAPSHOTS_KEPT } from './snapshot.ts';

/** Batches handed out by one load. */
const LOAD_BATCHES_MAX = 256;

/** What several openings share. */
export interface MemoryStore {
  readonly batches: StoredBatch[];
  snapshots: readonly { readonly position: number; readonly bytes: Uint8Array }[];
  readonly lookers: Set<() => void>;
  compacted: Compacted | null;
}

export function createMemoryStore(): MemoryStore {
  return { batches: [], snapshots: [], lookers: new Set(), compacted: null };
}

export function openMemoryLog(store: MemoryStore = createMemoryStore()): Log {
  const { batches, lookers } = store;

  const tail = (): Tail => {
    const last = batches.at(-1);
    return last === undefined
      ? { length: 0, head: GENESIS }
      : { length: last.first + last.count, head: last.head };
  };

  const storage: BatchStorage = {
    path: 'memory:',
    tail,
    refresh: tail,
    watch(look) {
      lookers.add(look);
      return () => lookers.delete(look);
    },
    write(batch, previous) {
      if (previous.length !== tail().length) return false;
      batches.push(batch);
      // In a turn of their own: the writer has not heard of its append yet.
      queueMicrotask(() => {
        for (const look of lookers) look();
      });
      return true;
    },
    load(position, limit) {
      let low = 0;
      for (let high = batches.length; low < high; ) {
        const middle = (low + high) >>> 1;
        const batch = batches[middle];
        if (batch !== undefined && batch.first + batch.count <= position) low = middle + 1;
        else high = middle;
      }
      return batches.slice(low, low + (limit === 'one' ? 1 : LOAD_BATCHES_MAX));
    },
    async saveSnapshot(position, bytes) {
      const others = store.snapshots.filter((snapshot) => snapshot.position !== position);
      store.snapshots = [{ position, bytes }, ...others]
        .sort((a, b) => b.position - a.position)
        .slice(0, SNAPSHOTS_KEPT);
    },
    snapshots: () => store.snapshots.map((snapshot) => snapshot.bytes),
    compacted: () => store.compacted,
    async replace(fresh, compacted) {
      const all: StoredBatch[] = [];
      for await (const batch of fresh) all.push(batch);
      batches.splice(0, batches.length, ...all);
      store.compacted = compacted;
    },
    close() {},
  };
  return openBatchLog(storage);
}
