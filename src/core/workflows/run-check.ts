/** What may stand in the fields of a run; each flaw is refused by the name of its field. */
import { type Refusal, refuse } from '../law/decider.ts';
import { isName, isPrintable, NAME_ALPHABET } from '../law/text.ts';
import { RUN_ENDS, type RunState, type StepRef } from './run-state.ts';
import {
  EXECUTOR_CHARS_MAX,
  RUN_ID_CHARS_MAX,
  RUN_LEASE_MS_LONGEST,
  RUN_LEASE_MS_SHORTEST,
  STEP_KEY_CHARS_MAX,
  STEP_NAME_CHARS_MAX,
} from './workflow-limits.ts';

export function invalid(field: string, issue: string): Refusal {
  return refuse('input.invalid', `${field} ${issue}`, { violations: [{ field, issue }] });
}

/** A name is said without quotes, on the docket too, so it cannot be a sentence. */
export function checkName(field: string, name: string, charsMax: number): Refusal | null {
  if (isName(name, charsMax)) return null;
  return invalid(field, `has 1 to ${charsMax} ${NAME_ALPHABET}`);
}

export function checkRunId(field: string, id: string): Refusal | null {
  if (/^r\d+$/.test(id)) return invalid(field, 'is not r and a number: such are given by the hub');
  return checkName(field, id, RUN_ID_CHARS_MAX);
}

export function checkWord(field: string, text: string | null, charsMax: number): Refusal | null {
  if (text === null || isPrintable(text, charsMax)) return null;
  return invalid(field, `has 1 to ${charsMax} characters, all of them to be seen`);
}

export function checkStep({ step, key }: StepRef, field = 'step'): Refusal | null {
  return checkName(field, step, STEP_NAME_CHARS_MAX) ?? checkWord('key', key, STEP_KEY_CHARS_MAX);
}

export function checkExecutor(executor: string): Refusal | null {
  return checkName('executor', executor, EXECUTOR_CHARS_MAX);
}

export function checkLease(leaseMs: number | null): Refusal | null {
  const [least, most] = [RUN_LEASE_MS_SHORTEST, RUN_LEASE_MS_LONGEST];
  return leaseMs === null ? null : checkWhole('lease_ms', leaseMs, least, most);
}

export function checkCount(
  field: string,
  size: number,
  least: number,
  most: number,
): Refusal | null {
  if (size >= least && size <= most) return null;
  return invalid(field, `has ${least} to ${most} of them`);
}

export function checkWhole(
  field: string,
  value: number,
  least: number,
  most: number,
): Refusal | null {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return null;
  return invalid(field, `is a whole number from ${least} to ${most}`);
}

export function refuseArrow(id: string, from: RunState, to: string): Refusal {
  const after = RUN_ENDS[from].join(', ');
  const instead = after === '' ? 'it is over' : `it may become ${after}`;
  return refuse('workflow.state', `${id} is ${from} and cannot become ${to}: ${instead}`, {
    ...{ id, from, to },
  });
}
