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

  among(members: ReadonlyMap<string, { readonly cursor: number }>, head: number): number {
    // Without members it is the head, which moves with every message and is not kept.
    if (members.size === 0) return head;
    if (this.#known < 0) {
      let lowest = head;
      for (const { cursor } of members.values()) lowest = Math.min(lowest, cursor);
      this.#known = lowest;
    }
    return this.#known;
  }
}
