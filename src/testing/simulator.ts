/**
 * The whole hub under a seed: actors and listeners use it while it crashes, its disk
 * fails and its clock jumps. After every step nothing acknowledged may contradict
 * what is stored; at every rest the world in memory must be the one a fresh replay
 * gives and the one a second, plain telling of the law gives. A failure names the
 * seed, the step and the last actions.
 */
import type { WorldView } from '../core/law/state.ts';
import { peek } from '../core/talk/inbox.ts';
import { receiptsOf } from '../core/talk/receipt.ts';
import { type Actors, createActors } from './actors.ts';
import { portray } from './compare.ts';
import { createDeskCallers, type DeskCallers } from './desk-callers.ts';
import { lineOf } from './docket-model.ts';
import { NO_FAULTS, storedEntries, verifyDisk } from './faulty-log.ts';
import { createGatekeepers, type Gatekeepers } from './gatekeepers.ts';
import { portrayThreads } from './mark-model.ts';
import { QUEUE_MAX, type SimulatedProcess } from './simulated-process.ts';
import { createStage, type SimulationOptions, type Stage } from './stage.ts';
import { createStreamers, type Streamers } from './streamers.ts';
import { createSupervisors, type Supervisors } from './supervisors.ts';
import { createWorkers, type Workers } from './workers.ts';

export interface SimulationReport {
  readonly entries: number;
  readonly messages: number;
  readonly lives: number;
  /** How often what happened to claims, waits and tasks. */
  readonly work: Readonly<Record<string, number>>;
  /** The same for turns, gates and the docket. */
  readonly turns: Readonly<Record<string, number>>;
  /** How often the desk carried out which operation, and refused for which reason. */
  readonly desk: Readonly<Record<string, number>>;
  /** How often somebody replied, and marked a thread how. */
  readonly threads: Readonly<Record<string, number>>;
  /** How often what was said of commands that one server forwarded to another. */
  readonly forwarded: Readonly<Record<string, number>>;
}

/** How long a healthy hub may take to come to rest, in simulated time. */
const REST_TRIES_MAX = 400;
const HOUR_MS = 3_600_000;
/** How often something befalls the servers of a cluster. */
const MISHAPS = 0.03;

export async function runSimulation(options: SimulationOptions): Promise<SimulationReport> {
  const stage = createStage(options);
  const actors = createActors(stage);
  const streamers = createStreamers(stage);
  const workers = createWorkers(stage);
  const deskCallers = createDeskCallers(stage);
  const supervisors = createSupervisors(stage);
  const gatekeepers = createGatekeepers(stage, supervisors);
  const cast = { actors, streamers, workers, deskCallers, supervisors, gatekeepers };
  let step = 0;
  try {
    for (const process of stage.processes) process.open();
    for (step = 1; step <= options.steps; step++) {
      await takeStep(stage, cast);
      throwIfFailed(stage);
    }
    await comeToRest(stage, cast, true);
    throwIfFailed(stage);
  } catch (cause) {
    const story = stage.actions.map((action) => `  ${action}`).join('\n');
    const message = `seed ${options.seed}, step ${step}: ${cause instanceof Error ? cause.message : cause}`;
    throw new Error(`${message}\nlast actions:\n${story}`, { cause });
  }
  return {
    entries: stage.model.length,
    messages: stage.model.messages.length,
    lives: stage.processes.reduce((sum, { life }) => sum + life + 1, 0),
    work: { ...stage.work.counts },
    turns: { ...stage.turns.counts, ...stage.gates.counts, ...stage.docket.counts },
    desk: { ...deskCallers.counts },
    threads: { ...stage.threads.counts },
    forwarded: { ...stage.cluster?.counts },
  };
}

interface Cast {
  readonly actors: Actors;
  readonly streamers: Streamers;
  readonly workers: Workers;
  readonly deskCallers: DeskCallers;
  readonly supervisors: Supervisors;
  readonly gatekeepers: Gatekeepers;
}

