/**
 * What an executor says of its run: one call is one event, all of it or nothing. What a stale executor says is
 * refused by its epoch [WF4]; a completed step never completes again, and every arrow is one of the tables [WF5].
 */

import type { EndEvent } from '../gates/gate-end.ts';
import { findGate } from '../gates/gate-view.ts';
import { unreachable } from '../law/assert.ts';
import { type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import type { Principal } from '../law/principal.ts';
import { checkShare } from '../law/shares.ts';
import type { WorldView } from '../law/state.ts';
import { isPrintable, isProse } from '../law/text.ts';
import { mayExecute, noRun, runFor } from './access.ts';
import {
  checkCount,
  checkLease,
  checkName,
  checkStep,
  checkWhole,
  invalid,
  refuseArrow,
} from './run-check.ts';
import type { RecordRun, RunEntry, RunError, RunRecorded, WaitAsked } from './run-events.ts';
import { gatesLeft } from './run-gates.ts';
import { findRun, RUN_ENDS, type RunState, type RunView } from './run-state.ts';
import { charsOf, STEP_WORDS, type StepState, stepId, stepLabel } from './steps.ts';
import type { Renewal } from './take.ts';
import {
  DIFFERENCE_CHARS_MAX,
  ENTRIES_LIST_MAX,
  ERROR_MESSAGE_CHARS_MAX,
  ERROR_NAME_CHARS_MAX,
  SIGNAL_NAME_CHARS_MAX,
  SLEEP_MS_MAX,
  STEP_KIND_CHARS_MAX,
  STEPS_PER_RUN_MAX,
  WAITS_PER_RUN_MAX,
} from './workflow-limits.ts';

export function decideRecord(
  world: WorldView,
  command: RecordRun,
): Decision<RunRecorded | EndEvent, Renewal> {
  const { by, at, id, epoch, entries, leaseMs } = command;
  const run = world.workflows.live.get(id);
  const isMine = run !== undefined && run.leaseUntil !== null && run.heldBy === by.id;
  if (!isMine || run.epoch !== epoch) return refuseStale(world, command);
  const unfit =
    checkLease(leaseMs) ??
    checkCount('entries', entries.length, 1, ENTRIES_LIST_MAX) ??
    checkEntries(world, by, run, entries);
  if (unfit !== null) return unfit;
  const recorded: RunRecorded = {
    ...{ type: 'run.recorded', at, by: by.id, id, epoch, entries },
    ...(leaseMs !== null && { leaseMs }),
  };
  const { news, cancelling } = run;
  const withdrawn = run.waits.length === 0 ? [] : gatesDropped(world, run, entries, at);
  return { events: [recorded, ...withdrawn], answer: { id, isHeld: true, news, cancelling } };
}

/** The run is over, or a step that waited goes on without the gate. */
function gatesDropped(
  world: WorldView,
  run: RunView,
  entries: readonly RunEntry[],
  at: number,
): EndEvent[] {
  const isEnded = entries.at(-1)?.kind === 'ended';
  const gone = new Set(
    entries.flatMap((entry) =>
      'step' in entry && entry.kind !== 'waiting' ? stepId(entry.step, entry.key ?? null) : [],
    ),
  );
  const reason = isEnded ? 'its run has ended' : 'its run went on without it';
  return gatesLeft(world, [run], at, reason, {
    isWait: ({ step, key }) => isEnded || gone.has(stepId(step, key)),
  });
}

/** Says who holds it now, to whoever may see it. */
function refuseStale(world: WorldView, { by, id, epoch }: RecordRun): Refusal {
  const run = findRun(world.workflows, id);
  if (run === undefined || !mayExecute(world.workflows, by, run)) return noRun(id);
  const holder =
    run.leaseUntil === null || run.heldBy === null
      ? `nobody holds it, it is ${run.state}`
      : `${run.heldBy === by.id ? (run.executor ?? by.id) : 'another executor'} holds it`;
  return refuse(
    'workflow.stale',
    `${id} is not yours under epoch ${epoch} (${holder}, epoch ${run.epoch}): stop what you do for it`,
    { id, epoch: run.epoch, state: run.state },
  );
}

/** What the entries before one in the same call have made of the run. */
interface Draft {
  readonly world: WorldView;
  readonly by: Principal;
  readonly run: RunView;
  readonly steps: Map<string, StepState>;
  state: RunState;
  added: number;
  chars: number;
  waits: number;
  isOver: boolean;
}

function checkEntries(
  world: WorldView,
  by: Principal,
  run: RunView,
  entries: readonly RunEntry[],
): Refusal | null {
  const draft: Draft = {
    ...{ world, by, run, steps: new Map(), state: run.state },
    ...{ added: 0, chars: 0, waits: run.waits.length, isOver: false },
  };
  for (const entry of entries) {
    if (draft.isOver) {
      return invalid('entries', 'end with stuck, ended or released: nothing follows on it');
    }
    const unfit = 'step' in entry ? checkStepEntry(draft, entry) : checkRunEntry(draft, entry);
    if (unfit !== null) return unfit;
  }
  if (run.stepCount + draft.added > STEPS_PER_RUN_MAX) {
    return refuseFull('STEPS_PER_RUN_MAX', STEPS_PER_RUN_MAX);
  }
  if (draft.waits > WAITS_PER_RUN_MAX) return refuseFull('WAITS_PER_RUN_MAX', WAITS_PER_RUN_MAX);
  if (draft.chars === 0) return null;
  const { chars, charsBy } = world.workflows;
  const starter = { id: run.startedBy, tier: 'standard' } as const;
  const mine = charsBy.get(run.startedBy) ?? 0;
  return checkShare('JOURNAL_CHARS_MAX', starter, chars, mine, draft.chars);
}

type StepEntry = Extract<RunEntry, { readonly step: string }>;

const THEN: Readonly<Record<StepEntry['kind'], StepState>> = {
  started: 'running',
  completed: 'completed',
  failed: 'failed',
  waiting: 'pending',
  skipped: 'skipped',
  cancelled: 'cancelled',
  compensating: 'completed',
  compensated: 'compensated',
  compensation_failed: 'compensation_failed',
};

function checkStepEntry(draft: Draft, entry: StepEntry): Refusal | null {
  const { run, steps } = draft;
  const key = entry.key ?? null;
  const id = stepId(entry.step, key);
  const before = steps.get(id) ?? run.steps?.get(id)?.state;
  const { kind } = entry;
  if (before === undefined) {
    const flaw = checkStep({ step: entry.step, key }) ?? checkKind(entry.as);
    if (flaw !== null) return flaw;
    draft.added++;
    draft.chars += charsOf({ step: entry.step, key });
  }
  const from = before ?? 'pending';
  if (!STEP_WORDS[from].includes(kind)) return refuseWord(run.id, entry, from);
  const isRetried = kind === 'failed' && entry.retryMs !== undefined;
  steps.set(id, isRetried ? 'pending' : THEN[kind]);
  switch (entry.kind) {
    case 'failed':
      return (
        checkError(entry.error) ??
        (entry.retryMs === undefined ? null : checkMs('retry_ms', entry.retryMs))
      );
    case 'compensation_failed':
      return checkError(entry.error);
    case 'waiting':
      draft.waits++;
      return (
        checkWait(draft, entry.on) ??
        (entry.timeoutMs === undefined ? null : checkMs('timeout_ms', entry.timeoutMs))
      );
    default:
      return null;
  }
}

function checkRunEntry(
  draft: Draft,
  entry: Exclude<RunEntry, { readonly step: string }>,
): Refusal | null {
  const { run, state } = draft;
  switch (entry.kind) {
    case 'compensate':
      if (state !== 'running' && state !== 'compensating') {
        return refuseArrow(run.id, state, 'compensating');
      }
      draft.state = 'compensating';
      return null;
    case 'stuck':
      draft.isOver = true;
      if (entry.difference !== '' && isProse(entry.difference, DIFFERENCE_CHARS_MAX)) return null;
      return invalid('difference', `is text of 1 to ${DIFFERENCE_CHARS_MAX} characters`);
    case 'released':
      draft.isOver = true;
      return null;
    case 'ended':
      draft.isOver = true;
      if (!RUN_ENDS[state].includes(entry.state)) return refuseArrow(run.id, state, entry.state);
      return entry.error === undefined ? null : checkError(entry.error);
    default:
      return unreachable(entry);
  }
}

function checkWait({ world, by, run }: Draft, on: WaitAsked): Refusal | null {
  if ('timer' in on) return checkMs('on.timer_ms', on.timer);
  if ('retry' in on) return checkMs('on.retry_ms', on.retry);
  if ('signal' in on) return checkName('on.signal', on.signal, SIGNAL_NAME_CHARS_MAX);
  if ('gate' in on) {
    const gate = findGate(world.gates, by, on.gate);
    return 'refused' in gate ? gate : null;
  }
  if ('child' in on) {
    const child = runFor(world.workflows, by, on.child);
    if ('refused' in child) return child;
    return child.id === run.id
      ? invalid('on.child', 'is another run: none waits for itself')
      : null;
  }
  if ('answer' in on) {
    if (isPrintable(on.answer, DIFFERENCE_CHARS_MAX)) return null;
    return invalid('on.ask', `is a line of 1 to ${DIFFERENCE_CHARS_MAX} characters`);
  }
  const isThere = Number.isSafeInteger(on.replies) && on.replies < world.length;
  if (!isThere) return refuse('message.not-found', 'there is no such message to wait for');
  return checkWhole('on.collect.count', on.count, 1, WAITS_PER_RUN_MAX);
}

function checkKind(kind: string | undefined): Refusal | null {
  return kind === undefined ? null : checkName('step_kind', kind, STEP_KIND_CHARS_MAX);
}

function checkMs(field: string, ms: number): Refusal | null {
  return checkWhole(field, ms, 0, SLEEP_MS_MAX);
}

function checkError({ name, message }: RunError): Refusal | null {
  if (!isPrintable(name, ERROR_NAME_CHARS_MAX)) {
    return invalid('error.name', `is a word of 1 to ${ERROR_NAME_CHARS_MAX} characters`);
  }
  if (message.length <= ERROR_MESSAGE_CHARS_MAX) return null;
  return invalid('error.message', `has at most ${ERROR_MESSAGE_CHARS_MAX} characters`);
}

function refuseWord(id: string, entry: StepEntry, from: StepState): Refusal {
  const { step, key = null, kind } = entry;
  const named = stepLabel(step, key);
  const detail = { id, step, key, from, to: kind };
  if (from === 'completed' || from === 'compensated') {
    return refuse(
      'workflow.step-completed',
      `step ${named} of ${id} is ${from}: it is not ${kind} again; read its result with workflows.steps`,
      detail,
    );
  }
  const after = STEP_WORDS[from].join(', ');
  const instead = after === '' ? 'nothing follows on that' : `only ${after} follows`;
  return refuse(
    'workflow.step-state',
    `step ${named} of ${id} is ${from} and is not ${kind}: ${instead}`,
    detail,
  );
}
