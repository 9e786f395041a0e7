/** Deeds that follow each other and differ in nothing but their time are one line with a number. Pure. */
import type { CallOutput } from '../../../client/index.ts';

export type Deed = CallOutput<'audit.list'>['deeds'][number];

export interface Run {
  /** The newest of them. */
  readonly deed: Deed;
  readonly count: number;
}

export function runsOf(deeds: readonly Deed[]): Run[] {
  const runs: { deed: Deed; count: number }[] = [];
  for (const deed of deeds) {
    const last = runs.at(-1);
    if (last !== undefined && isLike(last.deed, deed)) last.count++;
    else runs.push({ deed, count: 1 });
  }
  return runs;
}

function isLike(one: Deed, other: Deed): boolean {
  return (
    one.actor === other.actor &&
    one.action === other.action &&
    one.subject === other.subject &&
    one.outcome === other.outcome
  );
}
