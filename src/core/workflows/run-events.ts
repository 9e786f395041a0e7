/** What is asked of runs and queues, and what then happened. What a run carries is JSON that nobody here reads. */
import type { Asked } from '../law/decider.ts';
import type { EndState, QueueFields, StepRef } from './run-state.ts';
import type { StepPolicy } from './steps.ts';

export interface RunError {
  readonly name: string;
  readonly message: string;
  readonly terminal: boolean;
}

export interface StepCost {
  readonly usd?: number;
  readonly tokens_in?: number;
  readonly tokens_out?: number;
}

interface OnStep {
  readonly step: string;
  readonly key?: string;
  /** What sort of step it is, where that is told first; else `step`. */
  readonly as?: string;
}

/** What a wait is for, as it is asked: times in milliseconds from now. */
export type WaitAsked =
  | { readonly timer: number }
  | { readonly retry: number }
  | { readonly gate: string }
  | { readonly signal: string }
  | { readonly child: string }
  | { readonly replies: number; readonly count: number; readonly as: 'turn' | 'collect' }
  | { readonly answer: string };

/** One thing that its executor says of a run. All of one call are told together, or none. */
export type RunEntry =
  | ({ readonly kind: 'started'; readonly policy?: StepPolicy } & OnStep)
  | ({
      readonly kind: 'completed';
      readonly result?: unknown;
      readonly cost?: StepCost;
      /** How long ago it began, when that was not told before. */
      readonly tookMs?: number;
    } & OnStep)
  | ({ readonly kind: 'failed'; readonly error: RunError; readonly retryMs?: number } & OnStep)
  | ({ readonly kind: 'waiting'; readonly on: WaitAsked; readonly timeoutMs?: number } & OnStep)
  | ({ readonly kind: 'skipped' | 'cancelled' | 'compensating' | 'compensated' } & OnStep)
  | ({ readonly kind: 'compensation_failed'; readonly error: RunError } & OnStep)
  | { readonly kind: 'compensate' }
  | { readonly kind: 'stuck'; readonly difference: string }
  | {
      readonly kind: 'ended';
      readonly state: EndState;
      readonly result?: unknown;
      readonly error?: RunError;
    }
  | { readonly kind: 'released' };

export interface StartRun extends Asked {
  readonly type: 'run.start';
  /** Null: the hub names it. */
  readonly id: string | null;
  readonly name: string;
  readonly version: string | null;
  readonly input: unknown;
  /** Stands for the input. */
  readonly digest: string;
  readonly queue: string | null;
  readonly key: string | null;
  readonly priority: number;
  readonly delayMs: number;
  readonly dedup: string | null;
  readonly parent: (StepRef & { readonly id: string }) | null;
  readonly steps: readonly string[];
  readonly traceparent: string | null;
}

/** For an executor: those that wait longest of these workflows, so many at most. */
export interface TakeRuns extends Asked {
  readonly type: 'run.take';
  readonly workflows: readonly { readonly name: string; readonly version: string | null }[];
  readonly executor: string;
  readonly limit: number;
  readonly leaseMs: number | null;
}

export interface RecordRun extends Asked {
  readonly type: 'run.record';
  readonly id: string;
  readonly epoch: number;
  readonly entries: readonly RunEntry[];
  readonly leaseMs: number | null;
}

export interface RenewRuns extends Asked {
  readonly type: 'run.renew';
  readonly runs: readonly { readonly id: string; readonly epoch: number }[];
  readonly leaseMs: number | null;
}

export interface SignalRun extends Asked {
  readonly type: 'run.signal';
  readonly id: string;
  readonly name: string;
  readonly value: unknown;
}

export interface CancelRun extends Asked {
  readonly type: 'run.cancel';
  readonly id: string;
  readonly reason: string | null;
  /** It is over at once, whoever holds it; nothing is undone. */
  readonly isForced: boolean;
}

