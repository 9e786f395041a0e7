/**
 * Runs and their steps as they are shown. The state holds where things lie; what was said is read from the log
 * here: inputs, results, errors, the values of signals.
 */
import { isRefusal, type Refusal } from '../../core/law/decider.ts';
import type { Page } from '../../core/law/page.ts';
import type { WorldView } from '../../core/law/state.ts';
import type { DurableEvent } from '../../core/law/world.ts';
import { messageId } from '../../core/talk/message-id.ts';
import type { Turn } from '../../core/turns/turn-state.ts';
import type { RunEntry, RunError } from '../../core/workflows/run-events.ts';
import type { StepRow } from '../../core/workflows/run-pages.ts';
import { isOver, type RunView, type Wait, type WaitEnd } from '../../core/workflows/run-state.ts';
import { type StepView, stepId } from '../../core/workflows/steps.ts';
import type { OutputOf } from '../../wire/operation.ts';
import type {
  workflowsGet,
  workflowsList,
  workflowsSteps,
  workflowsTake,
} from '../../wire/operations/workflows.ts';
import { type Budget, readPage, type Shows } from './log-page.ts';
import type { Wanted } from './offers.ts';
import type { Room } from './room.ts';
import { costView } from './turn-view.ts';

export type RunOut = OutputOf<typeof workflowsGet>;
export type RunHead = OutputOf<typeof workflowsList>['runs'][number];
export type StepOut = OutputOf<typeof workflowsSteps>['steps'][number];
export type Resolved = OutputOf<typeof workflowsTake>['runs'][number]['resolved'][number];

/** A run as it was at one moment, apart from what lies in the log. */
export interface RunFacts {
  readonly head: RunHead;
  readonly inputAt: number;
  readonly endAt: number | null;
  readonly waits: readonly Wait[];
}

/** Why nobody takes a run. */
export type Explain = (run: Wanted) => string | null;

export function factsOf(run: RunView, explain?: Explain): RunFacts {
  return {
    head: headOf(run, explain),
    inputAt: run.inputAt ?? run.position,
    endAt: run.endPosition,
    waits: run.waits as readonly Wait[],
  };
}

export function headOf(run: RunView, explain: Explain = () => null): RunHead {
  const { leaseUntil, state, waits, name, startedBy, queue, pin: version } = run;
  const isFree = leaseUntil === null && run.readyAt === null;
  return {
    ...{ id: run.id, name: run.name, version: run.pin ?? run.ranWith, state, over: isOver(state) },
    suspended: isFree && (state === 'running' || state === 'compensating'),
    waiting_on: (waits as readonly Wait[]).map(waitOut),
    ...{ cancelling: run.cancelling, epoch: run.epoch, holder: run.heldBy },
    ...{ executor: run.executor, lease_until: inSeconds(leaseUntil) },
    ...{ created_at: run.createdAt / 1000, started_at: inSeconds(run.firstTakenAt) },
    ...{ ended_at: inSeconds(run.endedAt), queue: run.queue, key: run.key },
    ...{ priority: run.priority, attempts: run.epoch, parent: run.parent },
    ...{ forked_from: run.forkedFrom, traceparent: run.traceparent },
    ...{ started_by: run.startedBy, steps_count: run.stepCount },
    unoffered: state === 'queued' ? explain({ name, version, startedBy, queue }) : null,
  };
}

export function waitOut({ step, key, on, until, ended }: Wait): RunHead['waiting_on'][number] {
  const { kind, ...rest } = on;
  const shown =
    on.kind === 'replies'
      ? { kind: on.as, message_id: messageId(on.message), count: on.count }
      : on.kind === 'gate'
        ? { kind, gate: on.gate }
        : { kind, ...rest };
  return { step, key, on: shown, until: inSeconds(until), ended: ended !== null };
}

/** Who reads what lies in the log. */
type Reader = Pick<Room, 'hub' | 'by' | 'signal'>;

/** With what lies in the log. */
export async function runOut({ hub, by }: Reader, facts: RunFacts): Promise<RunOut> {
  const { head, inputAt, endAt } = facts;
  const at = async (position: number): Promise<DurableEvent | undefined> =>
    (await hub.readEvents(by.id, [position], 1)).events[0];
  const end = endAt === null ? null : endOf(await at(endAt));
  const first = await at(inputAt);
  return {
    ...head,
    input: first?.type === 'run.started' ? (first.input ?? null) : null,
    result: end?.result ?? null,
    error: end?.error ?? null,
    stuck: head.state === 'stuck' ? { difference: end?.difference ?? '' } : null,
  };
}

interface End {
  readonly result?: unknown;
  readonly error?: RunError | undefined;
  readonly difference?: string;
}

function endOf(event: DurableEvent | undefined): End | null {
  if (event === undefined) return null;
  if (event.type === 'run.recorded') {
    const last = event.entries.at(-1);
    if (last?.kind === 'ended') return last;
    return last?.kind === 'stuck' ? { difference: last.difference } : {};
  }
  if (event.type === 'run.lapsed') {
    return { difference: 'its executors were lost one after the other; see why, then retry it' };
  }
  if (event.type !== 'run.cancelled') return {};
  const message = event.reason ?? 'it was cancelled';
  return { error: { name: 'Cancelled', message, terminal: true } };
}

export interface StepsOut {
  readonly steps: StepOut[];
  readonly next: string | null;
}

