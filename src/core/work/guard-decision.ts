/**
 * What guards of programs decided, on the record: who asked, for what, what was said and who holds anybody
 * to it. The state holds nothing of it; the log does, chained like everything else [PO12]. It is what the
 * program says of itself, under the name that it came in with.
 */
import type { Asked, Decision } from '../law/decider.ts';
import type { WorldView } from '../law/state.ts';
import { isName } from '../law/text.ts';
import { checkWriter, invalid } from '../law/writer.ts';
import { GUARD_LIST_MAX, GUARD_NAME_CHARS_MAX, GUARD_TEXT_CHARS_MAX } from './work-limits.ts';

export const GUARDED_KINDS = [
  'read',
  'write',
  'delete',
  'execute',
  'connect',
  'rail',
  'invoke',
] as const;

export interface GuardedDecision {
  /** Which guard of the program, by its name. */
  readonly guard: string;
  readonly kind: string;
  readonly what: string;
  readonly allowed: boolean;
  readonly code: string;
  readonly why: string;
  readonly enforcement: 'advisory' | 'os';
  /** For whom the program says that it asked. */
  readonly as: string | null;
  /** How often the same was decided since it was last told. */
  readonly times: number;
}

export interface RecordGuard extends Asked {
  readonly type: 'guard.record';
  readonly decisions: readonly GuardedDecision[];
  /** Decisions that could not be told since the last ones that were. */
  readonly missed: number;
}

export interface GuardRecorded {
  readonly type: 'guard.recorded';
  readonly at: number;
  readonly by: string;
  readonly decisions: readonly GuardedDecision[];
  readonly missed: number;
}

export function decideGuard(
  { settings }: WorldView,
  { at, by, decisions, missed }: RecordGuard,
): Decision<GuardRecorded, null> {
  const forbidden = checkWriter(by, settings);
  if (forbidden !== null) return forbidden;
  if (decisions.length < 1 || decisions.length > GUARD_LIST_MAX) {
    return invalid(`tell 1 to ${GUARD_LIST_MAX} decisions at once with guard.record`);
  }
  // These stand in the list of deeds without quotes: names, never sentences.
  const isBad = ({ guard, kind, code, as }: GuardedDecision): boolean =>
    [guard, kind, code, as ?? 'nobody'].some((name) => !isName(name, GUARD_NAME_CHARS_MAX));
  if (decisions.some(isBad)) {
    return invalid(
      `a guard, a kind, a code and a caller are names of at most ${GUARD_NAME_CHARS_MAX} characters`,
    );
  }
  const told = decisions.map((one) => ({ ...one, what: cut(one.what), why: cut(one.why) }));
  return {
    events: [{ type: 'guard.recorded', at, by: by.id, decisions: told, missed }],
    answer: null,
  };
}

/** What a program was asked for is as long as somebody liked; a record is not. */
const cut = (text: string): string => text.slice(0, GUARD_TEXT_CHARS_MAX);
