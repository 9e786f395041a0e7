/** A problem of git or of a path on disk, as the command line says it: its own code, its remedy, exit code 1. */
import { isProblem, type Problem } from '../place/problem.ts';
import { CliError } from './failure.ts';

const TROUBLE_EXIT = 1;

/** The value, or the problem thrown. */
export function orThrow<T>(value: T | Problem): T {
  if (!isProblem(value)) return value;
  const { problem: code, message, remedy: hint } = value;
  const envelope = { error_code: code, message, detail: { hint } };
  throw new CliError(envelope, { code, exit: TROUBLE_EXIT, hint });
}
