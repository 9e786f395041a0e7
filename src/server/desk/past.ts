/** The past as the desk asks for it: a moment, an operation, an answer. Where it is looked up is the platform's. */
import type { Refusal } from '../../core/law/decider.ts';
import type { Principal } from '../../core/law/principal.ts';
import type { Signal } from '../../hub/watch.ts';

/** Which moment is meant: after so many entries, or at a time; neither is now. Milliseconds. */
export interface Moment {
  readonly position: number | null;
  readonly time: number | null;
}

/** Who asks, as it can be told to another thread. */
export interface PastCaller {
  readonly principal: Principal;
  readonly space: string;
  readonly isOwner: boolean;
}

export interface PastAnswer {
  readonly position: number;
  /** What the clock showed; milliseconds, 0 before the first entry. */
  readonly at: number;
  /** What the operation answered, as JSON. */
  readonly text: string;
}

export interface SpanAsked {
  readonly buckets: number;
  readonly from: number | null;
  readonly to: number | null;
}

/** Times are milliseconds; null while the log is empty. */
export interface Span {
  readonly length: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly from: number | null;
  readonly to: number | null;
  readonly entries: readonly number[];
  readonly positions: readonly number[];
}

/** Where the desk has the past looked up; nobody else waits for it meanwhile [PA5]. */
export interface Past {
  at(
    caller: PastCaller,
    moment: Moment,
    asked: { readonly operation: string; readonly input: unknown },
    signal: Signal | null,
  ): Promise<PastAnswer | Refusal>;
  span(caller: PastCaller, asked: SpanAsked, signal: Signal | null): Promise<Span | Refusal>;
}
