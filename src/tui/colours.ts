/**
 * A colour for each who speaks or holds something, given in the order they are met: the first ten
 * differ. Red is kept for what went wrong. Bounded; who comes later is shown without one.
 */
import type { Colour } from './spans.ts';

export type Colours = ReadonlyMap<string, Colour>;

const PALETTE: readonly Colour[] = [
  ...(['cyan', 'green', 'magenta', 'yellow', 'blue'] as const),
  ...(['cyanBright', 'greenBright', 'magentaBright', 'yellowBright', 'blueBright'] as const),
];
const NAMES_MAX = 500;

export function giveColours(colours: Colours, names: Iterable<string>): Colours {
  let given: Map<string, Colour> | null = null;
  for (const name of names) {
    const known = given ?? colours;
    if (known.has(name) || known.size >= NAMES_MAX) continue;
    given ??= new Map(colours);
    given.set(name, PALETTE[given.size % PALETTE.length] as Colour);
  }
  return given ?? colours;
}
