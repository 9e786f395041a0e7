/**
 * `synod guard`: is this path, or what this shell command would write, mine to touch?
 *
 * Exit code 0 yes, 2 no (with the reason on stderr, as hooks of coding agents expect), 3 not certain.
 * It is a guard rail and no sandbox: what a command writes beyond its arguments nobody sees here.
 */
import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { decideGuard, type GuardWrite } from '../git/guard.ts';
import { createHoldings } from '../git/holdings.ts';
import { type Ground, placeAnywhere, readGround } from '../git/place.ts';
import { isProblem } from '../git/problem.ts';
import { shellWrites } from '../git/shell-writes.ts';
import { readClaims, readMe } from './claims-of-hub.ts';
import { type Context, handle } from './context.ts';
import { fail } from './failure.ts';
import { orThrow } from './git-problem.ts';
import { neutralise } from './terminal.ts';

export const GUARD_EXITS = { allow: 0, deny: 2, unknown: 3 } as const;

interface GuardFlags {
  readonly command?: string;
  readonly mustHold?: boolean;
  readonly allowUnknown?: boolean;
}

export function registerGuard(program: Command): void {
  const command = program
    .command('guard')
    .description('is this path, or what this command would write, yours to touch')
    .argument('[paths...]')
    .option('--command <text>', 'a shell command instead of paths')
    .option('--must-hold', 'also deny what nobody holds')
    .option('--allow-unknown', 'exit code 0 instead of 3 when it is not certain');
  handle<GuardFlags>(command, guard);
}

async function guard({ args, flags, call, show }: Context<GuardFlags>): Promise<void> {
  if (args.length === 0 && flags.command === undefined) {
    throw fail('cli.usage', 'name a path, or a command with --command');
  }
  const ground = orThrow(await readGround(process.cwd()));
  const asked = flags.command === undefined ? null : shellWrites(flags.command, isFolder);
  const named = args.map((path) => {
    const reach = isFolder(path) ? ('tree' as const) : ('file' as const);
    return { path, reach, isFollowed: true };
  });
  const placed = await placeAll(ground, [...named, ...(asked?.writes ?? [])]);
  const me = await readMe(call);
  let verdict = decideGuard({ ...question(asked, flags, me), writes: [] }, () => []);
  for (const [worktree, writes] of placed) {
    const claims = await readClaims(call, { worktree });
    const one = decideGuard({ ...question(asked, flags, me), writes }, createHoldings(claims));
    // The worst of all worktrees; what is denied anywhere is denied.
    if (verdict.verdict !== 'deny') verdict = one;
  }
  const { verdict: word, reason, remedy } = verdict;
  const line = neutralise(remedy === null ? reason : `${reason}; ${remedy}`);
  show(verdict, () => (word === 'deny' ? [] : [`${word}: ${line}`]));
  if (word === 'deny') process.stderr.write(`synod: denied: ${line}\n`);
  const isLet = word === 'unknown' && flags.allowUnknown === true;
  process.exitCode = isLet ? GUARD_EXITS.allow : GUARD_EXITS[word];
}

function question(asked: ReturnType<typeof shellWrites> | null, flags: GuardFlags, me: string) {
  return {
    isCertain: asked?.isCertain ?? true,
    why: asked?.why ?? null,
    me,
    mustHold: flags.mustHold === true,
    nowMs: Date.now(),
  };
}

/** By worktree, because claims are. What is in no worktree is in nobody's way. */
async function placeAll(
  ground: Ground,
  writes: readonly (GuardWrite & { readonly isFollowed: boolean })[],
): Promise<Map<string, GuardWrite[]>> {
  const placed = new Map<string, GuardWrite[]>();
  for (const { path, reach, isFollowed } of writes) {
    const place = await placeAnywhere(ground, path, { isFollowed });
    if (isProblem(place) && place.problem === 'path.git-internal') continue;
    const found = orThrow(place);
    if (found === null) continue;
    const known = placed.get(found.worktree) ?? [];
    placed.set(found.worktree, [...known, { path: found.path, reach }]);
  }
  return placed;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
