/**
 * Versions and epochs: one is of one value or holder, what comes later has the higher one, and the copy that a server
 * reads from never goes back, nor behind what was written through it.
 */
import { type ActOf, type Done, describe, isOf } from './history.ts';
import { firstOvertaken, type Numbered } from './overtaken.ts';

interface KeyNumber extends Numbered {
  readonly one: Done<ActOf<'take' | 'set' | 'get'>>;
  readonly whose: string | null;
}

export function checkNumbers(all: readonly Done[]): string[] {
  const broken: string[] = [];
  const numbered = all
    .filter((one) => one.outcome === 'ok' && isOf(one, 'take', 'set', 'get'))
    .flatMap((one) => numberOf(one as KeyNumber['one']));
  for (const [key, acts] of Map.groupBy(numbered, ({ one }) => one.act.key)) {
    const writes = acts.filter(({ one }) => one.act.op !== 'get');
    const copies = Map.groupBy(acts, ({ one }) => one.copy);
    copies.delete(undefined);
    const told = [
      ...checkSame(acts),
      overtaken(writes, () => true),
      ...[...copies.values()].map((copy) => overtaken(copy, ({ act }) => act.op === 'get')),
    ];
    broken.push(...told.flatMap((what) => (what === null ? [] : [`${key}: ${what}`])));
  }
  return [...broken, ...checkSet(all)];
}

function numberOf(one: KeyNumber['one']): KeyNumber[] {
  const { act, by, from, to } = one;
  const number = act.op === 'take' ? act.epoch : act.version;
  const whose = act.op === 'take' ? by : act.op === 'set' ? act.to : act.value;
  return number === undefined ? [] : [{ one, number, whose, from, to }];
}

function checkSame(acts: readonly KeyNumber[]): string[] {
  const broken: string[] = [];
  const known = new Map<number, KeyNumber>();
  for (const act of acts) {
    const other = known.get(act.number) ?? act;
    known.set(act.number, other);
    if (other.whose === act.whose) continue;
    const both = `${describe(other.one)} and ${describe(act.one)}`;
    broken.push(`${both} have the same number ${act.number}`);
  }
  return broken;
}

function overtaken(
  acts: readonly KeyNumber[],
  isJudged: (one: KeyNumber['one']) => boolean,
): string | null {
  const late = firstOvertaken(acts, isJudged as (one: Done) => boolean);
  if (late === null) return null;
  return `${describe(late[1])} has a lower number than ${describe(late[0])} before it`;
}

/** What is read was set by somebody, and not by one who was refused. */
function checkSet(all: readonly Done[]): string[] {
  const sets = all.filter((one) => isOf(one, 'set') && one.outcome !== 'fail');
  const values = new Set(sets.map((one) => isOf(one, 'set') && `${one.act.key} ${one.act.to}`));
  return all.flatMap((one) => {
    if (!isOf(one, 'get') || one.outcome !== 'ok' || one.act.value === null) return [];
    if (values.has(`${one.act.key} ${one.act.value}`)) return [];
    return [`${one.act.key}: ${describe(one)}, which nobody set`];
  });
}
