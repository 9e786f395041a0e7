/** What the desk answers: an output, or the SOX error envelope and how it sounds at each door. */
import type { Refusal } from '../core/decider.ts';
import type { TraceEntry } from '../plugin/trace.ts';
import { type ErrorEnvelope, REFUSALS, type Sound, toEnvelope } from '../wire/errors.ts';

export interface AnswerMetadata {
  readonly correlation_id: string;
  readonly pipeline_trace: readonly TraceEntry[];
}

export type Answer =
  | { readonly ok: Record<string, unknown>; readonly metadata?: AnswerMetadata }
  | { readonly error: ErrorEnvelope; readonly sound: Sound; readonly metadata?: AnswerMetadata };

export function refusalAnswer(refusal: Refusal): Answer {
  return { error: toEnvelope(refusal), sound: REFUSALS[refusal.refused] };
}
