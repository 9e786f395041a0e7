/**
 * Whether a history keeps what is promised: nothing acknowledged is lost, nothing is there twice, nothing that was
 * refused is there, every reader sees one order, a value is exchanged only for the one it was decided on, and a lock has
 * one holder [CH1]. What is broken is told in a sentence that names the acts, the shortest first.
 */
import { checkMessages } from './check-messages.ts';
import { checkReaders } from './check-readers.ts';
import { type Act, type ActOf, type Done, describe, type History, isOf } from './history.ts';
import { linearize, type Model, type Timed } from './linearize.ts';
import { type Answered, LOCK, REGISTER } from './models.ts';
import { firstOvertaken } from './overtaken.ts';

export function check({ done, ...history }: History): string[] {
  const values = done.filter((one) => isOf(one, 'set', 'get'));
  const locks = done.filter((one) => isOf(one, 'take', 'release'));
  return [
    ...checkMessages({ done, ...history }),
    ...checkReaders({ done, ...history }),
    ...checkKeys(values, REGISTER),
    ...checkKeys(locks, LOCK),
    ...checkNumbers(done),
  ].sort((a, b) => a.length - b.length);
}

type KeyAct = ActOf<'set' | 'get' | 'take' | 'release'>;

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
  const { act, by, from, since, to, outcome } = one;
  const end = outcome === 'unknown' ? null : to;
  return { act: { act, outcome, by }, from: since ?? from, to: end, one };
}

/** A version is of one value and an epoch of one holder, and what comes later has the higher one. */
function checkNumbers(all: readonly Done[]): string[] {
  const broken: string[] = [];
  const numbered = all.flatMap((one) => {
    const { act, outcome } = one;
    if (outcome !== 'ok') return [];
    if (act.op === 'take' && act.epoch !== undefined)
      return [{ one, key: act.key, number: act.epoch, whose: one.by }];
    if (act.op === 'set' && act.version !== undefined)
      return [{ one, key: act.key, number: act.version, whose: act.to }];
    if (act.op === 'get' && act.version !== undefined)
      return [{ one, key: act.key, number: act.version, whose: act.value ?? '' }];
    return [];
  });
  for (const [key, acts] of Map.groupBy(numbered, (one) => one.key)) {
    const whose = new Map<number, (typeof acts)[0]>();
    for (const act of acts) {
      const known = whose.get(act.number);
      whose.set(act.number, known ?? act);
      if (known !== undefined && known.whose !== act.whose) {
        const both = `${describe(known.one)} and ${describe(act.one)}`;
        broken.push(`${key}: ${both} have the same number ${act.number}`);
      }
    }
    const writes = acts.filter(({ one }) => one.act.op !== 'get');
    const late = firstOvertaken(
      writes.map(({ one, number }) => ({ one, number, from: one.from, to: one.to })),
    );
    if (late !== null)
      broken.push(
        `${key}: ${describe(late[1])} has a lower number than ${describe(late[0])} before it`,
      );
  }
  return broken;
}