async function takeStep(stage: Stage, cast: Cast): Promise<void> {
  const { actors, streamers, workers, deskCallers, supervisors, gatekeepers } = cast;
  const { chance, clock, faults } = stage;
  const dice = chance.int(1, 1000);
  if (stage.cluster !== null && chance.isLikely(MISHAPS)) stage.cluster.mishap();
  else if (dice <= 7) chance.pick(stage.processes).crash();
  else if (dice <= 10) chance.pick(stage.processes).close();
  else if (dice <= 20) mishap(stage);
  else if (dice <= 30) heal(stage);
  else if (dice <= 39) clock.jump(chance.int(-60_000, 60_000));
  else if (dice <= 40) clock.jump(chance.pick([-HOUR_MS, HOUR_MS]));
  else if (dice <= 50) await comeToRest(stage, cast, false);
  // Bounds are reached by those who are busy.
  else if (stage.hasRealBounds && chance.isLikely(0.5)) supervisors.act();
  else if (dice <= 130) streamers.act();
  else if (dice <= 300) actors.act();
  else if (dice <= 400) deskCallers.act();
  else if (dice <= 520) workers.act();
  else if (dice <= 650) supervisors.act();
  else if (dice <= 720) gatekeepers.act();
  else if (dice <= 780) await clock.pass(chance.int(1, 1000));
  else await clock.step();
  for (const process of stage.processes) {
    if (process.hub === null && chance.isLikely(0.5)) process.open();
  }
  checkBounds(stage, streamers);
  if (faults.lie === null) stage.learn();
}

function mishap({ chance, faults, note }: Stage): void {
  faults.appendFails = chance.pick([0, 0, 0.1, 0.5, 1]);
  faults.appendDoubts = chance.pick([0, 0, 0.1, 0.5, 1]);
  faults.appendHangs = chance.pick([0, 0, 0, 0.1]);
  faults.readFails = chance.pick([0, 0, 0.1, 0.5, 1]);
  faults.slowMs = chance.pick([1, 5, 100, 2000]);
  const { appendFails, appendDoubts, appendHangs, readFails, slowMs } = faults;
  note(`appends fail ${appendFails}, stored ${appendDoubts}, hanging ${appendHangs}`);
  note(`reads fail ${readFails}, slow ${slowMs} ms`);
}

function heal({ faults, note, cluster }: Stage): void {
  cluster?.heal();
  Object.assign(faults, { ...NO_FAULTS, slowMs: 5, lie: faults.lie });
  note('the disk is well');
}

/** Heals the disk, waits until nobody waits any more, and compares everything. */
async function comeToRest(
  stage: Stage,
  { actors, streamers, deskCallers, supervisors }: Cast,
  isLast: boolean,
): Promise<void> {
  const { faults, clock } = stage;
  const before = { ...faults };
  heal(stage);
  stage.note(isLast ? 'the end' : 'rest');
  // Deadlines wait while the clock is behind what it said before.
  if (isLast) stage.cluster?.align();
  if (isLast) clock.jump(Math.max(0, stage.at - clock.now()));
  for (let tries = 0; ; tries++) {
    throwIfFailed(stage);
    // What was begun at servers that hear each other again may fail first, and is then tried again.
    if (tries > (stage.cluster === null ? REST_TRIES_MAX : 3 * REST_TRIES_MAX)) {
      stage.learn();
      streamers.check();
      throwIfFailed(stage);
      const pending = stage.processes.map((process) => process.pending);
      throw new Error(`the hubs do not come to rest: ${pending} actions hang`);
    }
    for (const process of stage.processes) process.open();
    if (isLast) {
      streamers.calm();
      supervisors.serve();
    }
    await clock.pass(100);
    stage.learn();
    const isServed = !isLast || stage.turns.isIdle(clock.now());
    if (stage.processes.every(isQuiet) && (!isLast || streamers.isComplete()) && isServed) break;
  }
  for (const process of stage.processes) await compare(stage, streamers, process);
  actors.check();
  deskCallers.check();
  Object.assign(faults, before, { lie: faults.lie });
}

function isQuiet({ hub, pending }: SimulatedProcess): boolean {
  return hub?.isAvailable === true && pending === 0;
}

/**
 * Compares at rest, inside a question. It may have to wait: for a deadline that is just being told,
 * and to hear of what the other process stored because of one.
 */
async function compare(
  stage: Stage,
  streamers: Streamers,
  process: SimulatedProcess,
): Promise<void> {
  const { hub, name } = process;
  let isCompared = false;
  for (let tries = 0; !isCompared && tries < REST_TRIES_MAX; tries++) {
    void hub?.ask((world) => {
      stage.learn();
      if (isCompared || world.length < stage.model.length) return;
      isCompared = true;
      // What is due is recorded by the clock of who sequences; the others' may be ahead of it.
      compareWorld(stage, streamers, world, process.sequences ? hub.stamp() : stage.at);
    });
    await stage.clock.pass(100);
  }
  if (!isCompared) throw new Error(`${name} does not answer, or does not learn what is stored`);
}

