/**
 * Runs and their executors under a seed: hubs crash, their disk fails, their clock jumps, two of them may write
 * to one log, and executors stop anywhere and speak late. After every step the entries must be such as the law
 * allows, told by a second, plain telling of it; at every rest memory must agree with that telling and with a
 * replay of the log. In the end everything that is ready is taken, so that nothing is left lying.
 */
import type { WorldView } from '../core/law/state.ts';
import { stepsPage } from '../core/workflows/run-pages.ts';
import { portray } from './compare.ts';
import { createExecutors, type Executors } from './executors.ts';
import { NO_FAULTS, verifyDisk } from './faulty-log.ts';
import { createRunModel, type RunModel, runLine } from './run-model.ts';
import { createStage, type SimulationOptions, type Stage } from './stage.ts';

export interface RunReport {
  readonly entries: number;
  readonly lives: number;
  readonly counts: Readonly<Record<string, number>>;
}

const REST_TRIES_MAX = 400;
const HOUR_MS = 3_600_000;

interface Scene {
  readonly stage: Stage;
  readonly runs: RunModel;
  readonly executors: Executors;
}

export async function simulateRuns(options: SimulationOptions): Promise<RunReport> {
  const runs = createRunModel();
  const stage = createStage({ ...options, alsoTold: (event) => runs.add(event) });
  const executors = createExecutors(stage, runs);
  const scene = { stage, runs, executors };
  let step = 0;
  try {
    for (const process of stage.processes) process.open();
    for (step = 1; step <= options.steps; step++) {
      await takeStep(scene);
      if (stage.failure !== undefined) throw stage.failure;
    }
    await comeToRest(scene, true);
    if (stage.failure !== undefined) throw stage.failure;
  } catch (cause) {
    const story = stage.actions.map((action) => `  ${action}`).join('\n');
    const message = `seed ${options.seed}, step ${step}: ${cause instanceof Error ? cause.message : cause}`;
    throw new Error(`${message}\nlast actions:\n${story}`, { cause });
  }
  return {
    entries: stage.model.length,
    lives: stage.processes.reduce((sum, { life }) => sum + life + 1, 0),
    counts: { ...runs.counts },
  };
}

async function takeStep(scene: Scene): Promise<void> {
  const { stage, executors } = scene;
  const { chance, clock, faults } = stage;
  const dice = chance.int(1, 1000);
  if (dice <= 8) chance.pick(stage.processes).crash();
  else if (dice <= 11) chance.pick(stage.processes).close();
  else if (dice <= 21) {
    faults.appendFails = chance.pick([0, 0, 0.1, 0.5, 1]);
    faults.appendDoubts = chance.pick([0, 0, 0.1, 0.5, 1]);
    faults.slowMs = chance.pick([1, 5, 100, 2000]);
    stage.note('the disk has moods');
  } else if (dice <= 33) heal(stage);
  else if (dice <= 40) clock.jump(chance.int(-60_000, 60_000));
  else if (dice <= 41) clock.jump(chance.pick([-HOUR_MS, HOUR_MS]));
  else if (dice <= 51) await comeToRest(scene, false);
  else if (dice <= 600) executors.act();
  else if (dice <= 720) await clock.pass(chance.int(1, 1000));
  else await clock.step();
  for (const process of stage.processes) {
    if (process.hub === null && chance.isLikely(0.5)) process.open();
  }
  if (faults.lie === null) stage.learn();
}

function heal({ faults }: Stage): void {
  Object.assign(faults, { ...NO_FAULTS, slowMs: 5, lie: faults.lie });
}

async function comeToRest({ stage, runs, executors }: Scene, isLast: boolean): Promise<void> {
  const { clock, faults } = stage;
  const before = { ...faults };
  heal(stage);
  stage.note(isLast ? 'the end' : 'rest');
  if (isLast) clock.jump(Math.max(0, stage.at - clock.now()));
  for (let tries = 0; ; tries++) {
    if (stage.failure !== undefined) throw stage.failure;
    if (tries > REST_TRIES_MAX) {
      throw new Error(`the hubs do not come to rest: ${runs.portray()}`);
    }
    for (const process of stage.processes) process.open();
    if (isLast) executors.serve();
    await clock.pass(isLast ? 500 : 100);
    stage.learn();
    const isQuiet = stage.processes.every(
      ({ hub, pending }) => hub?.isAvailable === true && pending === 0,
    );
    if (isQuiet && (!isLast || isServed(runs))) break;
  }
  for (const { hub, name } of stage.processes) {
    let isCompared = false;
    for (let tries = 0; !isCompared && tries < REST_TRIES_MAX; tries++) {
      void hub?.ask((world) => {
        stage.learn();
        if (isCompared || world.length < stage.model.length) return;
        isCompared = true;
        compareWorld(stage, runs, world);
      });
      await clock.pass(100);
    }
    if (!isCompared) throw new Error(`${name} does not answer, or does not learn what is stored`);
  }
  Object.assign(faults, before, { lie: faults.lie });
}

/** Whatever was started is over: nothing that is ready, due or called was left lying. */
function isServed(runs: RunModel): boolean {
  return runs.portray() === '';
}

function compareWorld(stage: Stage, runs: RunModel, world: WorldView): void {
  const broken = verifyDisk(stage.disk);
  if (broken !== null) stage.fail(`the chain breaks at ${broken}`);
  same(stage, 'the world', portray(world, 'durable'), stage.portrayStored());
  same(stage, 'runs', portrayRuns(world), runs.portray());
  const open = [...world.docket.subjects.keys()].flatMap((place) => {
    const [, subject] = /^alert ((?:run|step) .*)$/.exec(place) ?? [];
    return subject === undefined ? [] : [subject];
  });
  same(stage, 'alerts', open.sort().join('\n'), runs.alerts().join('\n'));
  for (const [queue, use] of world.workflows.use) {
    const begun = [...runs.runs.values()].filter(
      (run) => run.queue === queue && run.isBegun && world.workflows.live.has(run.id),
    );
    if (begun.length !== use.count) stage.fail(`${queue} counts ${use.count}, ${begun.length} are`);
  }
}

/** The same lines as memory has them. */
export function portrayRuns(world: WorldView): string {
  return [...world.workflows.live.values()]
    .map((run) =>
      runLine({
        ...{ id: run.id, state: run.state, epoch: run.epoch, holder: run.heldBy },
        ...{ leaseUntil: run.leaseUntil, isReady: run.readyAt !== null },
        ...{ cancelling: run.cancelling, signals: run.signals.map(({ name }) => name) },
        steps: stepsPage(run, undefined, 1000).rows.map(({ step, state }) => `${step} ${state}`),
        waits: run.waits.map(({ step, ended }) => `${step} ${ended !== null}`),
      }),
    )
    .sort()
    .join('\n');
}

function same(stage: Stage, what: string, actual: string, expected: string): void {
  if (actual === expected) return;
  const [left, right] = [actual.split('\n'), expected.split('\n')];
  const line = Array.from({ length: Math.max(left.length, right.length) }).findIndex(
    (_, i) => left[i] !== right[i],
  );
  stage.fail(`${what} differs at line ${line}: ${left[line]} instead of ${right[line]}`);
}
