/** What the executor and the hub say to each other about runs, in the words of the wire. */
import type { RecordedError } from './errors.ts';

export type RunState =
  | 'queued'
  | 'running'
  | 'completed'
  | 'failed'
  | 'compensating'
  | 'compensated'
  | 'compensation_failed'
  | 'cancelled'
  | 'stuck';

export interface RunView {
  readonly id: string;
  readonly name: string;
  readonly version: string | null;
  readonly state: RunState;
  readonly over: boolean;
  readonly suspended: boolean;
  readonly cancelling: string | null;
  readonly input: unknown;
  readonly result?: unknown;
  readonly error: RecordedError | null;
  readonly epoch: number;
  readonly stuck: { readonly difference: string } | null;
  readonly traceparent: string | null;
  readonly attempts: number;
}

export interface StepView {
  readonly step: string;
  readonly key: string | null;
  readonly kind: string;
  readonly state: string;
  readonly uncertain: boolean;
  readonly attempts: number;
  readonly result?: unknown;
  readonly error?: RecordedError | null;
  readonly started_at: number | null;
  readonly waiting_on: WaitView | null;
  readonly order: number | null;
}

export interface WaitView {
  readonly on: { readonly kind?: unknown };
  readonly until: number | null;
  readonly ended: boolean;
}

export interface Resolved {
  readonly step: string;
  readonly key: string | null;
  readonly by: string;
  readonly gate?: { id: string; state: string; by: string | null; reason: string | null };
  readonly signal?: { readonly name: string; readonly by: string; readonly value: unknown };
  readonly child?: {
    readonly id: string;
    readonly state: RunState;
    readonly result?: unknown;
    readonly error?: RecordedError | null;
  };
  readonly turn?: { readonly turn_id: string; readonly state: string };
  readonly replies?: readonly string[];
  readonly answer?: string;
}

export interface Taken {
  readonly run: RunView;
  readonly epoch: number;
  readonly news: number;
  readonly journal: readonly StepView[];
  readonly journal_next: string | null;
  readonly resolved: readonly Resolved[];
}

export interface News {
  readonly id: string;
  readonly epoch: number;
  readonly ok: boolean;
  readonly news: number;
  readonly cancelling: string | null;
  readonly resolved: readonly Resolved[];
}

export interface Ref {
  readonly step: string;
  readonly key?: string;
}

export type WaitOn =
  | { readonly timer_ms: number }
  | { readonly gate: string }
  | { readonly signal: string }
  | { readonly child: string }
  | { readonly turn: { readonly message_id: string } }
  | { readonly collect: { readonly message_id: string; readonly count: number } }
  | { readonly retry_ms: number }
  | { readonly ask: string };

export type Entry =
  | (Ref & {
      readonly kind: 'started';
      readonly step_kind?: string;
      readonly policy?: 'retry' | 'ask' | 'fail';
    })
  | (Ref & {
      readonly kind: 'completed';
      readonly step_kind?: string;
      readonly result?: unknown;
      readonly took_ms?: number;
    })
  | (Ref & {
      readonly kind: 'failed';
      readonly step_kind?: string;
      readonly error: RecordedError;
      readonly retry_ms?: number;
    })
  | (Ref & {
      readonly kind: 'waiting';
      readonly step_kind?: string;
      readonly on: WaitOn;
      readonly timeout_ms?: number;
    })
  | (Ref & { readonly kind: 'skipped'; readonly step_kind?: string })
  | (Ref & { readonly kind: 'cancelled' | 'compensating' | 'compensated' })
  | (Ref & { readonly kind: 'compensation_failed'; readonly error: RecordedError })
  | { readonly kind: 'compensate'; readonly error?: RecordedError }
  | { readonly kind: 'stuck'; readonly difference: string }
  | {
      readonly kind: 'ended';
      readonly state: RunState;
      readonly result?: unknown;
      readonly error?: RecordedError;
    }
  | { readonly kind: 'released' };

export interface Recorded {
  readonly news: number;
  readonly cancelling: string | null;
}