function compareWorld(stage: Stage, streamers: Streamers, world: WorldView, at: number): void {
  const { model, work } = stage;
  try {
    work.check();
    stage.turns.check(at);
    stage.gates.check(at, stage.turns.isOver);
    compareDocket(stage, world);
  } catch (cause) {
    stage.fail(cause);
  }
  const broken = verifyDisk(stage.disk);
  if (broken !== null) stage.fail(`the chain breaks at ${broken}`);
  if (world.length !== model.length)
    stage.fail(`memory has ${world.length} entries, the disk ${model.length}`);
  same(stage, 'the world', portray(world, 'durable'), stage.portrayStored());
  for (const agent of model.agents) {
    const owed = peek(world, agent, null, Number.MAX_SAFE_INTEGER);
    const positions = Array.isArray(owed) ? owed.map(({ position }) => position) : owed;
    same(
      stage,
      `what ${agent} is owed`,
      JSON.stringify(positions),
      JSON.stringify(model.owed(agent)),
    );
  }
  compareReceipts(stage, streamers, world, at);
  const hidden = new Set(model.messages.filter(({ hold }) => hold !== 'none').map(positionOf));
  const told = stage.threads.portray((position) => !hidden.has(position));
  same(stage, 'threads', portrayThreads(world), told);
}

function positionOf({ position }: { readonly position: number }): number {
  return position;
}

/** What waits for a person, told twice; what must be decided is there for as long as it waits. */
function compareDocket(stage: Stage, world: WorldView): void {
  const { docket, gates, model, turns } = stage;
  const open = [...world.docket.items.values()].filter(({ closed }) => closed === null);
  const lines = open.map(({ id, agent, taken, subjects }) =>
    lineOf(id, agent, taken?.by ?? null, subjects.keys()),
  );
  same(stage, 'the docket', lines.join('\n'), docket.portray());
  const pending = [...gates.gates].filter(([, { state }]) => state === 'pending');
  const held = model.messages.filter(({ hold }) => hold === 'held');
  same(
    stage,
    'gates on the docket',
    listOf(docket.subjects('gate')),
    listOf(pending.map(([id]) => id)),
  );
  same(
    stage,
    'held on the docket',
    listOf(docket.subjects('held')),
    listOf(held.map(({ position }) => `m${position}`)),
  );
  const shown = [...docket.subjects('parked'), ...docket.subjects('dead')];
  const stray = shown.find((agent) => !turns.parked.has(agent));
  if (stray !== undefined) stage.fail(`${stray} is on the docket as parked, and is not`);
}

function listOf(items: Iterable<string>): string {
  return [...items].sort().join(' ');
}

function compareReceipts(stage: Stage, streamers: Streamers, world: WorldView, at: number): void {
  const { model } = stage;
  for (const message of model.messages) {
    const told = new Map(receiptsOf(world, message, at).map((receipt) => [receipt.agent, receipt]));
    for (const agent of new Set([...model.agents, ...told.keys()])) {
      const receipt = told.get(agent);
      const expected = model.receipt(message, agent, at);
      const isOnFeed = receipt?.reason === 'shown on a live feed';
      if (isOnFeed && !streamers.wasShown(agent, message.position)) {
        stage.fail(`${message.position} shows as presented to ${agent}, who never saw it`);
      }
      const state = isOnFeed ? 'accepted' : (receipt?.state ?? null);
      if (state !== expected) {
        stage.fail(
          `the receipt of ${message.position} for ${agent} is ${receipt?.state}, should be ${expected}`,
        );
      }
    }
  }
}

function checkBounds(stage: Stage, streamers: Streamers): void {
  const stored = storedEntries(stage.disk).length;
  let feeds = 0;
  for (const { hub } of stage.processes) {
    if (hub === null) continue;
    const { stats } = hub;
    feeds += stats.feeds;
    // What was taken and put back had its room; meanwhile others came.
    if (stats.queued > 2 * QUEUE_MAX) stage.fail(`${stats.queued} commands are queued`);
    if (stats.entries > stored)
      stage.fail(`the hub counts ${stats.entries} durable entries, ${stored} are stored`);
  }
  if (feeds > streamers.openCount) stage.fail(`${feeds} feeds, ${streamers.openCount} listeners`);
}

function same(stage: Stage, what: string, actual: string, expected: string): void {
  if (actual === expected) return;
  const [left, right] = [actual.split('\n'), expected.split('\n')];
  const line = Array.from({ length: Math.max(left.length, right.length) }).findIndex(
    (_, i) => left[i] !== right[i],
  );
  stage.fail(`${what} differs at line ${line}: ${left[line]} instead of ${right[line]}`);
}

function throwIfFailed(stage: Stage): void {
  if (stage.failure !== undefined) throw stage.failure;
}
