/**
 * Where a run stands after a change, for evolve: held, ready for an executor, asleep until something ends, or
 * over; and in which of the indexes it is found. Whatever changes a run ends with `settleRun` or `endRun`.
 */
import { settleItem } from '../docket/docket.ts';
import { timeApproval } from '../gates/gate-hold.ts';
import { count } from '../law/shares.ts';
import type { World } from '../law/state.ts';
import { occupy, placeRun } from './lines.ts';
import { askedSubject } from './run-docket.ts';
import { isHeld, isOver, type Run, type Wait, type WorkflowBook } from './run-state.ts';
import { packSteps, type Step, stepId, unpackSteps } from './steps.ts';
import {
  ENDED_CHARS_PER_AGENT_MAX,
  ENDED_RUNS_MAX,
  ENDED_RUNS_PER_AGENT_MAX,
} from './workflow-limits.ts';

/** A live run, in all indexes that follow from what it is. */
export function enterRun(book: WorkflowBook, run: Run): void {
  book.live.set(run.id, run);
  count(book.countBy, run.startedBy, 1);
  countChars(book, run.startedBy, run.chars);
  if (run.dedup !== null) book.dedups.set(dedupKey(run.name, run.dedup), run.id);
  if (run.parent !== null) addTo(book.children, run.parent.id, run.id);
  if (run.firstTakenAt !== null) occupy(book.use, run, 1);
  for (const wait of run.waits) awaitIt(book, run.id, wait);
  run.dueAt = dueOf(run);
  if (run.dueAt !== null) book.due.put(run);
  placeRun(book, run);
}

function leaveRun(world: World, run: Run, at: number): void {
  const book = world.workflows;
  book.live.delete(run.id);
  count(book.countBy, run.startedBy, -1);
  countChars(book, run.startedBy, -run.chars);
  if (run.dedup !== null) {
    const key = dedupKey(run.name, run.dedup);
    if (book.dedups.get(key) === run.id) book.dedups.delete(key);
  }
  if (run.parent !== null) dropFrom(book.children, run.parent.id, run.id);
  if (run.firstTakenAt !== null) occupy(book.use, run, -1);
  setWaits(world, run, [], at);
  run.dueAt = null;
  book.due.delete(run);
  run.readyAt = null;
  placeRun(book, run);
}

export function dedupKey(name: string, dedup: string): string {
  return `${name} ${dedup}`;
}

export function countChars(book: WorkflowBook, agent: string, change: number): void {
  book.chars += change;
  count(book.charsBy, agent, change);
}

/** After a change of a run that is not over: is it ready, and when is it looked at next? */
export function settleRun(world: World, run: Run, at: number): void {
  const book = world.workflows;
  const isFree = !isHeld(run) && run.state !== 'stuck';
  const isReady = isFree && run.notBefore === null && isWanted(run);
  if (isReady && run.readyAt === null) book.stirred++;
  run.readyAt = isReady ? (run.readyAt ?? at) : null;
  placeRun(book, run);
  const dueAt = dueOf(run);
  if (dueAt === run.dueAt) return;
  run.dueAt = dueAt;
  if (dueAt === null) return book.due.delete(run);
  book.due.put(run);
  armRuns(world);
}

/** Something is to be done: it has not begun, was called, a wait of it has ended, or it has none. */
function isWanted({ state, isCalled, waits }: Run): boolean {
  if (state === 'queued' || isCalled || waits.length === 0) return true;
  return waits.some(({ ended }) => ended !== null);
}

function dueOf(run: Run): number | null {
  let soonest = run.leaseUntil ?? Number.POSITIVE_INFINITY;
  if (run.notBefore !== null && run.notBefore < soonest) soonest = run.notBefore;
  if (run.state !== 'stuck') {
    for (const { until, ended } of run.waits) {
      if (ended === null && until !== null && until < soonest) soonest = until;
    }
  }
  return soonest === Number.POSITIVE_INFINITY ? null : soonest;
}

export function armRuns(world: World): void {
  const at = world.workflows.due.first?.dueAt ?? null;
  if (at !== null) world.deadlines.push({ at, kind: 'runs', agent: '' });
}

/** Nobody holds it any more. */
export function letGo(run: Run): void {
  run.heldBy = null;
  run.executor = null;
  run.leaseUntil = null;
  packRun(run);
}

