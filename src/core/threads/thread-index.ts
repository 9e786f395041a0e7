/**
 * The threads of one channel, by seq: which message replies to which root, in order, and how each
 * thread is marked. Twelve bytes a message where there are threads, and 32 for a thread that is marked;
 * the words of marks stay in the log, found by position. Who looks for threads passes over the parts
 * of a channel that have none.
 */
import { Runs } from '../law/fields.ts';

const CHUNK = 1024;
/** Three numbers a message: `LINK` is the root of a reply and the last reply to a root. */
const CELLS = 3;
const LINK = 0;
const NEXT = 1;
/** Of a reply its place in the thread, from 1; of a root whether it is a thread, a post, and its row. */
const PLACE = 2;
const THREAD = 0x8000_0000;
const POST = 0x4000_0000;
const ROW = 0x3fff_ffff;

/** Four numbers a marked thread: seq, version and flags, position of the last mark and of the closing one. */
const ROW_CELLS = 4;
const FLAG = { closed: 1, resolved: 2, pinned: 4 } as const;
const FLAGS = 8;
const NOWHERE = -1;

export interface ThreadMarks {
  readonly version: number;
  readonly isClosed: boolean;
  readonly isResolved: boolean;
  readonly isPinned: boolean;
  /** Where the newest mark lies in the log; null when there is none. */
  readonly last: number | null;
  /** Where the mark that closed it lies, while it is closed. */
  readonly closing: number | null;
}

export const UNMARKED: ThreadMarks = {
  ...{ version: 0, isClosed: false, isResolved: false, isPinned: false },
  ...{ last: null, closing: null },
};

export interface FoundThreads {
  /** Seqs of roots, the newest first. */
  readonly seqs: readonly number[];
  /** Go on below this seq; 0 when there are no more. */
  readonly next: number;
  /** How many places were looked at. */
  readonly steps: number;
}

interface Chunk {
  cells: Uint32Array;
  /** How many roots here are threads, and how many of them are marked. */
  threads: number;
  marked: number;
}

interface FrozenThreads {
  readonly replies: readonly number[];
  readonly posts: readonly number[];
  readonly marks: readonly number[];
  readonly pins: readonly (number | string)[];
}

export class ThreadIndex {
  #chunks: (Chunk | undefined)[] = [];
  #rows = new Float64Array(ROW_CELLS);
  #rowCount = 0;
  /** The highest seq that is a reply or a post. */
  #head = 0;
  #newest = 0;
  /** Pinned threads and who pinned them; their number is bounded. */
  readonly #pins = new Map<number, string>();

  /** The seq of the newest root that is a thread; 0 when there is none. */
  get newest(): number {
    return this.#newest;
  }

  /** What its tables take of memory. */
  get bytes(): number {
    const chunks = this.#chunks.reduce((sum, chunk) => sum + (chunk?.cells.byteLength ?? 0), 0);
    return chunks + this.#rows.byteLength;
  }

  get pins(): ReadonlyMap<number, string> {
    return this.#pins;
  }

  addPost(seq: number): void {
    this.#become(seq);
    this.#set(seq, PLACE, this.#get(seq, PLACE) | POST);
    this.#head = seq;
  }

  addReply(seq: number, parent: number): void {
    const root = this.rootOf(parent);
    const last = this.#get(root, LINK);
    this.#become(root);
    this.#set(last === 0 ? root : last, NEXT, seq);
    this.#set(root, LINK, seq);
    this.#set(seq, LINK, root);
    this.#set(seq, PLACE, last === 0 ? 1 : this.#get(last, PLACE) + 1);
    this.#head = seq;
  }

  /** The first message of the thread; one that replies to nothing is its own. */
  rootOf(seq: number): number {
    const place = this.#get(seq, PLACE);
    return place > 0 && place < POST ? this.#get(seq, LINK) : seq;
  }

  /** How many replies a root has. */
  countOf(root: number): number {
    const last = this.lastOf(root);
    return last === 0 ? 0 : this.#get(last, PLACE);
  }

  /** The last reply to a root; 0 when there is none. */
  lastOf(root: number): number {
    return this.#get(root, LINK);
  }

