/**
 * Runs and their steps as they are shown. The state holds where things lie; what was said is read from the log
 * here: inputs, results, errors, the values of signals.
 */
import { isRefusal, type Refusal } from '../../core/law/decider.ts';
import type { WorldView } from '../../core/law/state.ts';
import type { DurableEvent } from '../../core/law/world.ts';
import { messageId } from '../../core/talk/message-id.ts';
import type { Turn } from '../../core/turns/turn-state.ts';
import type { RunEntry, RunError } from '../../core/workflows/run-events.ts';
import { isOver, type RunView, type Wait } from '../../core/workflows/run-state.ts';
import type { StepView } from '../../core/workflows/steps.ts';
import type { Hub } from '../../hub/hub.ts';
import type { OutputOf } from '../../wire/operation.ts';
import type {
  workflowsGet,
  workflowsList,
  workflowsSteps,
  workflowsTake,
} from '../../wire/operations/workflows.ts';
import type { Wanted } from './offers.ts';
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

/** With what lies in the log. */
export async function runOut(hub: Hub, facts: RunFacts): Promise<RunOut> {
  const { head, inputAt, endAt } = facts;
  const positions = endAt === null ? [inputAt] : [inputAt, endAt];
  const [first, last] = await hub.eventsAt(positions);
  const end = last === undefined ? null : endOf(last);
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

function endOf(event: DurableEvent): End {
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

/** Steps with what they came to. */
export async function stepsOut(
  hub: Hub,
  run: Pick<RunView, 'epoch'>,
  steps: readonly StepView[],
  waits: readonly Wait[],
): Promise<StepOut[]> {
  const told = steps.filter(isTold);
  const events = await hub.eventsAt(told.map(({ position }) => position));
  const found = new Map(told.map((step, i) => [step, entryOn(events[i], step)]));
  return steps.map((step): StepOut => {
    const entry = found.get(step) ?? null;
    const wait = waits.find((one) => one.step === step.step && one.key === step.key);
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
  });
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

/** What ended waits ended with. */
export async function resolvedOut(hub: Hub, waits: readonly Wait[]): Promise<Resolved[] | Refusal> {
  const over = waits.filter(({ ended }) => ended !== null);
  if (over.length === 0) return [];
  const known = await hub.ask((world) => over.map((wait) => knownOf(world, wait)));
  if (isRefusal(known)) return known;
  const positions = over.map(({ ended }) => ended?.position ?? null);
  const stored = positions.filter((one) => one !== null);
  const events = await hub.eventsAt(stored);
  const at = new Map(stored.map((position, i) => [position, events[i]]));
  return over.map((wait, i) => resolved(wait, at.get(positions[i] ?? -1), known[i] as Known));
}

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
      const end = event === undefined ? null : endOf(event);
      const { result = null, error = null } = end ?? {};
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
