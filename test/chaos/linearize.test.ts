/** The search for an order, against one that tries every order there is. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linearize, type Model, type Timed } from './linearize.ts';
import { type Answered, LOCK, REGISTER } from './models.ts';

/** Every order of every choice of the open acts: slow, and beyond doubt. */
function tryAll<S, A>(model: Model<S, A>, history: readonly Timed<A>[]): boolean {
  const goOn = (state: S, left: readonly Timed<A>[]): boolean => {
    if (left.every(({ to }) => to === null)) return true;
    return left.some((one) => {
      if (left.some((other) => other.to !== null && other.to < one.from)) return false;
      const next = model.step(state, one.act);
      return (
        next !== null &&
        goOn(
          next,
          left.filter((other) => other !== one),
        )
      );
    });
  };
  return goOn(model.initial, history);
}

const span = fc.record({
  from: fc.integer({ min: 0, max: 9 }),
  ms: fc.integer({ min: 0, max: 5 }),
});
const outcome = fc.constantFrom('ok', 'ok', 'ok', 'fail', 'unknown');
const by = fc.constantFrom('ada', 'bob', 'eve');
const value = fc.constantFrom('x', 'y', 'z');

function historyOf<A>(act: fc.Arbitrary<A>): fc.Arbitrary<Timed<Answered<A>>[]> {
  const one = fc.record({ act, outcome, by, span }).map(({ act, outcome, by, span }) => ({
    act: { act, outcome, by },
    from: span.from,
    to: outcome === 'unknown' ? null : span.from + span.ms,
  }));
  return fc.array(one as fc.Arbitrary<Timed<Answered<A>>>, { minLength: 1, maxLength: 6 });
}

const lockAct = fc.record({ op: fc.constantFrom('take', 'release'), key: fc.constant('k') });
const registerAct = fc.oneof(
  fc.record({ op: fc.constant('get'), key: fc.constant('k'), value: fc.option(value) }),
  fc.record({ op: fc.constant('set'), key: fc.constant('k'), to: value }),
  fc.record({ op: fc.constant('set'), key: fc.constant('k'), to: value, from: fc.option(value) }),
);

describe('[CH1] an order is found exactly where there is one', () => {
  const cases = [
    ['a lock', LOCK, historyOf(lockAct)],
    ['a value', REGISTER, historyOf(registerAct)],
  ] as const;
  for (const [name, model, histories] of cases) {
    test(name, () => {
      let [found, refused] = [0, 0];
      fc.assert(
        fc.property(histories as fc.Arbitrary<Timed<never>[]>, (history) => {
          const wanted = tryAll(model as Model<unknown, never>, history);
          const verdict = linearize(model as Model<unknown, never>, history);
          expect(verdict.isLinearizable).toBe(wanted);
          if (wanted) found++;
          else refused++;
        }),
        { numRuns: 4000 },
      );
      // Else the comparison would prove nothing.
      expect(Math.min(found, refused)).toBeGreaterThan(400);
    });
  }
});

test('[CH1] the witness is the first answer that breaks it, and what came later does not matter', () => {
  const act = (op: 'take' | 'release', by: string, from: number, to: number | null) => ({
    act: { act: { op, key: 'k' }, outcome: 'ok' as const, by },
    ...{ from, to },
  });
  const history = [
    act('take', 'ada', 0, 1),
    act('take', 'bob', 2, 3),
    act('release', 'eve', 4, 5),
    act('take', 'eve', 6, 7),
  ];
  expect(linearize(LOCK, history)).toMatchObject({ isLinearizable: false, witness: history[1] });
});

test('[CH1] a search that would not end is told as such, never as an order', () => {
  const history = Array.from({ length: 12 }, (_, i) => ({
    act: { act: { op: 'set' as const, key: 'k', to: `v${i}` }, outcome: 'ok' as const, by: 'ada' },
    ...{ from: 0, to: 100 },
  }));
  const read = {
    act: {
      act: { op: 'get' as const, key: 'k', value: 'none' },
      outcome: 'ok' as const,
      by: 'bob',
    },
    ...{ from: 101, to: 102 },
  };
  expect(linearize(REGISTER, [...history, read], 1_000)).toEqual({
    ...{ isLinearizable: null, tried: 1_000 },
  });
});