/** Steps with what they came to: of a page as many as fit, and where to go on. */
export async function stepsOut(
  room: Reader,
  run: Pick<RunView, 'epoch'>,
  { rows, next }: Page<StepRow, string>,
  waits: readonly Wait[],
  budget?: Budget,
): Promise<StepsOut> {
  const waiting = new Map(waits.map((one) => [stepId(one.step, one.key), one]));
  const show = (step: StepRow, event: DurableEvent | undefined): StepOut => {
    const entry = entryOn(event, step);
    const wait = waiting.get(stepId(step.step, step.key));
    return {
      ...{ step: step.step, key: step.key, kind: step.kind, state: step.state },
      compensating: step.isCompensating,
      uncertain: step.state === 'running' && step.epoch < run.epoch,
      ...{ attempts: step.attempts, policy: step.policy },
      result: entry?.kind === 'completed' ? (entry.result ?? null) : null,
      error: entry !== null && 'error' in entry ? (entry.error ?? null) : null,
      cost: entry?.kind === 'completed' ? (entry.cost ?? null) : null,
      ...{ started_at: inSeconds(step.startedAt), ended_at: inSeconds(step.endedAt) },
      waiting_on: wait === undefined ? null : waitOut(wait),
      order: step.order === 0 ? null : step.order,
    };
  };
  const positionOf = (step: StepRow): number | null => (isTold(step) ? step.position : null);
  const steps = await readPage(room, rows, { positionOf, show }, budget);
  const left = rows[steps.length];
  return { steps, next: left === undefined ? next : String(left.place - 1) };
}

function isTold({ state, attempts }: StepView): boolean {
  return state !== 'running' && (state !== 'pending' || attempts > 0);
}

/** The last word on a step: of a fork in an event of another run, of one that was mapped under its old name. */
function entryOn(event: DurableEvent | undefined, step: StepView): StepEntry | null {
  if (event?.type !== 'run.recorded') return null;
  const entry = event.entries[step.entry];
  return entry !== undefined && 'step' in entry ? entry : null;
}

type StepEntry = Extract<RunEntry, { readonly step: string }>;

export interface ResolvedOut {
  readonly resolved: Resolved[];
  /** After which wait to go on; null when all of them are told. */
  readonly resolved_next: string | null;
}

/** What ended waits ended with, those that ended first before the others: as many as fit, and where to go on. */
export async function resolvedOut(
  room: Reader,
  waits: readonly Wait[],
  budget: Budget,
  after = '',
): Promise<ResolvedOut | Refusal> {
  const over = waits
    .flatMap((wait) => (wait.ended === null ? [] : { wait, place: placeOf(wait, wait.ended) }))
    .filter(({ place }) => place > after)
    .sort((a, b) => (a.place < b.place ? -1 : 1));
  if (over.length === 0) return { resolved: [], resolved_next: null };
  const known = await room.hub.ask((world) => over.map(({ wait }) => knownOf(world, wait)));
  if (isRefusal(known)) return known;
  const rows = over.map(({ wait }, i) => ({ wait, known: known[i] as Known }));
  const shows: Shows<(typeof rows)[number], Resolved> = {
    positionOf: ({ wait }) => wait.ended?.position ?? null,
    show: (row, event) => resolved(row.wait, event, row.known),
  };
  const told = await readPage(room, rows, shows, budget);
  const next = told.length === over.length ? null : (over[told.length - 1]?.place ?? after);
  return { resolved: told, resolved_next: next };
}

/** Stamps never run backwards: what ends later has a later place, whatever goes on meanwhile. */
function placeOf({ step, key }: Wait, { at }: WaitEnd): string {
  return `${String(at).padStart(STAMP_DIGITS, '0')} ${stepId(step, key)}`;
}

const STAMP_DIGITS = 16;

/** What the world knows of it besides the wait itself. */
interface Known {
  readonly reason: string | null;
  readonly turn: Turn | null;
}

function knownOf(world: WorldView, { on, ended }: Wait): Known {
  if (on.kind === 'replies') {
    return { reason: null, turn: world.turns.turns.get(ended?.who ?? '') ?? null };
  }
  if (on.kind !== 'gate') return { reason: null, turn: null };
  const open = world.gates.open.get(on.gate);
  const over = world.gates.ended.get(on.gate);
  return { reason: open?.approvals.at(-1)?.reason ?? over?.end.reason ?? null, turn: null };
}

function resolved(wait: Wait, event: DurableEvent | undefined, { reason, turn }: Known): Resolved {
  const { step, key, on, ended, had } = wait;
  const ref = { step, key };
  const replies = on.kind === 'replies' ? { replies: had.map(messageId) } : {};
  if (ended?.by === 'time') {
    const by = on.kind === 'timer' || on.kind === 'retry' ? on.kind : 'timeout';
    return { ...ref, by, ...replies };
  }
  const word = ended?.word ?? '';
  switch (on.kind) {
    case 'gate':
      return {
        ...{ ...ref, by: 'gate' },
        gate: { id: on.gate, state: word, by: ended?.who ?? null, reason },
      };
    case 'signal': {
      const value = event?.type === 'run.signalled' ? (event.value ?? null) : null;
      return { ...ref, by: 'signal', signal: { name: on.signal, by: ended?.who ?? '', value } };
    }
    case 'child': {
      const { result = null, error = null } = endOf(event) ?? {};
      return { ...ref, by: 'child', child: { id: on.child, state: word, result, error } };
    }
    case 'answer':
      return { ...ref, by: 'answer', answer: word };
    case 'replies':
      if (turn === null) return { ...ref, by: on.as, ...replies };
      return {
        ...{ ...ref, by: on.as, ...replies },
        turn: {
          id: turn.id,
          state: word,
          note: turn.note,
          cost: turn.cost === null ? null : costView(turn.cost),
        },
      };
    default:
      return { ...ref, by: on.kind };
  }
}

export function inSeconds(at: number | null): number | null {
  return at === null ? null : at / 1000;
}
