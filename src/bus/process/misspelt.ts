/** Which known word a word that is not known was meant to be: letters missing, added or swapped. */

/** Words that begin alike for so many letters are taken for one another: `policies` for `policy`. */
const SAME_BEGINNING = 5;

export function meantWord(given: string, known: readonly string[]): string | null {
  const name = plain(given);
  let best: string | null = null;
  let bestFar = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const one of known) {
    const far = distance(name, plain(one));
    if (far >= bestFar) continue;
    best = one;
    bestFar = far;
  }
  const beginning = name.slice(0, SAME_BEGINNING);
  if (best !== null || beginning.length < SAME_BEGINNING) return best;
  return known.find((one) => plain(one).startsWith(beginning)) ?? null;
}

const plain = (word: string): string => word.toLowerCase().replace(/[_-]/g, '').slice(0, 64);

/** How many letters must be added, left out, exchanged, or swapped with their neighbour. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
          isSwapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(a.length, b.length);
}
