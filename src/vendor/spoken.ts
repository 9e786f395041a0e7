/** What programs of vendors print: lines of JSON, and text for people, bounded. */

import { readJson } from '../core/law/json.ts';
import { isFields } from '../wire/fields.ts';

const BRIEF_CHARS_MAX = 2_000;

/** Null when the line is not a JSON object. */
export function parseLine(line: string): Readonly<Record<string, unknown>> | null {
  if (!line.startsWith('{')) return null;
  try {
    const value: unknown = readJson(line);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

export function brief(text: string): string {
  const kept = text.slice(0, BRIEF_CHARS_MAX).toWellFormed();
  return kept.length < text.length ? `${kept}…` : kept;
}