export function packRun(run: Run): void {
  if (run.steps === null) return;
  run.packed = packSteps(run.steps, run.createdAt);
  run.steps = null;
}

export function stepsOf(run: Run): Map<string, Step> {
  run.steps ??= unpackSteps(run.packed, run.createdAt);
  run.packed = '';
  return run.steps;
}

/** It is over, in a state that the caller has set. */
export function endRun(world: World, run: Run, at: number): void {
  const book = world.workflows;
  book.stirred++;
  letGo(run);
  leaveRun(world, run, at);
  run.endedAt = at;
  run.signals = [];
  run.notBefore = null;
  enterEnded(book, run);
  while (book.ended.size > ENDED_RUNS_MAX) forgetRun(book, book.ended.oldest ?? '');
  const mine = book.endedBy.get(run.startedBy);
  while (
    mine !== undefined &&
    mine.ids.size > 1 &&
    (mine.ids.size > ENDED_RUNS_PER_AGENT_MAX || mine.chars > ENDED_CHARS_PER_AGENT_MAX)
  ) {
    forgetRun(book, mine.ids.values().next().value ?? '');
  }
}

export function enterEnded(book: WorkflowBook, run: Run): void {
  book.ended.set(run.id, run);
  const mine = book.endedBy.get(run.startedBy) ?? { ids: new Set<string>(), chars: 0 };
  book.endedBy.set(run.startedBy, mine);
  mine.ids.add(run.id);
  mine.chars += run.packed.length;
}

export function forgetRun(book: WorkflowBook, id: string): void {
  const run = book.ended.get(id);
  if (run === undefined) return;
  book.ended.delete(id);
  const mine = book.endedBy.get(run.startedBy);
  if (mine === undefined) return;
  mine.ids.delete(id);
  mine.chars -= run.packed.length;
  if (mine.ids.size === 0) book.endedBy.delete(run.startedBy);
}

/** One that was over and is no more. */
export function reviveRun(book: WorkflowBook, run: Run): void {
  if (!isOver(run.state) && book.live.has(run.id)) return;
  forgetRun(book, run.id);
  run.endedAt = null;
  run.endPosition = null;
  enterRun(book, run);
}

/** What asked a person and does not wait any more is off the docket. */
export function setWaits(world: World, run: Run, waits: readonly Wait[], at: number): void {
  const book = world.workflows;
  const before = run.waits;
  const asks = new Set(waits.filter(isAsk).map(({ step, key }) => stepId(step, key)));
  for (const wait of before) {
    const key = awaitedKey(wait);
    if (key !== null) dropFrom(book.awaited, key, run.id);
    if (isAsk(wait) && !asks.has(stepId(wait.step, wait.key))) {
      settleItem(world, at, 'alert', askedSubject(run.id, wait), 'it went on');
    }
  }
  run.waits = waits;
  for (const wait of waits) awaitIt(book, run.id, wait);
  const [had, has] = [gatesOf(before), gatesOf(waits)];
  for (const gate of new Set([...had, ...has])) {
    if (had.has(gate) === has.has(gate)) continue;
    timeApproval(world, world.gates.open.get(gate), at);
  }
}

function gatesOf(waits: readonly Wait[]): Set<string> {
  return new Set(waits.flatMap(({ on }) => (on.kind === 'gate' ? on.gate : [])));
}

/** Somebody is still to answer. */
function isAsk({ on, ended }: Wait): boolean {
  return on.kind === 'answer' && ended === null;
}

function awaitIt(book: WorkflowBook, id: string, wait: Wait): void {
  const key = awaitedKey(wait);
  if (key !== null) addTo(book.awaited, key, id);
}

function awaitedKey({ on, ended }: Wait): string | null {
  if (on.kind === 'gate') return `gate ${on.gate}`;
  if (ended !== null) return null;
  if (on.kind === 'child') return `child ${on.child}`;
  return on.kind === 'replies' ? `message ${on.message}` : null;
}

function addTo(index: Map<string, Set<string>>, key: string, id: string): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, new Set([id]));
  else known.add(id);
}

function dropFrom(index: Map<string, Set<string>>, key: string, id: string): void {
  const known = index.get(key);
  known?.delete(id);
  if (known?.size === 0) index.delete(key);
}
