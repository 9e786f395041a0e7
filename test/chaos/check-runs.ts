/**
 * Runs of a workflow: each time of one is handed out once, whoever was overtaken records nothing any more, a step happens
 * once, what was acknowledged is in the journal of every server and nothing that was refused, and what was started is
 * completed.
 */
import { type ActOf, type Done, describe, type History, isOf, RUN_STEPS } from './history.ts';
import { twice } from './twice.ts';

type Hold = Done<ActOf<'hold'>>;
type Step = Done<ActOf<'step'>>;
type Start = Done<ActOf<'start'>>;
type Journal = Done<ActOf<'journal'>>;

export function checkRuns({ done }: History): string[] {
  const holds = Map.groupBy(
    done.filter((one): one is Hold => isOf(one, 'hold')),
    runOf,
  );
  const steps = Map.groupBy(
    done.filter((one): one is Step => isOf(one, 'step')),
    runOf,
  );
  const journals = Map.groupBy(
    done.filter((one): one is Journal => isOf(one, 'journal')),
    runOf,
  );
  const starts = done.filter((one): one is Start => isOf(one, 'start'));
  return [
    ...[...holds.values()].flatMap((all) =>
      twice(all, ({ act }) => String(act.epoch), 'run: handed out twice'),
    ),
    ...[...steps].flatMap(([run, all]) => [
      ...twice(all.filter(isDone), ({ act }) => act.step, 'run: a step happened twice'),
      ...checkOvertaken(all.filter(isDone), holds.get(run) ?? []),
    ]),
    ...[...journals].flatMap(([run, all]) =>
      all.flatMap((one) => checkJournal(one, steps.get(run) ?? [])),
    ),
    ...starts.filter(isDone).flatMap((one) => checkOver(one, journals.get(one.act.run) ?? [])),
  ];
}

function runOf({ act }: Hold | Step | Journal): string {
  return act.run;
}

function isDone({ outcome }: Done): boolean {
  return outcome === 'ok';
}

function checkOvertaken(steps: readonly Step[], holds: readonly Hold[]): string[] {
  return steps.flatMap((step) => {
    const later = holds.find(
      ({ act, to }) => act.epoch > step.act.epoch && to !== null && to < step.from,
    );
    return later === undefined
      ? []
      : [`run: overtaken: ${describe(step)} although ${describe(later)} was before it`];
  });
}

function checkJournal(journal: Journal, said: readonly Step[]): string[] {
  const { steps } = journal.act;
  const broken: string[] = [];
  for (const [step, all] of Map.groupBy(steps, (one) => one.step)) {
    if (all.length > 1) broken.push(`run: ${describe(journal)} has ${step} ${all.length} times`);
    for (const { value } of all) {
      const by = said.find(({ act }) => act.step === step && act.value === value);
      if (by === undefined) broken.push(`run: ${describe(journal)} has ${step}, which nobody did`);
      else if (by.outcome === 'fail')
        broken.push(`run: kept: ${describe(by)} is in the ${describe(journal)}`);
    }
  }
  for (const one of said.filter(isDone)) {
    const { step, value } = one.act;
    if (!steps.some((there) => there.step === step && there.value === value))
      broken.push(`run: lost: ${describe(one)} is not in the ${describe(journal)}`);
  }
  return broken;
}

function checkOver(start: Start, journals: readonly Journal[]): string[] {
  return journals.flatMap((one) => {
    const { state, steps } = one.act;
    const isWhole = RUN_STEPS.every((step) => steps.some((there) => there.step === step));
    if (state === 'completed' && isWhole) return [];
    return [`run: left undone: ${describe(start)}, and ${describe(one)} has ${steps.length} steps`];
  });
}
