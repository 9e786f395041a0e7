/**
 * Whether a program is there to be run, looked for as the system does: a name on the PATH, a path from
 * the working directory. Asked when a runner is configured, not when mail comes.
 */
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
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

/** Its path, or null. */
export async function findProgram(
  program: string,
  cwd: string | null,
  path: string = process.env.PATH ?? '',
): Promise<string | null> {
  const places = program.includes('/')
    ? [resolve(cwd ?? '/', program)]
    : path.split(delimiter).map((folder) => join(folder, program));
  for (const place of places) if (await isRunnable(place)) return place;
  return null;
}

function explain(program: string): string {
  return program.includes('/')
    ? `${JSON.stringify(program)} is no file that can be executed; correct the path (a relative one starts from cwd), or chmod +x it`
    : `there is no program ${JSON.stringify(program)} on the PATH of the hub; install it, or give its full path`;
}

async function isRunnable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
