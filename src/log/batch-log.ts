/**
 * A Log over anything that can store batches.
 *
 * The adapters differ only in how a batch reaches the disk and is found again;
 * what a Log promises about positions, chunks, following and snapshots is kept
 * here, once. Every entry handed out has had its checksum compared: stored
 * bytes that changed are refused with 'log.corrupt', never served.
 */
import { encodeBatch, entryAt, GENESIS } from './batch.ts';
import {
  CHUNK_ENTRIES_MAX,
  checkedEntries,
  corruptAt,
  foreignSnapshot,
  holds,
  missing,
  outOfRange,
  requirePosition,
} from './batch-checks.ts';
import type { Appended, Chunk, Compacted, Log, Snapshot, StoredBatch } from './log.ts';
import { LogError } from './log.ts';
import { decodeSnapshot, encodeSnapshot } from './snapshot.ts';

/** Where a log ends. */
export interface Tail {
  readonly length: number;
  readonly head: string;
}

/**
 * What an adapter over a disk or memory supplies. Calls are synchronous, so that an append costs no
 * extra tick; storage behind a network cannot be that, and implements `Log` itself.
 */
export interface BatchStorage {
  /** What messages call this log: a path. */
  readonly path: string;
  tail(): Tail;
  /** The tail as it is stored now, should another opening of the same storage have moved it. */
  refresh(): Tail;
  /** Calls `look` whenever another opening may have moved the tail, until the answer is called. */
  watch(look: () => void): () => void;
  /**
   * Stores the batch durably and answers true; false when the stored tail is not `previous`. Throws LogError and changes
   * nothing. Whatever waits for a disk meanwhile is a promise, and nothing else is written before it is settled.
   */
  write(batch: StoredBatch, previous: Tail): boolean | Promise<boolean>;
  /** Consecutive batches: the one that holds `position` and, within a budget, those after it. Empty past the end. */
  load(position: number, limit: 'one' | 'many'): readonly StoredBatch[];
  /**
   * One entry without the batch that it is in, where reading all of that costs more: a page of a thread
   * is a hundred entries of a hundred batches. Null when its bytes are not the ones stored, undefined
   * when no batch holds it.
   */
  entry?(position: number): string | null | undefined;
  /** Runs the reads of one call together, where each by itself would open and close what they share. */
  together?<Result>(reads: () => Result): Result;
  saveSnapshot(position: number, bytes: Uint8Array): Promise<void>;
  /** Stored snapshots, newest first. */
  snapshots(): Iterable<Uint8Array>;
  /** Throws when there are bytes behind the tail that are no batch; present where such bytes are left in place. */
  requireWhole?(): Promise<void>;
  /** Lets the process do other work between two chunks; absent where the caller owns time. */
  breathe?(): Promise<void>;
  compacted(): Compacted | null;
  /** Stores these batches instead of all that is there, or leaves everything as it was. */
  replace(batches: AsyncIterable<StoredBatch>, compacted: Compacted): Promise<void>;
  close(): void;
}

/** How often a disk is asked whether another process has written. Servers lock their store, so this is rarely news. */
const LOOK_EVERY_MS = 500;

