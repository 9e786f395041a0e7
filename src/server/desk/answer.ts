/** What the desk answers: an output, or the SOX error envelope and how it sounds at each door. */
import type { Refusal } from '../../core/law/decider.ts';
import { type ErrorEnvelope, REFUSALS, type Sound, toEnvelope } from '../../wire/errors.ts';
import type { TraceEntry } from '../plugins/trace.ts';

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

/** An envelope that a plugin made or passed on; it sounds as it did, or like the refusal of its SOX code. */
export function envelopeAnswer(
  error: ErrorEnvelope,
  known: Sound | undefined,
): { readonly error: ErrorEnvelope; readonly sound: Sound } {
  return { error, sound: known ?? soundOf(error.error_code) };
}

function soundOf(code: string): Sound {
  if (code === 'validation_error') return REFUSALS['input.invalid'];
  return Object.values(REFUSALS).find((sound) => sound.sox === code) ?? REFUSALS.internal;
}
