import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_RESTARTS, planRestart, type WorkerEnd } from './restart.ts';
import type { RestartLimits } from './spec.ts';

const limits: RestartLimits = {
  policy: 'always',
  restartsMax: 5,
  windowMs: 60_000,
  waitMsMin: 100,
  waitMsMax: 1_000,
  healthyAfterMs: 10_000,
};
const failure: WorkerEnd = { at: 0, isClean: false, readyForMs: null };
const most = () => 0.999_999;

/** Ends at these times, one after the other: the waits that follow. */
function waits(changes: Partial<RestartLimits>, ends: Partial<WorkerEnd>[], random = most) {
  let history = NO_RESTARTS;
  return ends.map((end) => {
    const plan = planRestart({ ...limits, ...changes }, history, { ...failure, ...end }, random);
    history = plan.history;
    expect(plan.because === null).toBe(plan.waitMs !== null);
    return plan.waitMs;
  });
}

test('[RS1] the policy decides: always, after a failure, or never', () => {
  const rows = [
    ['always', true, 100],
    ['always', false, 100],
    ['on-failure', true, null],
    ['on-failure', false, 100],
    ['never', true, null],
    ['never', false, null],
  ] as const;
  for (const [policy, isClean, waitMs] of rows) {
    expect(waits({ policy }, [{ isClean }])).toEqual([waitMs]);
  }
  expect(waits({ restartsMax: 0 }, [{}])).toEqual([null]);
});

test('[RS2] more restarts than allowed inside the window, and the place is given up', () => {
  const at = (...times: number[]) => times.map((time) => ({ at: time }));
  const flat = { restartsMax: 2, waitMsMax: 100 };
  expect(waits(flat, at(0, 1, 2))).toEqual([100, 100, null]);
  expect(waits(flat, at(0, 30_000, 59_999))).toEqual([100, 100, null]);
  // The window slides: the first restart has left it, the second has not.
  expect(waits(flat, at(0, 30_000, 60_000, 60_001))).toEqual([100, 100, 100, null]);
});

test('[RS3] waits double up to the largest, and jitter takes away at most half', () => {
  const ends = Array.from({ length: 5 }, (_, n) => ({ at: n }));
  expect(waits({}, ends)).toEqual([100, 200, 400, 800, 1_000]);
  expect(waits({}, ends, () => 0)).toEqual([50, 100, 200, 400, 500]);
});

test('[RS4] after health the waits begin anew, but the window does not', () => {
  const ends = [
    { at: 0 },
    { at: 1 },
    { at: 20_000, readyForMs: 10_000 },
    { at: 20_001, readyForMs: 9 },
  ];
  expect(waits({}, ends)).toEqual([100, 200, 100, 200]);
  expect(waits({ restartsMax: 2 }, ends.slice(0, 3))).toEqual([100, 200, null]);
});

test('[RS2] [RS3] no history of ends exceeds the limit, the bound of a wait, or its memory', () => {
  const end = fc.record({
    afterMs: fc.nat(20_000),
    isClean: fc.boolean(),
    readyForMs: fc.option(fc.nat(20_000)),
    chance: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(end, { maxLength: 100 }), (ends) => {
      let history = NO_RESTARTS;
      let at = 0;
      const restarts: number[] = [];
      for (const { afterMs, chance, ...rest } of ends) {
        at += afterMs;
        const plan = planRestart(limits, history, { at, ...rest }, () => chance);
        history = plan.history;
        if (plan.waitMs !== null) {
          restarts.push(at);
          expect(plan.waitMs).toBeGreaterThanOrEqual(50);
          expect(plan.waitMs).toBeLessThanOrEqual(1_000);
        }
        const inside = restarts.filter((one) => one > at - limits.windowMs);
        expect(inside.length).toBeLessThanOrEqual(limits.restartsMax);
        expect(history.restartedAt.length).toBeLessThanOrEqual(limits.restartsMax);
      }
    }),
  );
});
