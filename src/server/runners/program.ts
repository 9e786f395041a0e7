/**
 * Whether a program is there to be run, looked for as the system does: a name on the PATH, a path from
 * the working directory. Asked when a runner is configured, not when mail comes.
 */
import { findProgram } from '../../bus/process/find-program.ts';
import { type Refusal, refuse } from '../../core/law/decider.ts';

/** Null when it can be run. */
export async function checkProgram(
  program: string,
  cwd: string | null,
  field: string,
  path: string = process.env.PATH ?? '',
): Promise<Refusal | null> {
  return (await findProgram(program, cwd, path)) === null
    ? refuse('runner.unusable', explain(program), { field, program })
    : null;
}

function explain(program: string): string {
  return program.includes('/')
    ? `${JSON.stringify(program)} is no file that can be executed; correct the path (a relative one starts from cwd), or chmod +x it`
    : `there is no program ${JSON.stringify(program)} on the PATH of the hub; install it, or give its full path`;
}
