/** Which sequence of a stream a batch begins at: points that were met before, to look between. */

export interface Point {
  /** The position of the first entry. */
  readonly first: number;
  readonly seq: number;
}

const POINTS_MAX = 65_536;

export class Places {
  #points: Point[] = [];

  /** The last point at or before the position, and the first behind it. */
  around(position: number): { readonly low: Point | null; readonly high: Point | null } {
    const at = this.#after(position);
    return { low: this.#points[at - 1] ?? null, high: this.#points[at] ?? null };
  }

  add(point: Point): void {
    const at = this.#after(point.first);
    if (this.#points[at - 1]?.first === point.first) {
      this.#points[at - 1] = point;
      return;
    }
    this.#points.splice(at, 0, point);
    // Half of them are as good to look between.
    if (this.#points.length > POINTS_MAX) this.#points = this.#points.filter((_, i) => i % 2 === 0);
  }

  #after(position: number): number {
    let low = 0;
    for (let high = this.#points.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((this.#points[middle] as Point).first <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
