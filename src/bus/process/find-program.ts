/**
 * Whether a program is there to be run, looked for as the system does: a name on the PATH, a path from
 * the working directory.
 */
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';

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

async function isRunnable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
