/**
 * Where a turn works: inside a root that the hub was told of, links followed, and never in the hub's
 * own directory [RU9]. Without a directory of its own an agent has one that the hub makes for it.
 * It is looked at when the runner is configured and again when the turn begins: links change.
 */
import { mkdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, relative, sep } from 'node:path';
import { type Refusal, refuse } from '../../core/law/decider.ts';

export interface Places {
  /** Absolute. */
  readonly roots: readonly string[];
  /** The hub's data directory. */
  readonly dir: string;
}

/** The real path of the directory, or why a turn may not work there. */
export async function placeOf(cwd: string, { roots, dir }: Places): Promise<string | Refusal> {
  const named = cwd === '~' || cwd.startsWith('~/') ? join(homedir(), cwd.slice(1)) : cwd;
  if (!isAbsolute(named)) return outside(cwd, 'is no absolute path', roots);
  const real = await realDirectory(named);
  if (real === null) return outside(cwd, 'is no directory', roots);
  if (isWithin(real, (await realDirectory(dir)) ?? dir)) {
    return outside(cwd, 'lies in the hub’s own directory', roots);
  }
  for (const root of roots) {
    const realRoot = await realDirectory(root);
    if (realRoot !== null && isWithin(real, realRoot)) return real;
  }
  return outside(cwd, 'lies outside the roots', roots);
}

/** The directory of an agent that was given none; made when it is not there. */
export async function ownPlace(dir: string, space: string, agent: string): Promise<string> {
  const path = join(
    dir,
    'turns',
    'work',
    space,
    encodeURIComponent(agent).replace(/^\.+$/, (dots) => dots.replaceAll('.', '%2E')),
  );
  await mkdir(path, { recursive: true, mode: 0o700 });
  return realpath(path);
}

async function realDirectory(path: string): Promise<string | null> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : null;
  } catch {
    return null;
  }
}

function isWithin(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way));
}

function outside(cwd: string, problem: string, roots: readonly string[]): Refusal {
  const allowed = roots.length === 0 ? 'there are none' : `they are ${roots.join(', ')}`;
  return refuse(
    'runner.cwd-outside',
    `cwd ${JSON.stringify(cwd)} ${problem}; a turn works inside the roots of the hub (turns_roots): ${allowed}`,
    { field: 'cwd', roots },
  );
}
