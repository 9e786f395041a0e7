/** What the desk answers: an output, or the SOX error envelope and how it sounds at each door. */
import { type Refusal, type RefusalCode, refuse } from '../../core/law/decider.ts';
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

/** The refusal an envelope was made of; one that a plugin made is a plugin's. */
export function refusalOf({ message, detail = {}, retry_after }: ErrorEnvelope): Refusal {
  const { reason, ...rest } = detail;
  const isOurs = typeof reason === 'string' && Object.hasOwn(REFUSALS, reason);
  const code = isOurs ? (reason as RefusalCode) : 'plugin.refused';
  return refuse(
    code,
    message,
    isOurs ? rest : detail,
    retry_after === undefined ? undefined : retry_after * 1000,
  );
}

function soundOf(code: string): Sound {
  if (code === 'validation_error') return REFUSALS['input.invalid'];
  return Object.values(REFUSALS).find((sound) => sound.sox === code) ?? REFUSALS.internal;
}
