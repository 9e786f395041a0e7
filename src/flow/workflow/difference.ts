/**
 * Why a run is stuck, for a person: where the code first went another way than the record, and the ways out
 * [FW7]. What stands after the first step that is missing was never reached, and says nothing of the change.
 */

import { nearest } from '../../core/law/nearest.ts';
import { DIFFERENCE_CHARS_MAX } from '../../core/workflows/workflow-limits.ts';
import { stepName } from './journal.ts';
import type { StepView } from './seam.ts';

interface Asked {
  readonly step: string;
  readonly key: string | null;
}

/** What was seen of code that went another way. */
export interface Difference {
  readonly run: string;
  /** On record, and not asked for. */
  readonly missing: readonly StepView[];
  /** Asked for, and not on record. */
  readonly asked: readonly Asked[];
  /** How long it was waited for; null: the code has ended, and asks for nothing more. */
  readonly waitedMs: number | null;
}

export function describeDifference({ run, missing, asked, waitedMs }: Difference): string {
  const [first, ...others] = missing.toSorted(isEarlier);
  if (first === undefined) return withWaysOut(run, []);
  const names = asked.map(({ step }) => step);
  const isAlone = asked.length === 1 && !others.some((one) => isBeside(first, one));
  const now = nearest(first.step, names, 1)[0] ?? (isAlone ? names[0] : undefined);
  const how = waitedMs === null ? 'not asked for any more' : `not asked for within ${waitedMs} ms`;
  const perhaps = now === undefined ? '' : `; perhaps it is ${now} now`;
  return withWaysOut(
    run,
    [
      `on record, and ${how}: ${first.kind} ${stepName(first.step, first.key)}${perhaps}`,
      ...asked
        .slice(0, SHOWN_MAX)
        .map(({ step, key }) => `asked for, and not on record: ${stepName(step, key)}`),
      ...(waitedMs === null || asked.length > 0
        ? []
        : ['The code may only be slow: openFlow({ replayGraceMs }) gives it more time.']),
    ],
    now !== undefined && isAlone ? mapping(first.step, now) : null,
  );
}

const SHOWN_MAX = 5;

/** Outcomes by their place, then what has none by when it began. */
function isEarlier(a: StepView, b: StepView): number {
  const place = (a.order ?? Infinity) - (b.order ?? Infinity);
  return Number.isNaN(place) ? (a.started_at ?? 0) - (b.started_at ?? 0) : place;
}

/** It ran while the first one did: neither stands before the other. Times are kept by the millisecond. */
function isBeside(first: StepView, { started_at: from }: StepView): boolean {
  return from !== null && first.ended_at !== null && from < first.ended_at - 0.001;
}

/** For a shell; null for names that `--map` cannot tell apart. */
function mapping(before: string, after: string): string | null {
  const pair = `${before}=${after}`;
  if (pair.split('=').length !== 2) return null;
  // Names have no quotation marks, and some signs that a shell would obey.
  return /^[\w.:/@+=%-]+$/.test(pair) ? pair : `'${pair}'`;
}

export function withWaysOut(
  run: string,
  lines: readonly string[],
  mapped: string | null = null,
): string {
  const ways = [
    `Three ways out: put the module back that began the run, then "synod workflow retry ${run}";`,
    `say what a step is called now, "synod workflow retry ${run} --map ${mapped ?? 'OLD=NEW'}";`,
    `or go on in a new run from before it, "synod workflow fork ${run} --at STEP".`,
  ].join('\n');
  const told = lines.join('\n').slice(0, DIFFERENCE_CHARS_MAX - ways.length - 1);
  return `${told}\n${ways}`;
}
