/** The checker of the soak, by what it must notice: a soak that is blind passes whatever it is given. */
import { expect, test } from 'vitest';
import { checkEffects, type Effect, type Look, type Seen } from './soak/check.ts';

const seen = (name: string, order: number, isUndone = false): Seen => ({
  ...{ run: 'r', key: `r:${name}`, order, isUndone },
});
const effect = (name: string, round: number): Effect => ({ key: `r:${name}`, round });
const [one, two] = [seen('one', 1), seen('two', 2)];
const ended = [seen('one', 1, true), seen('two', 2, true)];
/** Killed after `one` was recorded and `two` was done; killed while `two` is undone; over. */
const LOOKS: readonly Look[] = [
  { round: 0, wasKilled: true, steps: [one] },
  { round: 1, wasKilled: true, steps: [one, two] },
  { round: 2, wasKilled: false, steps: ended },
];
const RIGHT = [
  ...[effect('one', 0), effect('two', 0), effect('two', 1), effect('two:compensate', 1)],
  ...[effect('two:compensate', 2), effect('one:compensate', 2)],
];
const faultsOf = (effects: readonly Effect[], looks = LOOKS) =>
  checkEffects(effects, looks).faults.join('\n');

test('[FW4] [FW8] what a process had not on record when it died may be done again, and is counted', () => {
  expect(checkEffects(RIGHT, LOOKS)).toEqual({ completions: 2, again: 2, againMax: 2, faults: [] });
});

test('[FW2] a completed step that runs again when its run is taken up is noticed, in each round', () => {
  const rerun = [...RIGHT.slice(0, 2), effect('one', 1), ...RIGHT.slice(2), effect('one', 2)];
  expect(faultsOf(rerun)).toContain('r:one was done in round 1, and was on record in round 0');
  expect(faultsOf(rerun)).toContain('r:one was done in round 2, and was on record in round 0');
  expect(faultsOf(rerun)).toContain('4 effects were made again, and at most 2 may');
});

test('[FW2] a step that runs twice in one process is noticed', () => {
  expect(faultsOf([...RIGHT, effect('two:compensate', 2)])).toContain('was undone as');
  expect(faultsOf([effect('one', 0), ...RIGHT])).toContain('3 effects were made again');
});

test('[FW8] an undoing in the order of the doing, twice, or of nothing is noticed', () => {
  const made = RIGHT.slice(0, 3);
  const [first, second] = [effect('one:compensate', 2), effect('two:compensate', 2)];
  expect(faultsOf([...made, second, first])).toBe('');
  expect(faultsOf([...made, first, second])).toContain(
    'r was undone as r:one:compensate, r:two:compensate, and not as r:two:compensate, r:one:compensate',
  );
  expect(faultsOf([...made, second, first, second])).toContain('was undone as');
  expect(faultsOf([...made, second])).toContain(
    'r:one:compensate is on record, and was never done',
  );
  const kept = LOOKS.with(2, { round: 2, wasKilled: false, steps: [one, two] });
  expect(faultsOf([...made, second], kept)).toContain(
    'r was undone as r:two:compensate, and not as',
  );
});

test('[FW2] a completion that was on record and is lost, or that nobody made, is noticed', () => {
  const lost = LOOKS.with(2, { round: 2, wasKilled: false, steps: [one] });
  expect(faultsOf(RIGHT.slice(0, 3), lost)).toBe('r:two was on record in round 1, and is lost');
  expect(faultsOf(RIGHT.slice(1))).toContain('r:one is on record, and was never done');
});