/** `watch` for storage that cannot tell by itself: asks now and then, and keeps no process alive for it. */
export function lookOften(look: () => void): () => void {
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** Positions that are further apart are seldom of one batch. */
const NEAR = 16;
/**
 * So many of one call that lie together are read with their batch. For two it would cost less time, but
 * the bytes of a batch are a buffer for the collector: fifty pages of a thread were 64 MB of them, and at
 * that V8 collects everything, 20 to 40 ms of every 200.
 */
const TOGETHER = 3;
const TOGETHER_SPAN = 24;

export function openBatchLog(storage: BatchStorage): Log {
  let isOpen = true;
  let tail = storage.tail();
  // Callers ask for neighbours, often in calls of their own; what is stored never changes.
  let recent: StoredBatch | undefined;
  let asked = Number.NEGATIVE_INFINITY;
  const followers = new Set<() => void>();
  let unwatch: (() => void) | null = null;
  /** Until what is being written is durable; how far it goes is not said before. */
  let writing: Promise<unknown> | null = null;

  function requireOpen(): void {
    if (!isOpen) {
      throw new LogError('log.closed', `${storage.path} is closed; open it again to use it`, {
        path: storage.path,
      });
    }
  }

  /** Takes in how far other writers have come. */
  function refresh(): void {
    if (writing !== null) return;
    const { length } = tail;
    tail = storage.refresh();
    if (tail.length !== length) for (const hear of followers) hear();
  }

  /** Until it is known, nothing else is written and nobody is told how far the log goes. */
  async function afterwards<Result>(
    written: Promise<boolean>,
    settle: (isStored: boolean) => Result,
  ): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<void>();
    writing = promise;
    try {
      const isStored = await written;
      writing = null;
      return settle(isStored);
    } finally {
      writing = null;
      resolve();
    }
  }

  function look(): void {
    try {
      refresh();
    } catch {
      // Nobody waits for this look; the next read or append says what is wrong.
    }
  }

  function follow(hear: () => void): () => void {
    requireOpen();
    // A place of its own: the same function may follow twice.
    const follower = (): void => hear();
    followers.add(follower);
    unwatch ??= storage.watch(look);
    return () => {
      followers.delete(follower);
      if (followers.size === 0) stopWatching();
    };
  }

  function stopWatching(): void {
    unwatch?.();
    unwatch = null;
  }

  async function* batches(from: number): AsyncGenerator<StoredBatch> {
    requireOpen();
    // An export or a check must end, so it covers what is stored when it starts.
    const end = tail.length;
    requirePosition(from, end, storage.path);
    for (let position = from; position < end; ) {
      const loaded = storage.load(position, 'many');
      if (loaded.length === 0) throw missing(storage.path, position);
      for (const batch of loaded) {
        if (batch.first >= end) return;
        yield batch;
        requireOpen();
        // A batch that claims no entries would keep us here for ever.
        position = Math.max(position + 1, batch.first + batch.count);
      }
      await storage.breathe?.();
    }
    await storage.requireWhole?.();
  }

  async function* read(from: number): AsyncGenerator<Chunk> {
    requireOpen();
    refresh();
    const end = tail.length;
    requirePosition(from, end, storage.path);
    for (let position = from; position < end; ) {
      requireOpen();
      const first = position;
      const entries: string[] = [];
      for (const batch of storage.load(position, 'many')) {
        const decoded = checkedEntries(batch, position, storage.path);
        for (const entry of decoded) entries.push(entry);
        position += decoded.length;
      }
      if (entries.length === 0) throw missing(storage.path, position);
      for (let start = 0; start < entries.length; start += CHUNK_ENTRIES_MAX) {
        const slice =
          entries.length <= CHUNK_ENTRIES_MAX
            ? entries
            : entries.slice(start, start + CHUNK_ENTRIES_MAX);
        yield { first: first + start, entries: slice };
      }
      await storage.breathe?.();
    }
  }

  /** From its batch, which is kept for its neighbours. */
  function among(position: number): string | null | undefined {
    const batch = holds(recent, position) ? recent : storage.load(position, 'one')[0];
    if (!holds(batch, position)) return undefined;
    recent = batch;
    return entryAt(batch.bytes, position - batch.first);
  }

  function lone(position: number): string | null | undefined {
    if (storage.entry === undefined || holds(recent, position)) return among(position);
    return storage.entry(position);
  }

  function entriesAt(positions: readonly number[]): string[] {
    const found = new Array<string>(positions.length);
    // In ascending order, positions of one batch are neighbours and load it once.
    const order = positions.map((position, index) => ({ position, index }));
    order.sort((a, b) => a.position - b.position);
    for (const [i, { position, index }] of order.entries()) {
      if (!Number.isInteger(position) || position < 0 || position >= tail.length) {
        throw outOfRange(storage.path, position, tail.length);
      }
      const third = order[i + TOGETHER - 1]?.position ?? Number.POSITIVE_INFINITY;
      const isAmongOthers =
        third - position <= TOGETHER_SPAN ||
        (order.length === 1 && Math.abs(position - asked) <= NEAR);
      asked = position;
      const entry = isAmongOthers ? among(position) : lone(position);
      if (entry === undefined) throw missing(storage.path, position);
      if (entry === null) throw corruptAt(storage.path, position);
      found[index] = entry;
    }
    return found;
  }

  /** The chain head at `position` entries; null when no batch ends there. */
  function headAt(position: number): string | null {
    if (position === 0) return GENESIS;
    if (position > tail.length) return null;
    const batch = storage.load(position - 1, 'one')[0];
    return batch !== undefined && batch.first + batch.count === position ? batch.head : null;
  }

  return {
    get length(): number {
      return tail.length;
    },
    get head(): string {
      return tail.head;
    },
    // Nothing is awaited where the storage need not: the work is done when the promise is made, and costs no extra tick.
    async append(expected, entries) {
      while (writing !== null) await writing;
      requireOpen();
      if (expected !== tail.length) refresh();
      if (expected !== tail.length) return { conflict: tail.length };
      if (entries.length === 0) return { length: tail.length };
      const { bytes, head } = encodeBatch(entries, tail.head);
      const batch = { first: tail.length, count: entries.length, bytes, head };
      const settle = (isStored: boolean): Appended => {
        if (isStored) tail = { length: batch.first + batch.count, head };
        else refresh();
        return isStored ? { length: tail.length } : { conflict: tail.length };
      };
      const written = storage.write(batch, tail);
      return typeof written === 'boolean' ? settle(written) : afterwards(written, settle);
    },
    read,
    async at(positions) {
      requireOpen();
      const several = positions.length > 1 ? storage.together : undefined;
      return several === undefined ? entriesAt(positions) : several(() => entriesAt(positions));
    },
    follow,
    batches,
    async loadSnapshot(onRefused, atMost = Number.POSITIVE_INFINITY) {
      requireOpen();
      for (const bytes of storage.snapshots()) {
        const snapshot = decodeSnapshot(bytes);
        if (snapshot !== null && snapshot.position > atMost) continue;
        // A hub at work may have come further than we know.
        if (snapshot !== null && snapshot.position > tail.length) refresh();
        if (snapshot !== null && headAt(snapshot.position) === snapshot.head) return snapshot;
        onRefused?.(foreignSnapshot(storage.path, snapshot, tail.length));
      }
      return null;
    },
    async saveSnapshot(snapshot: Snapshot) {
      requireOpen();
      if (headAt(snapshot.position) !== snapshot.head) {
        throw new LogError(
          'log.position',
          `a snapshot at ${snapshot.position} does not carry the chain head of ${storage.path} there; take it between two appends`,
          { path: storage.path },
        );
      }
      const bytes = await encodeSnapshot(snapshot, storage.breathe);
      await storage.saveSnapshot(snapshot.position, bytes);
    },
    get compacted(): Compacted | null {
      return storage.compacted();
    },
    async replace(expected, batches, compacted) {
      while (writing !== null) await writing;
      requireOpen();
      refresh();
      if (expected !== tail.length) {
        throw new LogError(
          'log.diverged',
          `${storage.path} holds ${tail.length} entries and not ${expected}: somebody wrote to it; nothing was changed, try again`,
          { path: storage.path },
        );
      }
      await storage.replace(batches, compacted);
      await this.close();
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await writing;
      recent = undefined;
      followers.clear();
      stopWatching();
      storage.close();
    },
  };
}
