/** What the events of runs and queues do to the state. */
import { settleItem } from '../docket/docket.ts';
import { unreachable } from '../law/assert.ts';
import type { World } from '../law/state.ts';
import { agentOf } from '../talk/agent.ts';
import { occupy } from './lines.ts';
import { evolveRetried } from './retry.ts';
import { armRuns, countChars, endRun, enterRun, letGo, settleRun, stepsOf } from './run-book.ts';
import { alertPerson, askedSubject, askPerson, settleAlert } from './run-docket.ts';
import type {
  RunCancelled,
  RunEntry,
  RunEvent,
  RunLapsed,
  RunRecorded,
  RunSignalled,
  RunStarted,
  RunTaken,
} from './run-events.ts';
import type { Queue, Run, WaitEnd } from './run-state.ts';
import { isHeld } from './run-state.ts';
import { charsOf, type Step, stepId, stepLabel, unpackSteps } from './steps.ts';
import { beginWait, dropWait, endWaits, onRunOver } from './waits.ts';
import { LAPSES_IN_A_ROW, RUN_LEASE_MS } from './workflow-limits.ts';

const KINDS: Readonly<Record<RunEvent['type'], true>> = {
  'run.started': true,
  'run.taken': true,
  'run.recorded': true,
  'run.renewed': true,
  'run.woken': true,
  'run.lapsed': true,
  'run.signalled': true,
  'run.cancelled': true,
  'run.retried': true,
  'run.answered': true,
  'queue.declared': true,
};

export function isRunEvent(event: { readonly type: string }): event is RunEvent {
  return event.type in KINDS;
}

export function evolveRuns(world: World, event: RunEvent, position: number): void {
  const { live } = world.workflows;
  switch (event.type) {
    case 'run.recorded':
      return evolveRecorded(world, event, position);
    case 'run.started':
      return evolveStarted(world, event, position);
    case 'run.taken':
      return evolveTaken(world, event);
    case 'run.renewed':
      for (const id of event.ids) {
        const run = live.get(id);
        if (run === undefined) continue;
        run.leaseMs = event.leaseMs;
        run.leaseUntil = event.at + event.leaseMs;
        settleRun(world, run, event.at);
      }
      return;
    case 'run.woken':
      for (const id of event.ids) wake(world, live.get(id), event.at);
      return;
    case 'run.lapsed':
      return evolveLapsed(world, event, position);
    case 'run.signalled':
      return evolveSignalled(world, event, position);
    case 'run.cancelled':
      return evolveCancelled(world, event, position);
    case 'run.retried':
      return evolveRetried(world, event);
    case 'run.answered': {
      const run = live.get(event.id);
      if (run === undefined) return;
      const { at, by, answer } = event;
      settleItem(world, at, 'alert', askedSubject(event.id, event), answer, by);
      return endWaits(world, run, at, ({ on, step, key }) =>
        on.kind === 'answer' && step === event.step && key === event.key
          ? { by: 'event', at, position, word: answer, who: by }
          : null,
      );
    }
    case 'queue.declared': {
      const { name, fields, by, at } = event;
      if (fields === null) {
        world.workflows.queues.delete(name);
        return;
      }
      const takenAt = world.workflows.queues.get(name)?.takenAt ?? [];
      const queue: Queue = { name, ...fields, declaredBy: by, declaredAt: at, takenAt };
      world.workflows.queues.set(name, queue);
      world.workflows.stirred++;
      return;
    }
    default:
      return unreachable(event);
  }
}

function evolveStarted(world: World, event: RunStarted, position: number): void {
  const book = world.workflows;
  const { id, name, by, at, fork } = event;
  agentOf(world, by);
  book.next = Math.max(book.next, numberOf(id) + 1);
  const steps = fork === undefined ? new Map() : unpackSteps(fork.packed, at);
  let chars = 0;
  for (const one of steps.values()) chars += charsOf(one);
  const run: Run = {
    ...{ id, name, pin: event.version, startedBy: by, createdAt: at },
    ...{ position, inputAt: fork?.inputAt ?? null, digest: event.digest },
    ...{ queue: event.queue, key: event.key, priority: event.priority, dedup: event.dedup },
    ...{ parent: event.parent, traceparent: event.traceparent },
    forkedFrom: fork === undefined ? null : { id: fork.id, step: fork.step },
    ...{ state: 'queued', epoch: 0, heldBy: null, executor: null },
    ...{ leaseMs: RUN_LEASE_MS, leaseUntil: null, ranWith: null },
    ...{ firstTakenAt: null, endedAt: null, notBefore: event.notBefore, readyAt: null },
    ...{ isCalled: false, cancelling: null, endPosition: null, news: 0, lapses: 0 },
    ...{ nextOrder: steps.size + 1, waits: [], signals: [] },
    ...{ steps: null, packed: fork?.packed ?? '', stepCount: steps.size, chars },
    ...{ dueAt: null, heapIndex: -1 },
  };
  enterRun(book, run);
  settleRun(world, run, at);
  armRuns(world);
}

