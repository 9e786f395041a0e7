/** Which known names a misspelt one may have meant: those few exchanges away, nearest first. */

const DISTANCE_MAX = 2;

export function nearest(name: string, known: readonly string[], max: number): string[] {
  return (
    known
      .map((one) => ({ one, far: distance(name, one) }))
      // A short word of which most was exchanged is another word.
      .filter(({ far }) => far <= DISTANCE_MAX && far * 2 < name.length)
      .sort((a, b) => a.far - b.far)
      .slice(0, max)
      .map(({ one }) => one)
  );
}

/** How many characters must be added, left out, exchanged, or swapped with the next one. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const other = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : other;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, other, swapped));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
