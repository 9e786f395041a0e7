/**
 * Git hooks, put in and taken out again.
 *
 * A hook that is there is kept beside ours and runs first; uninstall moves it back, the same file
 * with the same bytes, mode and links [GI14]. Installing twice changes nothing [GI15]. All is looked at
 * before anything is changed: a hook of ours that somebody edited, a second foreign hook, or a
 * hooks folder shared by every repository of the user, or reached by a link out of this one, is refused
 * [GI16].
 */
import { chmod, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  HOOK_NAMES,
  type HookName,
  hookScript,
  keptName,
  kindOfScript,
  type ScriptKind,
} from './hook-script.ts';
import { relativeTo } from './place.ts';
import { isProblem, type Problem, problem, quoted } from './problem.ts';
import type { Repository } from './repository.ts';
import { askGit, runGit } from './run-git.ts';

export type HookState = ScriptKind | 'missing' | 'outdated' | 'disabled';

export interface HookReport {
  readonly name: HookName;
  readonly state: HookState;
  /** Whether a hook that was there before is kept, and run first. */
  readonly isChained: boolean;
}

export interface HooksReport {
  readonly folder: string;
  readonly hooks: readonly HookReport[];
  /** The names of the hooks whose files this call changed. */
  readonly changed: readonly HookName[];
  readonly notes: readonly string[];
}

/** `shim` is the executable to call; where it is gone, `synod` on PATH. */
export async function installHooks(
  repository: Repository,
  shim = 'synod',
): Promise<HooksReport | Problem> {
  const folder = await readFolder(repository, { isWriting: true });
  if (isProblem(folder)) return folder;
  return guarded(folder, async () => {
    const before = await look(folder, shim);
    const obstacle = whyNotTouch(folder, before);
    if (obstacle !== null) return obstacle;
    await mkdir(folder, { recursive: true });
    const changed = before.filter(({ state }) => state !== 'ours').map(({ name }) => name);
    for (const { name, state } of before) {
      if (state === 'foreign') await rename(join(folder, name), join(folder, keptName(name)));
      if (state !== 'ours') await writeHook(join(folder, name), hookScript(name, shim));
    }
    return report(repository, folder, changed, shim);
  });
}

export async function uninstallHooks(
  repository: Repository,
  shim?: string,
): Promise<HooksReport | Problem> {
  const folder = await readFolder(repository, { isWriting: false });
  if (isProblem(folder)) return folder;
  return guarded(folder, async () => {
    const before = await look(folder, shim);
    const obstacle = whyNotTouch(folder, before);
    if (obstacle !== null) return obstacle;
    const ours = before.filter(
      ({ state, isChained }) => isChained || (state !== 'foreign' && state !== 'missing'),
    );
    for (const { name, isChained } of ours) {
      // A rename takes the place of ours at once, so there is no moment without a hook.
      if (isChained) await rename(join(folder, keptName(name)), join(folder, name));
      else await rm(join(folder, name), { force: true });
    }
    const changed = ours.map(({ name }) => name);
    return report(repository, folder, changed, shim);
  });
}

export async function checkHooks(
  repository: Repository,
  shim?: string,
): Promise<HooksReport | Problem> {
  const folder = await readFolder(repository, { isWriting: false });
  if (isProblem(folder)) return folder;
  return guarded(folder, () => report(repository, folder, [], shim));
}

async function report(
  repository: Repository,
  folder: string,
  changed: readonly HookName[],
  shim: string | undefined,
): Promise<HooksReport> {
  const inside = relativeTo(repository.toplevel, folder);
  const isTracked = inside !== null && relativeTo(repository.commonDir, folder) === null;
  const notes = isTracked
    ? [`hooks are in ${inside}, inside the worktree; git may show them as changes of yours`]
    : [];
  return { folder, hooks: await look(folder, shim), changed, notes };
}

