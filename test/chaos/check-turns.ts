/**
 * Turns: each time of one is handed out once, later times have higher epochs, whoever was overtaken ends nothing any more, a
 * turn ends once and what it consumed is in no later one, and every message that is there was given to one.
 */
import { type ActOf, type Done, describe, type History, isOf } from './history.ts';
import { firstOvertaken } from './overtaken.ts';
import { twice } from './twice.ts';

type Begin = Done<ActOf<'begin'>>;
type Finish = Done<ActOf<'finish'>>;

export function checkTurns({ done, readings }: History): string[] {
  const begins = done.filter((one) => isOf(one, 'begin')) as Begin[];
  const ended = done.filter((one) => isOf(one, 'finish') && one.outcome === 'ok') as Finish[];
  return [...Map.groupBy(begins, ({ act }) => act.agent)].flatMap(([agent, all]) => {
    const begun = all.filter(({ outcome }) => outcome === 'ok');
    const finished = ended.filter(({ act }) => act.agent === agent);
    return [
      ...twice(begun, ({ act }) => `${act.turn} ${act.epoch}`, 'turn: handed out twice'),
      ...twice(finished, ({ act }) => act.turn, 'turn: ended twice'),
      ...checkEpochs(begun),
      ...finished.flatMap((one) => checkEnded(one, begun)),
      ...checkGiven(all, readings),
    ];
  });
}

function checkEpochs(begun: readonly Begin[]): string[] {
  const late = firstOvertaken(
    begun.map((one) => ({ one, number: one.act.epoch ?? 0, from: one.from, to: one.to })),
  );
  if (late === null) return [];
  return [`turn: ${describe(late[1])} has a lower epoch than ${describe(late[0])} before it`];
}

/** By an acknowledged end nobody else had begun, and nobody begins it or its messages afterwards. */
function checkEnded(end: Finish, begun: readonly Begin[]): string[] {
  const { turn, epoch } = end.act;
  const given = new Set(
    begun.find(({ act }) => act.turn === turn && act.epoch === epoch)?.act.given,
  );
  return begun.flatMap((one) => {
    const isBefore = one.to !== null && one.to < end.from;
    if (isBefore && (one.act.epoch ?? 0) > epoch)
      return [`turn: overtaken: ${describe(end)} although ${describe(one)} was before it`];
    if (end.to === null || one.from < end.to) return [];
    if (one.act.turn === turn) return [`turn: not over: ${describe(one)} after ${describe(end)}`];
    const again = one.act.given?.find((text) => given.has(text));
    if (again === undefined) return [];
    return [`turn: given again: "${again}" by ${describe(one)} after ${describe(end)}`];
  });
}

function checkGiven(all: readonly Begin[], readings: History['readings']): string[] {
  const [first] = all;
  const there = readings.find(({ channel }) => channel === first?.act.channel)?.messages ?? [];
  const given = new Set(all.flatMap(({ act }) => act.given ?? []));
  const kept = there.filter(({ text }) => !given.has(text));
  const lost = all.filter(({ outcome }) => outcome === 'unknown');
  const hidden = lost.reduce((sum, { act }) => sum + act.max, 0);
  if (first === undefined || kept.length <= hidden) return [];
  const { agent, channel } = first.act;
  return [
    `turn: kept back: ${kept.length} of ${channel} began no turn of ${agent}, the first "${kept[0]?.text}", and ${lost.length} answers were lost`,
  ];
}