  /** The reply that comes after a root or a reply in its thread; 0 when there is none. */
  after(seq: number): number {
    return this.#get(seq, NEXT);
  }

  /** Somebody replied to it, marked it, or it is a post. */
  isThread(root: number): boolean {
    return this.#get(root, PLACE) >= THREAD;
  }

  marksOf(root: number): ThreadMarks {
    const row = this.#rowOf(root);
    if (row === 0) return UNMARKED;
    const at = (row - 1) * ROW_CELLS;
    const state = this.#rows[at + 1] as number;
    const flags = state % FLAGS;
    const closing = this.#rows[at + 3] as number;
    return {
      version: Math.floor(state / FLAGS),
      isClosed: (flags & FLAG.closed) !== 0,
      isResolved: (flags & FLAG.resolved) !== 0,
      isPinned: (flags & FLAG.pinned) !== 0,
      last: this.#rows[at + 2] as number,
      closing: closing === NOWHERE ? null : closing,
    };
  }

  /** `by` is remembered of a pin. */
  mark(root: number, marks: ThreadMarks, by: string): void {
    this.#become(root);
    const flags =
      (marks.isClosed ? FLAG.closed : 0) +
      (marks.isResolved ? FLAG.resolved : 0) +
      (marks.isPinned ? FLAG.pinned : 0);
    const row = this.#rowOf(root) || this.#addRow(root);
    this.#rows.set(
      [root, marks.version * FLAGS + flags, marks.last ?? NOWHERE, marks.closing ?? NOWHERE],
      (row - 1) * ROW_CELLS,
    );
    if (!marks.isPinned) this.#pins.delete(root);
    else if (!this.#pins.has(root)) this.#pins.set(root, by);
  }

