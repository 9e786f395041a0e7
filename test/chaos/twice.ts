/** What may be told once and was told twice: of turns, of steps of a run, of whatever has a key. */
import { type Done, describe } from './history.ts';

export function twice<D extends Done>(
  all: readonly D[],
  keyOf: (one: D) => string,
  what: string,
): string[] {
  return [...Map.groupBy(all, keyOf).values()].flatMap(([first, second]) =>
    first === undefined || second === undefined
      ? []
      : [`${what}: ${describe(first)} and ${describe(second)}`],
  );
}