/** Git knows where it looks: worktrees share one folder, and core.hooksPath may name another. */
async function readFolder(
  { toplevel, commonDir }: Repository,
  { isWriting }: { readonly isWriting: boolean },
): Promise<string | Problem> {
  const args = ['rev-parse', '--path-format=absolute', '--git-path', 'hooks'];
  const folder = await askGit(toplevel, args);
  if (isProblem(folder) || !isWriting) return isProblem(folder) ? folder : folder.slice(0, -1);
  const scope = await runGit(toplevel, ['config', '--show-scope', '--get', 'core.hooksPath']);
  if (isProblem(scope)) return scope;
  if (scope.exit === 0 && /^(global|system)\t/.test(scope.stdout)) {
    return problem(
      'hook.global',
      `core.hooksPath is set for every repository of this user: ${quoted(folder.slice(0, -1))}`,
      'give this repository hooks of its own: git config core.hooksPath .git/hooks',
    );
  }
  const named = scope.exit === 0 ? scope.stdout.trimEnd().replace(/^\w+\t/, '') : null;
  const spelt = named === null ? join(commonDir, 'hooks') : resolve(toplevel, named);
  const real = folder.slice(0, -1);
  return whyElsewhere(spelt, real, [toplevel, commonDir]) ?? real;
}

/** A folder that is in the repository by its name and elsewhere by a link is somebody else's to change. */
function whyElsewhere(spelt: string, real: string, homes: readonly string[]): Problem | null {
  const isIn = (path: string): boolean => homes.some((home) => relativeTo(home, path) !== null);
  if (!isIn(spelt) || isIn(real)) return null;
  return problem(
    'hook.elsewhere',
    `${quoted(spelt)} is reached by a link that leads out of the repository, to ${quoted(real)}`,
    'make it a folder of this repository (remove the link), or name the other in core.hooksPath',
  );
}

function look(folder: string, shim: string | undefined): Promise<HookReport[]> {
  return Promise.all(
    HOOK_NAMES.map(async (name) => {
      const isChained = (await readMode(join(folder, keptName(name)))) !== null;
      const path = join(folder, name);
      const mode = await readMode(path);
      if (mode === null) return { name, state: 'missing' as const, isChained };
      const state = mode.isFile ? await readState(path, mode.isExecutable, name, shim) : 'foreign';
      return { name, state, isChained };
    }),
  );
}

async function readState(
  path: string,
  isExecutable: boolean,
  name: HookName,
  shim: string | undefined,
): Promise<HookState> {
  const bytes = await readFile(path);
  const kind = kindOfScript(bytes);
  if (kind !== 'ours') return kind;
  if (!isExecutable) return 'disabled';
  // Asked without a shim, any of ours will do.
  const isCurrent = shim === undefined || bytes.equals(Buffer.from(hookScript(name, shim)));
  return isCurrent ? 'ours' : 'outdated';
}

async function readMode(path: string) {
  try {
    // A link is not followed: a foreign hook is often one, and is kept as the link it is.
    const found = await lstat(path);
    const isExecutable = process.platform === 'win32' || (found.mode & 0o111) !== 0;
    return { isFile: found.isFile(), isExecutable };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/** Whole or not at all: git may run the hook at any moment. */
async function writeHook(path: string, text: string): Promise<void> {
  const draft = `${path}.synod-new`;
  await rm(draft, { force: true });
  await writeFile(draft, text, { flag: 'wx' });
  await chmod(draft, 0o755);
  await rename(draft, path);
}

function whyNotTouch(folder: string, hooks: readonly HookReport[]): Problem | null {
  for (const { name, state, isChained } of hooks) {
    if (state === 'edited') return edited(folder, name);
    if (state === 'foreign' && isChained) return twoKept(folder, name);
  }
  return null;
}

function edited(folder: string, name: HookName): Problem {
  return problem(
    'hook.edited',
    `${quoted(join(folder, name))} was written by Synod and has been edited since`,
    `move your lines to ${keptName(name)} beside it and delete ${name}, then try again`,
  );
}

function twoKept(folder: string, name: HookName): Problem {
  return problem(
    'hook.two-kept',
    `${quoted(join(folder, name))} replaced Synod's hook, and ${keptName(name)} is still kept beside it`,
    'join the two into one, delete the kept one, then try again',
  );
}

async function guarded(
  folder: string,
  work: () => Promise<HooksReport | Problem>,
): Promise<HooksReport | Problem> {
  try {
    return await work();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    return problem(
      'hook.unwritable',
      `the hooks in ${quoted(folder)} could not be read or changed (${code ?? message})`,
      'check that the folder is yours, then run it again: it goes on where it stopped',
    );
  }
}