function evolveTaken(world: World, event: RunTaken): void {
  const run = world.workflows.live.get(event.id);
  if (run === undefined) return;
  const { at, by, epoch, executor, version, leaseMs } = event;
  if (run.firstTakenAt === null) {
    run.firstTakenAt = at;
    occupy(world.workflows.use, run, 1);
    countRate(world, run, at);
  }
  if (run.state === 'queued') run.state = 'running';
  Object.assign(run, { heldBy: by, executor, epoch, leaseMs, leaseUntil: at + leaseMs });
  run.ranWith = version ?? run.ranWith;
  run.isCalled = false;
  stepsOf(run);
  settleRun(world, run, at);
}

function countRate(world: World, { queue }: Run, at: number): void {
  const known = queue === null ? undefined : world.workflows.queues.get(queue);
  if (known === undefined || known.rate === null) return;
  const takenAt = [...known.takenAt, at].slice(-known.rate.limit);
  world.workflows.queues.set(known.name, { ...known, takenAt });
}

function evolveLapsed(world: World, { id, at }: RunLapsed, position: number): void {
  const run = world.workflows.live.get(id);
  if (run === undefined) return;
  const lost = run.executor ?? run.heldBy ?? '';
  letGo(run);
  run.isCalled = true;
  run.lapses++;
  world.workflows.stirred++;
  if (run.lapses >= LAPSES_IN_A_ROW) {
    const why = `its executor was lost ${run.lapses} times in a row, ${lost} the last`;
    getStuck(world, run, at, position, `${why}; ${waysOut(run.id)}`);
  }
  settleRun(world, run, at);
}

/** Time: a delay is over, a timer, a time-out. */
function wake(world: World, run: Run | undefined, at: number): void {
  if (run === undefined) return;
  if (run.notBefore !== null && run.notBefore <= at) run.notBefore = null;
  endWaits(world, run, at, ({ until }) =>
    until === null || until > at
      ? null
      : { by: 'time', at: until, position: null, word: null, who: null },
  );
  settleRun(world, run, at);
}

function evolveSignalled(world: World, event: RunSignalled, position: number): void {
  const run = world.workflows.live.get(event.id);
  if (run === undefined) return;
  const { name, by, at } = event;
  const first = run.waits.find(
    ({ on, ended }) => ended === null && on.kind === 'signal' && on.signal === name,
  );
  if (first === undefined) {
    run.signals = [...run.signals, { name, by, position }];
    return;
  }
  const end: WaitEnd = { by: 'event', at, position, word: null, who: by };
  endWaits(world, run, at, (wait) => (wait === first ? end : null));
}

function evolveCancelled(world: World, event: RunCancelled, position: number): void {
  const run = world.workflows.live.get(event.id);
  if (run === undefined) return;
  run.cancelling = event.reason ?? '';
  settleAlert(world, run, event.at, 'cancelled', event.by);
  if (event.isOver) {
    run.state = 'cancelled';
    run.endPosition = position;
    endRun(world, run, event.at);
    return onRunOver(world, run, event.at);
  }
  if (run.state === 'stuck') run.state = 'running';
  run.isCalled = true;
  if (isHeld(run)) run.news++;
  world.workflows.stirred++;
  settleRun(world, run, event.at);
}

/** The hot path: what an executor says of its run. */
function evolveRecorded(world: World, event: RunRecorded, position: number): void {
  const run = world.workflows.live.get(event.id);
  if (run === undefined) return;
  const { at, entries, leaseMs } = event;
  if (leaseMs !== undefined) run.leaseMs = leaseMs;
  run.leaseUntil = at + run.leaseMs;
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] as RunEntry;
    if ('step' in entry) evolveStep(world, run, entry, at, position, i);
    else if (entry.kind === 'compensate') run.state = 'compensating';
    else if (entry.kind === 'released') letGo(run);
    else if (entry.kind === 'stuck') {
      letGo(run);
      getStuck(world, run, at, position, entry.difference);
    } else {
      settleAlert(world, run, at, entry.state, null);
      run.state = entry.state;
      run.endPosition = position;
      if (entry.state === 'compensation_failed') {
        alertPerson(
          world,
          run,
          at,
          'compensation_failed',
          `${run.name} ${run.id}: ${notUndone(run)}`,
        );
      }
      endRun(world, run, at);
      return onRunOver(world, run, at);
    }
  }
  settleRun(world, run, at);
}

