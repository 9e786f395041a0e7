/**
 * How much of what is large is taken in at once, by whatever door [SV7]. A body of a megabyte takes milliseconds to
 * read, parse and check, and hundreds may come together. Of what is large so much is read in one turn of the event
 * loop; whoever brings more goes on in a later turn, one at a time: first those who are under way, so that one is whole
 * before the next is held in memory. What is small never waits here, and is read and answered in between.
 */
export interface Reader {
  pause(): void;
  resume(): void;
}

/** A request or a frame that comes in. */
export interface Incoming {
  /** So many bytes of it have come, and more are to come. */
  took(bytes: number): void;
  /** It is whole, or nobody reads it any more; the next of the same reader begins. */
  end(): void;
}

export interface Intake {
  /** `expected` where it says how large it is. */
  open(reader: Reader, expected?: number): Incoming;
}

/** What is no larger is small. */
export const LARGE_BYTES: number = 128 * 1024;
/** Of what is large, in one turn. */
export const TURN_BYTES: number = 1024 * 1024;

interface Place {
  readonly reader: Reader;
  bytes: number;
  /** It has had a turn, and is read before those who have not. */
  isUnderWay: boolean;
}

export function createIntake(soon: (run: () => void) => void = setImmediate): Intake {
  const underWay = new Set<Place>();
  const others = new Set<Place>();
  let spent = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    soon(next);
  }

  function next(): void {
    isScheduled = false;
    spent = 0;
    for (const line of [underWay, others]) {
      for (const place of line) {
        line.delete(place);
        place.isUnderWay = true;
        // Who has nothing to say now spends nothing, and the turn after this is the next one's.
        schedule();
        place.reader.resume();
        return;
      }
    }
  }

  function took(place: Place, bytes: number): void {
    place.bytes += bytes;
    if (place.bytes <= LARGE_BYTES) return;
    spent += bytes;
    schedule();
    if (spent < TURN_BYTES || underWay.has(place) || others.has(place)) return;
    (place.isUnderWay ? underWay : others).add(place);
    place.reader.pause();
  }

  function end(place: Place): void {
    // As it is of nearly all.
    if (place.bytes === 0) return;
    place.bytes = 0;
    place.isUnderWay = false;
    if (underWay.delete(place) || others.delete(place)) place.reader.resume();
  }

  return {
    open(reader, expected = 0) {
      // One that says it is large is paced from its first byte on.
      const bytes = expected > LARGE_BYTES ? LARGE_BYTES : 0;
      const place: Place = { reader, bytes, isUnderWay: false };
      return { took: (more) => took(place, more), end: () => end(place) };
    },
  };
}

/** One for all doors, as there is one event loop. */
export const intake: Intake = createIntake();
