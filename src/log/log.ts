/**
 * The Log: the hub's only memory, and the only port that must never lie.
 *
 * Entries are opaque strings. They are written in batches, one batch an append,
 * and every batch is chained: its head is SHA-256 over the previous head and
 * the batch's bytes, so no stored byte can change without the chain saying where.
 *
 * Every adapter keeps these promises, and `log.contract.ts` holds it to them:
 *   [G1] append is all or nothing;
 *   [G2] append refuses when `expected` is not the current length;
 *   [G3] once append resolves, the entries survive a crash;
 *   [G4] read yields every entry from `from`, in order, without gaps;
 *   [G5] at answers any stored position with the entry appended there;
 *   [G6] a follower is told of what another writer stored, by when it can be read here;
 *   [G7] a torn tail is found and cut on open, and nothing acknowledged is cut with it;
 *   [G8] a changed, missing or reordered stored byte is found by verify, which names a position;
 *   [G12] replace stores all of the batches or leaves everything as it was;
 *   [G9] a failed append throws LogError and stored all or nothing: the next read tells which,
 *        and only 'log.unknown' says that no read could.
 */
export interface Log {
  /** How many entries are stored as far as this opening knows; also the position the next entry gets. */
  readonly length: number;
  /** The chain head after the last append: 64 hex digits. */
  readonly head: string;
  append(expected: number, entries: readonly string[]): Promise<Appended>;
  /**
   * Chunks of consecutive entries from `from` to what is stored now, by whichever writer. Where `enough`
   * entries are known here already, nobody needs to be asked for more: those are read.
   */
  read(from: number, enough?: number): AsyncIterable<Chunk>;
  /** Entries by position, in the order asked; throws LogError 'log.position' for one out of range. */
  at(positions: readonly number[]): Promise<string[]>;
  /** Calls back whenever another writer has stored more, until the returned function is called. */
  follow(hear: () => void): () => void;
  /** The stored batches as they lie, for verify and export. */
  batches(from: number): AsyncIterable<StoredBatch>;
  /**
   * The newest snapshot of at most `atMost` entries whose head still matches the chain there, if
   * there is one; newer ones that do not match are refused.
   */
  loadSnapshot(onRefused?: (why: LogError) => void, atMost?: number): Promise<Snapshot | null>;
  saveSnapshot(snapshot: Snapshot): Promise<void>;
  /** What was dropped from this log, if anything was. */
  readonly compacted: Compacted | null;
  /**
   * Stores these batches instead of everything that is stored, all or nothing, and closes the log:
   * open it again. Refused with 'log.diverged' unless `expected` entries are stored.
   */
  replace(
    expected: number,
    batches: AsyncIterable<StoredBatch>,
    compacted: Compacted,
  ): Promise<void>;
  close(): Promise<void>;
}

export type Appended = { readonly length: number } | { readonly conflict: number };

export interface Chunk {
  readonly first: number;
  readonly entries: readonly string[];
}

/** One append as stored: `bytes` is the encoded batch (see batch.ts), `head` the stored chain head after it. */
export interface StoredBatch {
  readonly first: number;
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly head: string;
}

/**
 * A compacted log: the entries below `through` may lack what was dropped from them, so their batches
 * carry heads that their bytes do not make any more. What was done is recorded in the entry at
 * `record`, which lies in the unbroken chain above (see compact.ts).
 */
export interface Compacted {
  readonly through: number;
  readonly record: number;
}

/** A state of the hub at `position` entries; `head` is the chain head there. */
export interface Snapshot {
  readonly position: number;
  readonly head: string;
  readonly text: string;
}

export type LogErrorCode =
  | 'log.unavailable' // the disk said no: full, I/O error, read-only
  | 'log.unknown' // whether the append is stored cannot be told before the log is opened again
  | 'log.durability' // the store may lose what it acknowledged, and nobody said that this is accepted
  | 'log.locked' // another process owns the store or the data directory
  | 'log.newer' // written by a newer program
  | 'log.shape' // an entry is sound, and not of a shape this program can read
  | 'log.snapshot' // a snapshot is not of this log, which is read instead
  | 'log.corrupt' // stored bytes do not verify
  | 'log.anchor-bad' // an anchor is not signed as it says
  | 'log.anchor-key' // an anchor is signed by a key that is not known
  | 'log.anchor-other' // an anchor is of another log
  | 'log.removed' // the space was removed, and is made again by name alone
  | 'log.key' // the key that signs heads cannot be used
  | 'log.position' // no such position
  | 'log.diverged' // an import disagrees with what is stored
  | 'log.closed';

/** A failure of the world below the log; `path` names the file where one is known. */
export class LogError extends Error {
  readonly code: LogErrorCode;
  readonly path: string | undefined;
  constructor(
    code: LogErrorCode,
    message: string,
    options: { cause?: unknown; path?: string } = {},
  ) {
    super(`${code}: ${message}`, { cause: options.cause });
    this.name = 'LogError';
    this.code = code;
    this.path = options.path;
  }
}
