/**
 * Batches of a stream by position. Where a position lies is found by looking at messages between two that are
 * known, as one opens a dictionary; many in a row are streamed.
 */
import { brokeOff, streamFrom } from './consume.ts';
import { API, apiCode } from './failure.ts';
import type { Link } from './link.ts';
import { createAssembler, readMessage, type Stored, type Whole } from './message.ts';
import { Places } from './places.ts';
import { Shelf } from './shelf.ts';

export interface Reader {
  /** Null when there is none. */
  message(seq: number): Promise<Stored | null>;
  /** The batch whose parts begin there; null when one was not finished. */
  whole(firstSeq: number): Promise<Whole | null>;
  /** The batch that holds the position. `end` is a point behind it. */
  find(
    position: number,
    end: { readonly length: number; readonly seq: number },
  ): Promise<Whole | null>;
  /** Batches that begin from this sequence on, through the last that begins at or before `lastSeq`. */
  from(seq: number, lastSeq: number): AsyncGenerator<Whole>;
  /** What was stored there, now that it is known: it is at hand until it was read. */
  learn(whole: Whole): void;
  /** Nobody is about to read it: it need not be at hand for long. */
  pass(whole: Whole): void;
}

/** So many batches are asked for one by one; who reads on then has them streamed. */
const FEW = 16;
/** Of what is known and was not read yet. */
const UNREAD_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Of what was read: neighbours are asked for one by one. Little, so that it is dropped young: what outlives two collections
 * of the young lies there until all is collected, and a busy space would have that done several times a second.
 */
const READ_BYTES_MAX = 512 * 1024;
/** On the way at a time, about: whoever stops reading has not had all the rest sent to it. */
const STREAMED_BYTES = 2 * 1024 * 1024;
const STREAMED_MIN = 4;
const STREAMED_MAX = 256;

export function createReader(link: Link, stream: string): Reader {
  const { manager } = link;
  const places = new Places();
  const unread = new Shelf(UNREAD_BYTES_MAX);
  const read = new Shelf(READ_BYTES_MAX);

  function atHand(firstSeq: number): Whole | undefined {
    return unread.get(firstSeq) ?? read.get(firstSeq);
  }

  function learn(whole: Whole): void {
    places.add({ first: whole.batch.first, seq: whole.firstSeq });
    if (!read.has(whole.firstSeq)) unread.put(whole);
  }

  function pass(whole: Whole): void {
    places.add({ first: whole.batch.first, seq: whole.firstSeq });
    unread.take(whole.firstSeq);
    read.put(whole);
  }

  async function message(seq: number): Promise<Stored | null> {
    try {
      // Any server may answer; one that is behind does not know it yet, and the leader is asked.
      const near = await manager.direct.getMessage(stream, { seq }).catch(() => null);
      const found = near ?? (await manager.streams.getMessage(stream, { seq }));
      return found === null ? null : readMessage(found);
    } catch (error) {
      if (apiCode(error) === API.noMessage) return null;
      throw error;
    }
  }

  async function whole(firstSeq: number, known?: Stored): Promise<Whole | null> {
    const held = atHand(firstSeq);
    if (held !== undefined) return held;
    const first = known ?? (await message(firstSeq));
    if (first?.label == null || first.label.part !== 1) return null;
    const assemble = createAssembler();
    let made = assemble(first);
    const rest = Array.from({ length: first.label.parts - 1 }, (_, i) => message(firstSeq + 1 + i));
    for (const part of await Promise.all(rest)) made = part === null ? null : assemble(part);
    if (made !== null) pass(made);
    return made;
  }

  return {
    message,
    whole: (firstSeq) => whole(firstSeq),
    ...{ learn, pass },
    async find(position, end) {
      const { low: below, high: above } = places.around(position);
      const near = below === null ? undefined : atHand(below.seq);
      if (near !== undefined && holds(near, position)) return near;
      let low = below ?? { first: 0, seq: 1 };
      let high = above ?? { first: end.length, seq: end.seq + 1 };
      for (let turn = 0; low.seq < high.seq; turn++) {
        const share = (position - low.first) / Math.max(1, high.first - low.first);
        const span = high.seq - low.seq;
        // Where batches are of very different sizes a guess may be off again and again; halves never are.
        const guess = turn % 2 === 0 ? Math.floor(share * span) : span >> 1;
        const seq = low.seq + Math.min(span - 1, Math.max(0, guess));
        const held = atHand(seq);
        if (held !== undefined && holds(held, position)) return held;
        const stored = await message(seq);
        const label = stored?.label;
        if (stored === null || label == null || position < label.first) {
          high = { first: label?.first ?? high.first, seq };
          continue;
        }
        if (position < label.first + label.count) {
          const found = await whole(seq - label.part + 1, label.part === 1 ? stored : undefined);
          if (found !== null && holds(found, position)) return found;
        }
        const behind = position >= label.first + label.count ? label.count : 0;
        low = { first: label.first + behind, seq: seq + 1 };
      }
      return null;
    },
    async *from(firstSeq, lastSeq) {
      let seq = firstSeq;
      let bytes = 0;
      // What is at hand costs nothing, however much it is.
      for (let asked = 0; seq <= lastSeq && (asked < FEW || atHand(seq) !== undefined); ) {
        if (atHand(seq) === undefined) asked++;
        const found = await whole(seq);
        bytes += found?.batch.bytes.byteLength ?? 0;
        if (found !== null) yield found;
        seq = found === null ? seq + 1 : found.lastSeq + 1;
      }
      if (seq > lastSeq) return;
      // Those that follow will be about as large as those before them.
      const fitting = Math.floor((STREAMED_BYTES * (seq - firstSeq)) / Math.max(1, bytes));
      const atOnce = Math.max(STREAMED_MIN, Math.min(STREAMED_MAX, fitting));
      const assemble = createAssembler();
      for await (const one of streamFrom(link, stream, seq, atOnce)) {
        const found = assemble(readMessage(one));
        if (found !== null) {
          places.add({ first: found.batch.first, seq: found.firstSeq });
          yield found;
        }
        if (one.seq >= lastSeq) return;
      }
      throw brokeOff(stream);
    },
  };
}

function holds({ batch }: Whole, position: number): boolean {
  return position >= batch.first && position < batch.first + batch.count;
}