const UNDOINGS: ReadonlySet<RunEntry['kind']> = new Set([
  ...(['compensating', 'compensated', 'compensation_failed'] as const),
]);

type StepEntry = Extract<RunEntry, { readonly step: string }>;

function evolveStep(
  world: World,
  run: Run,
  entry: StepEntry,
  at: number,
  position: number,
  index: number,
): void {
  const steps = stepsOf(run);
  const key = entry.key ?? null;
  const id = stepId(entry.step, key);
  let step = steps.get(id);
  if (step === undefined) {
    step = createStep(entry.step, key, entry.as ?? 'step');
    steps.set(id, step);
    run.stepCount++;
    const chars = charsOf(step);
    run.chars += chars;
    countChars(world.workflows, run.startedBy, chars);
  }
  if (run.waits.length > 0 && entry.kind !== 'waiting') dropWait(world, run, step, at);
  // What a step gave is found where it completed, also when it is undone.
  if (entry.kind !== 'started' && !UNDOINGS.has(entry.kind)) {
    step.position = position;
    step.entry = index;
  }
  switch (entry.kind) {
    case 'started':
      step.state = 'running';
      step.attempts++;
      step.startedAt ??= at;
      step.endedAt = null;
      step.epoch = run.epoch;
      step.policy = entry.policy ?? step.policy;
      return;
    case 'completed':
      if (step.state !== 'running') step.attempts++;
      step.state = 'completed';
      step.startedAt ??= at - (entry.tookMs ?? 0);
      step.endedAt = at;
      step.order = run.nextOrder++;
      run.lapses = 0;
      return;
    case 'failed':
      if (step.state !== 'running') step.attempts++;
      step.startedAt ??= at;
      step.endedAt = at;
      step.state = entry.retryMs === undefined ? 'failed' : 'pending';
      run.lapses = 0;
      if (entry.retryMs === undefined) {
        step.order = run.nextOrder++;
        return;
      }
      return beginWait(world, run, step, { retry: entry.retryMs }, null, at);
    case 'waiting':
      step.state = 'pending';
      step.startedAt ??= at;
      beginWait(world, run, step, entry.on, entry.timeoutMs ?? null, at);
      if ('answer' in entry.on) askPerson(world, run, step, entry.on.answer, at);
      return;
    case 'skipped':
    case 'cancelled':
      if (entry.kind === 'skipped') step.order = run.nextOrder++;
      step.state = entry.kind;
      step.endedAt = at;
      return;
    case 'compensating':
      step.isCompensating = true;
      if (step.state === 'compensation_failed') step.state = 'completed';
      return;
    case 'compensated':
    case 'compensation_failed':
      step.state = entry.kind;
      step.isCompensating = false;
      step.endedAt = at;
      return;
    default:
      return unreachable(entry);
  }
}

function createStep(step: string, key: string | null, kind: string): Step {
  return {
    ...{ step, key, kind, state: 'pending', attempts: 0, startedAt: null, endedAt: null },
    ...{ position: 0, entry: 0, order: 0, epoch: 0, policy: null, isCompensating: false },
  };
}

/** What is left to do by hand, and how to have it tried again. */
function notUndone(run: Run): string {
  const left = [...stepsOf(run).values()]
    .filter(({ state }) => state === 'compensation_failed')
    .map(({ step, key }) => stepLabel(step, key).slice(0, LABEL_SHOWN_CHARS));
  const more = left.length > SHOWN_MAX ? ` and ${left.length - SHOWN_MAX} more` : '';
  const which = left.length === 0 ? '' : ` (${left.slice(0, SHOWN_MAX).join(', ')}${more})`;
  return `not all of it could be undone${which}; "synod workflow retry ${run.id}" tries the rest again, or undo it by hand and close this item`;
}

const SHOWN_MAX = 5;
const LABEL_SHOWN_CHARS = 60;

function waysOut(id: string): string {
  return `"synod workflow retry ${id}" has it tried again, "synod workflow cancel ${id}" undoes it, with --force it is over and nothing is undone`;
}

function getStuck(world: World, run: Run, at: number, position: number, why: string): void {
  run.state = 'stuck';
  run.endPosition = position;
  alertPerson(world, run, at, 'stuck', `${run.name} ${run.id}: ${why}`);
}

/** Runs without an id of their own are numbered as they are started. */
export function numberOf(id: string): number {
  return /^r\d{1,15}$/.test(id) ? Number(id.slice(1)) : 0;
}
