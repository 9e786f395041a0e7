/** A step that the code has asked for in this process, until it is told what became of it. */
import type { Guard } from '../../guard/guard.ts';
import type { Clock } from '../../server/run/index.ts';
import type { RecordedError } from './errors.ts';
import type { HubLine } from './hub-line.ts';
import type { RetryPolicy } from './retry.ts';
import type { Cost, Entry, Ref, Resolved, RunView, StepView } from './seam.ts';
import type { UndoScope } from './step-options.ts';

export interface Compensation {
  readonly retry: RetryPolicy;
  /** For one attempt. */
  readonly timeoutMs: number;
  run(result: unknown, scope: UndoScope): Promise<void> | void;
}

/** What a kind of step does. */
export interface Activity {
  readonly kind: string;
  readonly compensation?: Compensation;
  /** The journal does not say how it ended: begin it, or go on with it. */
  begin(visit: Visit): void;
  /** What it waited for is there. */
  onResolved?(visit: Visit, resolved: Resolved): void;
  /** A result from the journal as the code is to have it; throws when it is none of this step. */
  revive?(result: unknown): unknown;
  /** The run goes on or ends without it. */
  abandon?(visit: Visit): void;
}

export interface Visit {
  readonly step: string;
  readonly key: string | null;
  readonly ref: Ref;
  readonly activity: Activity;
  /** What was on record when the run was taken up. */
  readonly record: StepView | undefined;
  state: 'asked' | 'running' | 'waiting' | 'over';
  /** Its place among those that were completed; null while it is not. */
  order: number | null;
  result: unknown;
  isCompensated: boolean;
  stopTimer(): void;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** What activities are given of the run they belong to. */
export interface Engine {
  readonly hub: HubLine;
  readonly clock: Clock;
  readonly run: RunView;
  /** What steps pass; null: nothing stands before them. */
  readonly guard: Guard | null;
  /** How steps are tried again that do not say. */
  readonly retry: RetryPolicy;
  /** Aborted when the run fails, is cancelled or lost. */
  readonly signal: AbortSignal;
  readonly isUnwinding: boolean;
  /** Chance, from 0 to 1. */
  chance(): number;
  record(...entries: Entry[]): Promise<void>;
  /** Does something for a step; the run stays in this process meanwhile. */
  work(visit: Visit, run: () => Promise<void>): void;
  /** Nothing is to be done until something happens elsewhere, or `afterMs` are over. */
  wait(visit: Visit, afterMs?: number, then?: () => void): void;
  complete(visit: Visit, result: unknown, more?: CompletedMore): Promise<void>;
  fail(visit: Visit, error: RecordedError, cause: unknown): Promise<void>;
  skip(visit: Visit): Promise<void>;
  /** Done when the run ends, however it ends; not when it is given back to go on elsewhere. */
  onEnd(run: () => Promise<void>): void;
  /** The same at every attempt, in whatever process. */
  keyOf(visit: Visit, what?: string): string;
  /** Tells whoever listens; their errors change nothing. */
  tell(event: {
    readonly kind: 'step.retry';
    readonly step: string;
    readonly error: unknown;
  }): void;
}

export interface CompletedMore {
  readonly took_ms?: number;
  readonly cost?: Cost;
  /** What the code is given, if it is more than what is kept. */
  readonly given?: unknown;
}
