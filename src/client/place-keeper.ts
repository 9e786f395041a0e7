/**
 * Where a stream is: the position to resume after, and which of the latest messages
 * have been seen, so that none is shown twice [K3]. A position below the highest is
 * not a repeat by itself: a held message keeps its old place when it is released.
 */
export interface PlaceKeeper {
  /** To resume after; null when nothing is known yet. */
  readonly last: number | null;
  /** Without having seen a message: the hub said where the stream begins. */
  startAt(position: number): void;
  /** False when this message was seen before. */
  admit(position: number): boolean;
}

/** As many as a resumed stream could possibly repeat, and some. */
const REMEMBERED_MAX = 20_000;

export function createPlaceKeeper(after: number | null): PlaceKeeper {
  const seen = new Set<number>();
  let last = after;
  return {
    get last() {
      return last;
    },
    startAt(position) {
      last ??= position;
    },
    admit(position) {
      if (seen.has(position) || position === after) return false;
      seen.add(position);
      if (seen.size > REMEMBERED_MAX) {
        // A set remembers the order of its members: the first is the oldest.
        for (const oldest of seen) {
          seen.delete(oldest);
          break;
        }
      }
      last = Math.max(last ?? position, position);
      return true;
    },
  };
}
