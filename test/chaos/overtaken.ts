/** Numbers that grow with time: what was answered before another was asked has the lower one. */
import type { Done } from './history.ts';

export interface Numbered {
  readonly one: Done;
  readonly number: number;
  readonly from: number;
  /** When it was known; null: not by anybody. */
  readonly to: number | null;
}

/** Two acts, the first answered before the second was asked, with the numbers the wrong way round. */
export function firstOvertaken(
  acts: readonly Numbered[],
  isJudged: (one: Done) => boolean = () => true,
): readonly [Done, Done] | null {
  const asked = acts.filter(({ one }) => isJudged(one)).sort((a, b) => a.from - b.from);
  const ended = acts.filter(({ to }) => to !== null).sort((a, b) => (a.to ?? 0) - (b.to ?? 0));
  let highest: Numbered | null = null;
  let at = 0;
  for (const act of asked) {
    for (; at < ended.length && ((ended[at] as Numbered).to ?? 0) < act.from; at++) {
      const one = ended[at] as Numbered;
      if (highest === null || one.number > highest.number) highest = one;
    }
    if (highest !== null && highest.number > act.number) return [highest.one, act.one];
  }
  return null;
}