export interface RetryRun extends Asked {
  readonly type: 'run.retry';
  readonly id: string;
  readonly fromStep: StepRef | null;
  /** New names of steps by their old ones. */
  readonly map: Readonly<Record<string, string>>;
}

export interface ForkRun extends Asked {
  readonly type: 'run.fork';
  readonly id: string;
  readonly atStep: StepRef;
  readonly newId: string | null;
  readonly version: string | null;
  /** Null: that of the run it comes from. */
  readonly input: { readonly value: unknown; readonly digest: string } | null;
}

/** A person's word on a step that may have run. */
export interface AnswerRun extends Asked {
  readonly type: 'run.answer';
  readonly id: string;
  readonly asked: StepRef;
  readonly answer: 'retry' | 'fail';
}

export interface DeclareQueue extends Asked {
  readonly type: 'queue.declare';
  readonly name: string;
  /** Null: it is taken away. */
  readonly fields: QueueFields | null;
}

interface Said {
  readonly at: number;
  readonly by: string;
}

export interface RunStarted extends Said {
  readonly type: 'run.started';
  readonly id: string;
  readonly name: string;
  readonly version: string | null;
  readonly digest: string;
  readonly queue: string | null;
  readonly key: string | null;
  readonly priority: number;
  readonly notBefore: number | null;
  readonly dedup: string | null;
  readonly parent: (StepRef & { readonly id: string }) | null;
  readonly traceparent: string | null;
  /** Names of the steps it is known to have, where the starter told them. */
  readonly steps: readonly string[];
  /** Where the input lies, when it is not here. */
  readonly fork?: {
    readonly id: string;
    readonly step: string;
    readonly inputAt: number | null;
    readonly packed: string;
  };
  /** Left out where there is none. */
  readonly input?: unknown;
}

export interface RunTaken extends Said {
  readonly type: 'run.taken';
  readonly id: string;
  readonly epoch: number;
  readonly executor: string;
  readonly version: string | null;
  readonly leaseMs: number;
}

export interface RunRecorded extends Said {
  readonly type: 'run.recorded';
  readonly id: string;
  readonly epoch: number;
  readonly entries: readonly RunEntry[];
  readonly leaseMs?: number;
}

export interface RunsRenewed extends Said {
  readonly type: 'run.renewed';
  readonly ids: readonly string[];
  readonly leaseMs: number;
}

/** Time has ended something they waited for. */
export interface RunsWoken {
  readonly type: 'run.woken';
  readonly at: number;
  readonly ids: readonly string[];
}

/** The holder was not heard of in time. */
export interface RunLapsed {
  readonly type: 'run.lapsed';
  readonly at: number;
  readonly id: string;
  readonly epoch: number;
}

export interface RunSignalled extends Said {
  readonly type: 'run.signalled';
  readonly id: string;
  readonly name: string;
  readonly value?: unknown;
}

export interface RunCancelled extends Said {
  readonly type: 'run.cancelled';
  readonly id: string;
  readonly reason: string | null;
  /** Nothing of it ran that could be undone: it is over. Else its executor is told. */
  readonly isOver: boolean;
}

export interface RunRetried extends Said {
  readonly type: 'run.retried';
  readonly id: string;
  readonly fromStep: StepRef | null;
  readonly map: Readonly<Record<string, string>>;
}

export interface RunAnswered extends Said {
  readonly type: 'run.answered';
  readonly id: string;
  readonly step: string;
  readonly key: string | null;
  readonly answer: string;
}

export interface QueueDeclared extends Said {
  readonly type: 'queue.declared';
  readonly name: string;
  /** Null: there is none any more. */
  readonly fields: QueueFields | null;
}

export type RunEvent =
  | RunStarted
  | RunTaken
  | RunRecorded
  | RunsRenewed
  | RunsWoken
  | RunLapsed
  | RunSignalled
  | RunCancelled
  | RunRetried
  | RunAnswered
  | QueueDeclared;
