/**
 * The lowest cursor among the members of a channel, counted when it is asked for and
 * kept until a cursor moves. Keeping it is no change of the state: whoever asks gets
 * what counting anew would give.
 */
export class LowestCursor {
  #known = -1;

  /** A cursor moved, or a member came or went. */
  forget(): void {
    this.#known = -1;
  }

  /** `head` when there are no members. */
  among(members: Iterable<{ readonly cursor: number }>, head: number): number {
    if (this.#known < 0) {
      let lowest = head;
      for (const { cursor } of members) lowest = Math.min(lowest, cursor);
      this.#known = lowest;
    }
    return this.#known;
  }
}
