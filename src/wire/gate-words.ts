/**
 * What an agent is told when a permission it asked for has come to an end, whether in a turn or at a
 * harness's own prompt: which end it was, whose word, and why [RV3] [PG3]. Only `approved` lets anything
 * happen.
 */
import type { Fields } from './fields.ts';
import { named, oneLine } from './quoted.ts';

export interface GateOutcome {
  readonly state: 'approved' | 'denied' | 'expired' | 'withdrawn' | 'superseded';
  readonly by: string | null;
  readonly reason: string | null;
}

const REASON_CHARS_MAX = 1_000;
/** What a tool does is in one of these, where it has one. */
const MAIN_FIELDS = ['command', 'file_path', 'filePath', 'url'] as const;

export function gateWords({ state, by, reason }: GateOutcome): string {
  const who = by === null ? 'a person' : named(by);
  const why = reason === null || reason.trim() === '' ? '' : ` The reason: ${bounded(reason)}`;
  switch (state) {
    case 'approved':
      return `Approved by ${who}, this once.`;
    case 'denied':
      if (by === null) return `Not approved, and no person has decided.${why}`;
      return `Denied by ${who}, a person who decided.${why} The same by another way is denied too.`;
    case 'expired':
      return `Not approved: nobody answered in time, so the request expired. No person denied it and none approved it.${why}`;
    default:
      return `Not approved: the request was ${state} before anybody decided.${why}`;
  }
}

function bounded(reason: string): string {
  return JSON.stringify(oneLine(reason.slice(0, REASON_CHARS_MAX), REASON_CHARS_MAX));
}

/** What a person reads before deciding: the command or the file first, then everything else. */
export function gateSubject(input: Fields): string {
  const main = MAIN_FIELDS.find((name) => typeof input[name] === 'string');
  if (main === undefined) return JSON.stringify(input);
  // What the model says it is for decides nothing.
  const { [main]: first, description: _told, ...rest } = input;
  return Object.keys(rest).length === 0
    ? String(first)
    : `${String(first)} with ${JSON.stringify(rest)}`;
}
