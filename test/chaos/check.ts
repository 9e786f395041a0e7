/**
 * Whether a history keeps what is promised: nothing acknowledged is lost, nothing is there twice, nothing that was
 * refused is there, every reader sees one order, a value is exchanged only for the one it was decided on, a lock has
 * one holder, a gate one answer, a turn is run by one at a time, and each step of a run happens once [CH1]. What is broken is told in a sentence that names the acts, the shortest first.
 */

import { checkMessages } from './check-messages.ts';
import { checkNumbers } from './check-numbers.ts';
import { checkReaders } from './check-readers.ts';
import { checkRuns } from './check-runs.ts';
import { checkTurns } from './check-turns.ts';
import { type Act, type ActOf, type Done, describe, type History, isOf } from './history.ts';
import { linearize, type Model, type Timed } from './linearize.ts';
import { type Answered, GATE, LOCK, REGISTER } from './models.ts';

export function check({ done, ...history }: History): string[] {
  const values = done.filter((one) => isOf(one, 'set', 'get'));
  const locks = done.filter((one) => isOf(one, 'take', 'release', 'holder'));
  const gates = done.filter((one) => isOf(one, 'decide', 'consume', 'gate'));
  return [
    ...checkMessages({ done, ...history }),
    ...checkReaders({ done, ...history }),
    ...checkKeys(values, REGISTER),
    ...checkKeys(locks, LOCK),
    ...checkKeys(gates, GATE),
    ...checkTurns({ done, ...history }),
    ...checkRuns({ done, ...history }),
    ...checkNumbers(done),
  ].sort((a, b) => a.length - b.length);
}

type KeyAct = ActOf<'set' | 'get' | 'take' | 'release' | 'holder' | 'decide' | 'consume' | 'gate'>;

interface Placed<A extends Act> extends Timed<Answered<A>> {
  readonly one: Done<A>;
}

function checkKeys<S, A extends KeyAct>(
  all: readonly Done<A>[],
  model: Model<S, Answered<A>>,
): string[] {
  const broken: string[] = [];
  for (const [key, done] of Map.groupBy(all, ({ act }) => act.key)) {
    const verdict = linearize(model, done.filter(isTelling).map(placedOf));
    if (verdict.isLinearizable === true) continue;
    if (verdict.isLinearizable === null) {
      broken.push(`${key}: no order was found in ${verdict.tried} tries, and none ruled out`);
      continue;
    }
    const before = verdict.placed.slice(-2).map(({ one }) => describe(one));
    const after = before.length === 0 ? 'at the beginning' : `after ${before.join(' and ')}`;
    broken.push(`${key}: no order explains ${describe(verdict.witness.one)} ${after}`);
  }
  return broken;
}

/** A read that failed says nothing. */
function isTelling({ act, outcome }: Done): boolean {
  return act.op !== 'get' || outcome === 'ok';
}

function placedOf<A extends Act>(one: Done<A>): Placed<A> {
  const { act, by, from, to, outcome } = one;
  const end = outcome === 'unknown' ? null : to;
  return { act: { act, outcome, by }, from, to: end, one };
}
