/**
 * How a vendor's turn ended, from what its agent said last [RV2]: giving up and having had nothing to do
 * are said in a last line of JSON, never guessed from phrases. A vendor that would not serve is told apart
 * by whether its quota is used up or it is overloaded, and a spent budget asks a person. Pure.
 */

import { readJson } from '../../../core/law/json.ts';
import { trimmedEnd } from '../../../core/law/trimmed-end.ts';
import { isFields } from '../../../wire/fields.ts';
import type { TurnCost, TurnResult } from '../runner.ts';

const NOTE_CHARS_MAX = 500;
const QUESTION_CHARS_MAX = 2_000;

/** All that a reader of a vendor's stream learnt. */
export interface Learnt {
  /** What the agent said last; null when it never came to an end. */
  readonly finalText: string | null;
  readonly sessionRef: string | null;
  readonly cost: TurnCost | null;
  readonly trouble: Trouble | null;
}

export type Trouble =
  | {
      readonly kind: 'quota';
      readonly quota: NonNullable<TurnResult['quota']>;
      readonly note: string;
    }
  | { readonly kind: 'budget'; readonly note: string }
  | { readonly kind: 'failed'; readonly note: string };

/** The result of a turn that was shown `shown`; `problem` is what became of the process, if not well. */
export function endingOf(
  { finalText, sessionRef, cost, trouble }: Learnt,
  shown: readonly string[],
  problem: string | null,
): TurnResult {
  const rest = {
    ...(sessionRef !== null && { session_ref: sessionRef }),
    ...(cost !== null && { cost }),
  };
  if (trouble?.kind === 'quota') {
    return { outcome: 'failed', note: trouble.note, quota: trouble.quota, ...rest };
  }
  if (trouble?.kind === 'budget') {
    return { outcome: 'gave_up', note: `budget.exhausted: ${trouble.note}`, ...rest };
  }
  if (trouble !== null) return { outcome: 'failed', note: trouble.note, ...rest };
  if (finalText === null) return { outcome: 'failed', note: problem ?? 'no result', ...rest };
  const said = lastLine(finalText);
  const note = finalText.trim().slice(0, NOTE_CHARS_MAX).toWellFormed();
  const noted = note === '' ? {} : { note, output: finalText };
  if (said === null) return { outcome: 'done', consumed: shown, ...noted, ...rest };
  const { outcome, question } = said;
  return { outcome, consumed: shown, ...(question !== '' && { question }), ...noted, ...rest };
}

interface SaidEnding {
  readonly outcome: TurnResult['outcome'];
  readonly question: string;
}

/** The structured end, if there is one: a last line of JSON with an outcome we know. */
function lastLine(text: string): SaidEnding | null {
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  const line = trimmedEnd(last.trim().replace(/^`+/, ''), '`');
  if (!line.startsWith('{') || line.length > 2 * QUESTION_CHARS_MAX) return null;
  let value: unknown;
  try {
    value = readJson(line);
  } catch {
    return null;
  }
  if (!isFields(value)) return null;
  const { outcome, question } = value;
  if (outcome !== 'gave_up' && outcome !== 'nothing' && outcome !== 'done') return null;
  const asked = typeof question === 'string' ? question.slice(0, QUESTION_CHARS_MAX) : '';
  // Giving up without a word of why would be an item nobody can answer.
  const isEmpty = outcome === 'gave_up' && asked.trim() === '';
  return { outcome, question: isEmpty ? 'It gave up and did not say why.' : asked.toWellFormed() };
}

/** Quota used up (429) and overload (503, 529) are not the same news; anything else is neither. */
export function quotaOf(status: number, untilMs: number | null): TurnResult['quota'] | null {
  if (status === 429 || status === 402) {
    return { kind: 'exhausted', ...(untilMs !== null && { until: untilMs }) };
  }
  if (status === 503 || status === 529) {
    return { kind: 'overloaded', ...(untilMs !== null && { until: untilMs }) };
  }
  return null;
}

/** Seconds or milliseconds since the epoch, as vendors write it; null for what is no time. */
export function epochMs(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{9,13}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number) || number <= 0) return null;
  return number < 1e11 ? Math.round(number * 1_000) : Math.round(number);
}

const CLOCK =
  /(?:try again at|resets(?: at)?)\s+(?:([A-Z][a-z]{2})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? (?:(\d{4})[ ,]+)?(?:at )?)?(\d{1,2})(?::(\d{2}))? ?([AaPp])\.?[Mm]/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** "try again at 1:28 AM", "resets 3pm", "try again at Nov 20th, 2026 1:28 AM": on the clock of this machine. */
export function saidReset(text: string, nowMs: number): number | null {
  const found = CLOCK.exec(text);
  if (found === null) return null;
  const [, month, day, year, hour = '0', minute = '0', half = 'a'] = found;
  const at = new Date(nowMs);
  if (month !== undefined && MONTHS.includes(month))
    at.setMonth(MONTHS.indexOf(month), Number(day));
  if (year !== undefined) at.setFullYear(Number(year));
  at.setHours((Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0), Number(minute), 0, 0);
  if (month === undefined && at.getTime() <= nowMs) at.setDate(at.getDate() + 1);
  return at.getTime() > nowMs ? at.getTime() : null;
}
