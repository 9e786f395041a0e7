/** A problem of git or of a path on disk, as the command line says it: its own code, its remedy, exit code 1. */
import { isProblem, type Problem } from '../place/problem.ts';
import { trouble } from './failure.ts';

/** The value, or the problem thrown. */
export function orThrow<T>(value: T | Problem): T {
  if (!isProblem(value)) return value;
  throw trouble(value.problem, value.message, value.remedy);
}
