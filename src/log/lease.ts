/**
 * What one of several may have at a time, by a word that its holder writes anew twice a second. The
 * others read it, and when it has stood unchanged for long enough one of them takes it: no two clocks are compared.
 * A holder that cannot renew gives up before another may begin. Should it not have noticed, in a pause say, what
 * it does is refused by what it does it to: the lease is about order and speed, never about what is true [SQ2].
 */

export interface Lease {
  /** Names this opening, among all there ever were. */
  readonly id: string;
  readonly isMine: boolean;
  /** Who has it, as far as is known here. */
  readonly holder: { readonly name: string; readonly id: string } | null;
  /** How often it has passed from one to another since we look. */
  readonly changes: number;
  onChange(listener: () => void): () => void;
  /** Gives it up, so that another need not wait, and takes it no more. */
  close(): Promise<void>;
}

export interface LeaseWord {
  readonly by: string;
  /** For people. */
  readonly holder: string;
  readonly isReleased: boolean;
}

/** Keeps the last word, and knows how many there were. */
export interface LeaseStore {
  read(): Promise<{ readonly word: LeaseWord; readonly seq: number } | null>;
  /** Its number, or 'stale' when the last word is another than `previous`; throws when nobody knows. */
  write(word: LeaseWord, previous: number): Promise<number | 'stale'>;
}

/** Time that never jumps. */
export interface Steady {
  now(): number;
  after(ms: number, run: () => void): () => void;
}

export interface LeaseOptions {
  readonly name: string;
  readonly id: string;
  readonly store: LeaseStore;
  readonly steady: Steady;
  /** It could not be renewed, and was given up. */
  onLost(cause: unknown): void;
}

const RENEW_MS = 500;
/** Without a word for so long, the holder is gone. */
const LOST_MS = 2_500;
/** A holder that could not renew for so long does nothing more: before anybody else may begin. */
const STEP_DOWN_MS = 1_500;
/** A word that is not answered for is written again by then. */
export const WRITE_MS_MAX: number = LOST_MS;

export async function openLease(options: LeaseOptions): Promise<Lease> {
  const { name, id, store, steady } = options;
  const listeners = new Set<() => void>();
  let holder: Lease['holder'] = null;
  let changes = 0;
  let seq = 0;
  let heardAt = steady.now();
  /** When the last word of ours that counts was begun. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  const isMine = (): boolean => holder?.id === id && steady.now() - renewedAt < LOST_MS;

  function become(next: Lease['holder']): void {
    if (next?.id === holder?.id) return;
    if (holder !== null && next !== null) changes++;
    holder = next;
    for (const listener of listeners) listener();
  }

  async function say(isReleased: boolean): Promise<boolean> {
    const begun = steady.now();
    const written = await store.write({ by: id, holder: name, isReleased }, seq);
    if (written === 'stale') return false;
    seq = written;
    renewedAt = begun;
    return true;
  }

  async function renew(): Promise<void> {
    try {
      if (await say(false)) return;
    } catch (cause) {
      if (steady.now() - renewedAt <= STEP_DOWN_MS) return;
      options.onLost(cause);
      return become(null);
    }
    // Another has it; or a word of ours that was not answered for counted after all.
    become(null);
    await look();
  }

  /** Takes it when it is free, or nobody was heard of for long enough. */
  async function look(): Promise<void> {
    const begun = steady.now();
    const last = await store.read();
    if (last !== null && last.seq !== seq) {
      seq = last.seq;
      heardAt = steady.now();
    }
    const isFree = last === null || last.word.isReleased || last.word.by === id;
    const isLost = begun - heardAt >= LOST_MS;
    if (!isFree && !isLost) return become({ name: last.word.holder, id: last.word.by });
    // While we write we do nothing: whoever had it may still write too.
    if (await say(false)) become({ name, id });
    else become(null);
  }

  async function turn(): Promise<void> {
    try {
      if (isMine()) return await renew();
      // After a pause it is not ours any more, although nobody has told us.
      if (holder?.id === id) become(null);
      await look();
    } catch {
      // Nobody answers: nothing can be decided by anybody, and a hub says so by itself.
      become(null);
    }
  }

  let cancel = (): void => {};
  let turning: Promise<void> = Promise.resolve();
  const again = (): void => {
    turning = turn().then(() => {
      if (!isClosed) cancel = steady.after(RENEW_MS, again);
    });
  };
  again();
  await turning;

  return {
    id,
    get isMine() {
      return isMine();
    },
    get holder() {
      return holder;
    },
    get changes() {
      return changes;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      cancel();
      await turning;
      if (isMine()) await say(true).catch(() => {});
      become(null);
    },
  };
}
