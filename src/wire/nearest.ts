/** Which known names a misspelt one may have meant: those few exchanges away, nearest first. */

const DISTANCE_MAX = 2;

export function nearest(name: string, known: readonly string[], max: number): string[] {
  return (
    known
      .map((one) => ({ one, far: distance(name, one) }))
      // A short word of which most was exchanged is another word.
      .filter(({ far }) => far <= DISTANCE_MAX && far * 2 <= name.length)
      .sort((a, b) => a.far - b.far)
      .slice(0, max)
      .map(({ one }) => one)
  );
}

/** How many characters must be added, left out or exchanged. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, swap));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