  /** Threads whose root lies below a seq, the newest first; `isMarked` passes over the parts without marks. */
  find(
    below: number,
    wanted: {
      readonly isMarked: boolean;
      isWanted(seq: number, marks: ThreadMarks): boolean;
      readonly limit: number;
      readonly stepsMax: number;
    },
  ): FoundThreads {
    const seqs: number[] = [];
    let steps = 0;
    let seq = Math.min(below - 1, this.#newest);
    while (seq > 0) {
      if (seqs.length >= wanted.limit || steps >= wanted.stepsMax) {
        return { seqs, next: seq + 1, steps };
      }
      steps++;
      const index = Math.floor((seq - 1) / CHUNK);
      const chunk = this.#chunks[index];
      const isEmpty = chunk === undefined || (wanted.isMarked ? chunk.marked : chunk.threads) === 0;
      if (isEmpty) {
        seq = index * CHUNK;
        continue;
      }
      if (this.isThread(seq) && wanted.isWanted(seq, this.marksOf(seq))) seqs.push(seq);
      seq--;
    }
    return { seqs, next: 0, steps };
  }

  /** What never changes is read as it is written; the rest is copied at once. */
  freeze(): object {
    const chunks = this.#chunks.map((chunk) => chunk?.cells);
    const head = this.#head;
    return {
      replies: new Runs(function* () {
        let before = 0;
        for (const [index, cells] of chunks.entries()) {
          const run: number[] = [];
          for (const [seq, place, link] of placesOf(index, cells, head)) {
            if (place === 0 || place >= POST) continue;
            run.push(seq - before, seq - link);
            before = seq;
          }
          if (run.length > 0) yield run;
        }
      }),
      posts: new Runs(function* () {
        for (const [index, cells] of chunks.entries()) {
          const run: number[] = [];
          for (const [seq, place] of placesOf(index, cells, head)) {
            if (place >= POST && (place & POST) !== 0) run.push(seq);
          }
          if (run.length > 0) yield run;
        }
      }),
      marks: Array.from(this.#rows.subarray(0, this.#rowCount * ROW_CELLS)),
      pins: [...this.#pins].flat(),
    };
  }

  static thaw(frozen: unknown): ThreadIndex {
    const { replies, posts, marks, pins } = frozen as FrozenThreads;
    const index = new ThreadIndex();
    for (const seq of posts) index.addPost(seq);
    let seq = 0;
    for (let i = 0; i < replies.length; i += 2) {
      seq += replies[i] as number;
      index.addReply(seq, seq - (replies[i + 1] as number));
    }
    index.#head = Math.max(seq, posts.at(-1) ?? 0);
    for (let i = 0; i < pins.length; i += 2) {
      index.#pins.set(pins[i] as number, pins[i + 1] as string);
    }
    for (let i = 0; i < marks.length; i += ROW_CELLS) {
      const root = marks[i] as number;
      index.#become(root);
      const row = index.#addRow(root);
      index.#rows.set(marks.slice(i, i + ROW_CELLS), (row - 1) * ROW_CELLS);
    }
    return index;
  }

  /** Everything it knows, for whoever compares two of them. */
  *facts(): Generator<string> {
    for (const [index, chunk] of this.#chunks.entries()) {
      for (const [seq, place, link] of placesOf(index, chunk?.cells, Number.POSITIVE_INFINITY)) {
        if (place === 0) continue;
        const { last, closing, ...marks } = this.marksOf(seq);
        yield place < POST
          ? `${seq} is reply ${place} to ${link}, before ${this.after(seq)}`
          : `${seq} is a thread, a post: ${(place & POST) !== 0}, first ${this.after(seq)}, last ${link}, ${JSON.stringify(marks)} ${last} ${closing}`;
      }
      yield `${index}: ${chunk?.threads ?? 0} threads, ${chunk?.marked ?? 0} marked`;
    }
    yield `newest ${this.#newest}, head ${this.#head}, pins ${JSON.stringify([...this.#pins])}`;
  }

  #become(root: number): void {
    const place = this.#get(root, PLACE);
    if (place >= THREAD) return;
    this.#set(root, PLACE, THREAD);
    this.#chunkOf(root).threads++;
    this.#newest = Math.max(this.#newest, root);
  }

  #rowOf(root: number): number {
    const place = this.#get(root, PLACE);
    return place >= THREAD ? place & ROW : 0;
  }

  #addRow(root: number): number {
    if ((this.#rowCount + 1) * ROW_CELLS > this.#rows.length) {
      const grown = new Float64Array(this.#rows.length * 2);
      grown.set(this.#rows);
      this.#rows = grown;
    }
    const row = ++this.#rowCount;
    this.#set(root, PLACE, this.#get(root, PLACE) + row);
    this.#chunkOf(root).marked++;
    return row;
  }

  #get(seq: number, cell: number): number {
    const chunk = this.#chunks[Math.floor((seq - 1) / CHUNK)];
    return chunk?.cells[((seq - 1) % CHUNK) * CELLS + cell] ?? 0;
  }

  #set(seq: number, cell: number, value: number): void {
    const chunk = this.#chunkOf(seq);
    const slot = (seq - 1) % CHUNK;
    if ((slot + 1) * CELLS > chunk.cells.length) {
      // Most channels are small: a chunk grows by doubling.
      const size = Math.min(CHUNK, 2 ** Math.ceil(Math.log2(Math.max(4, slot + 1))));
      const grown = new Uint32Array(size * CELLS);
      grown.set(chunk.cells);
      chunk.cells = grown;
    }
    chunk.cells[slot * CELLS + cell] = value;
  }

  #chunkOf(seq: number): Chunk {
    const index = Math.floor((seq - 1) / CHUNK);
    while (this.#chunks.length <= index) this.#chunks.push(undefined);
    const chunk = this.#chunks[index] ?? { cells: new Uint32Array(0), threads: 0, marked: 0 };
    this.#chunks[index] = chunk;
    return chunk;
  }
}

/** What is known of the messages of a chunk, up to a seq. */
function* placesOf(
  index: number,
  cells: Uint32Array | undefined,
  head: number,
): Generator<readonly [seq: number, place: number, link: number]> {
  for (let slot = 0; cells !== undefined && slot * CELLS < cells.length; slot++) {
    const seq = index * CHUNK + slot + 1;
    if (seq > head) return;
    yield [seq, cells[slot * CELLS + PLACE] as number, cells[slot * CELLS + LINK] as number];
  }
}
