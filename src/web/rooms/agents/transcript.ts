/** The lines of a turn, from what was told when it was asked for and what came since; bounded, the newest stay. Pure. */

export interface SaidLine {
  /** Unix seconds. */
  readonly at: number;
  readonly from: 'out' | 'err' | 'note';
  readonly text: string;
}

export const LINES_SHOWN = 500;

/** Both are in order; what both tell is told once. */
export function mergeLines(kept: readonly SaidLine[], since: readonly SaidLine[]): SaidLine[] {
  const last = kept.at(-1)?.at ?? 0;
  const known = new Set(kept.filter(({ at }) => at >= last - 1).map(keyOf));
  const fresh = since.filter((line) => line.at >= last && !known.has(keyOf(line)));
  return [...kept, ...fresh].slice(-LINES_SHOWN);
}

function keyOf({ at, from, text }: SaidLine): string {
  return `${at} ${from} ${text}`;
}
