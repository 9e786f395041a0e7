/**
 * Whether `synod`, typed in a shell, is this Synod; and the line that makes it so. After a clone it is on
 * no PATH, and every guide, hook and message speaks of `synod`. Run as a program, as `npm install` does
 * at its end, it prints that line, or nothing where all is well.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, realpathSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

type Environment = Readonly<Record<string, string | undefined>>;

const PROGRAM = fileURLToPath(new URL('../../bin/synod', import.meta.url));
/** What `npm link` and an installed package put on the PATH: npm can start no shell script on Windows. */
const LINKED = `${PROGRAM}.js`;
const ANSWER_MS = 10_000;

/** The file that a shell would run for a name; null where there is none. */
export function findOnPath(name: string, env: Environment): string | null {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    // Of npm's own scripts: gone when the script ends.
    if (folder === '' || folder.endsWith(join('node_modules', '.bin'))) continue;
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not there.
    }
  }
  return null;
}

/** What to type so that `synod` is this one; null where it is already. */
export function pathLine(
  env: Environment,
  program: string = PROGRAM,
  linked: string = LINKED,
): string | null {
  const found = findOnPath('synod', env);
  const isOurs = (path: string): boolean =>
    found !== null && realpathSync(found) === realpathSync(path);
  if (isOurs(program) || isOurs(linked)) return null;
  const alias = basename(env.SHELL ?? '') === 'fish' ? 'alias synod ' : 'alias synod=';
  const quoted = `'${program.replaceAll("'", "'\\''")}'`;
  return `"synod" is not on your PATH: run "npm link" here once, or in each shell: ${alias}${quoted}`;
}

/** A command that git hooks can call from any shell; null where none would work. */
export function workingCommand(asked: string | undefined, env: Environment): string | null {
  const choices = asked === undefined ? [...usual(env), PROGRAM] : [asked];
  return choices.find((command) => isSynod(command, env)) ?? null;
}

/** By its bare name, so that the hooks stay when it moves. */
function usual(env: Environment): string[] {
  return findOnPath('synod', env) === null ? [] : ['synod'];
}

function isSynod(command: string, env: Environment): boolean {
  const options = { env: { ...env }, encoding: 'utf8', timeout: ANSWER_MS } as const;
  const { status, stdout } = spawnSync(command, ['--version'], options);
  return status === 0 && /^\d+\.\d+\.\d+/.test(stdout);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const line = pathLine(process.env);
  if (line !== null) process.stdout.write(`\n${line}\n`);
}
