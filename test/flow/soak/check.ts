/**
 * What a soak's effects are held against: what was on record when each round ended, as it was looked up then. So
 * it needs no clock: an effect of a round is one too many when its completion was on record before the round began.
 */
export interface Effect {
  /** The key that the step was handed. */
  readonly key: string;
  readonly round: number;
}

/** A step that has a completion. */
export interface Seen {
  readonly run: string;
  readonly key: string;
  /** Its place among the completions of the run. */
  readonly order: number;
  /** Whether it was undone is on record as well. */
  readonly isUndone: boolean;
}

/** What was on record when a round was over. */
export interface Look {
  readonly round: number;
  readonly wasKilled: boolean;
  readonly steps: readonly Seen[];
}

export interface Checked {
  readonly completions: number;
  /** Effects that were made more than once. */
  readonly again: number;
  /** As many as may have been: made in a round that was killed before they were on record. */
  readonly againMax: number;
  readonly faults: readonly string[];
}

const UNDO = ':compensate';

/** `effects` in the order in which they were made, `looks` in the order of their rounds. */
export function checkEffects(effects: readonly Effect[], looks: readonly Look[]): Checked {
  const faults: string[] = [];
  const onRecord = looks.map(({ round, steps }) => ({
    round,
    keys: new Set(steps.flatMap(keysOf)),
  }));
  for (const { key, round } of effects) {
    const before = onRecord.find((look) => look.round < round && look.keys.has(key));
    if (before === undefined) continue;
    faults.push(`${key} was done in round ${round}, and was on record in round ${before.round}`);
  }

  let againMax = 0;
  for (const { round, wasKilled, steps } of looks) {
    const kept = new Set(steps.flatMap(keysOf));
    const made = new Set(effects.filter((one) => one.round === round).map(({ key }) => key));
    if (wasKilled) againMax += [...made].filter((key) => !kept.has(key)).length;
  }
  const made = new Set(effects.map(({ key }) => key));
  const again = effects.length - made.size;
  if (again > againMax)
    faults.push(`${again} effects were made again, and at most ${againMax} may`);

  const last = looks.at(-1)?.steps ?? [];
  for (const key of last.flatMap(keysOf)) {
    if (!made.has(key)) faults.push(`${key} is on record, and was never done`);
  }
  const ever = new Set(last.map(({ key }) => key));
  for (const { round, steps } of looks) {
    for (const { key } of steps) {
      if (!ever.has(key)) faults.push(`${key} was on record in round ${round}, and is lost`);
    }
  }
  faults.push(...checkUndoing(effects, last));
  return { completions: last.length, again, againMax, faults };
}

function keysOf({ key, isUndone }: Seen): string[] {
  return isUndone ? [key, `${key}${UNDO}`] : [key];
}

/** The last done is undone first, and each once; but one whose process died meanwhile may be undone anew. */
function checkUndoing(effects: readonly Effect[], last: readonly Seen[]): string[] {
  const faults: string[] = [];
  for (const [run, steps] of Map.groupBy(last, ({ run }) => run)) {
    const undone = steps.filter(({ isUndone }) => isUndone);
    const right = undone.sort((a, b) => b.order - a.order).map(({ key }) => `${key}${UNDO}`);
    const keys = new Set(steps.map(({ key }) => `${key}${UNDO}`));
    const made = effects.filter(({ key }) => keys.has(key));
    const order = made.filter(
      ({ key, round }, i) => made[i - 1]?.key !== key || made[i - 1]?.round === round,
    );
    const said = order.map(({ key }) => key).join(', ');
    if (said !== right.join(', ')) {
      faults.push(`${run} was undone as ${said || 'nothing'}, and not as ${right.join(', ')}`);
    }
  }
  return faults;
}
