/**
 * `synod guard`: is this path, or what this shell command would write, mine to touch?
 *
 * Exit code 0 yes, 2 no (with the reason on stderr, as hooks of coding agents expect), 3 not certain.
 * It is a guard rail and no sandbox: what a command writes beyond its arguments nobody sees here.
 */
import type { Command } from 'commander';
import { judgeWrites } from '../place/judge-writes.ts';
import { readGround } from '../place/place.ts';
import { readClaimsFrom, readMe } from './claims-of-hub.ts';
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
  const asked = {
    ground,
    paths: args,
    command: flags.command ?? null,
    me: await readMe(call),
    mustHold: flags.mustHold === true,
    nowMs: Date.now(),
  };
  const judged = await judgeWrites(asked, (worktree) => readClaimsFrom(call, worktree));
  const { writes: _, ...verdict } = orThrow(judged);
  const { verdict: word, reason, remedy } = verdict;
  const line = neutralise(remedy === null ? reason : `${reason}; ${remedy}`);
  show(verdict, () => (word === 'deny' ? [] : [`${word}: ${line}`]));
  if (word === 'deny') process.stderr.write(`synod: denied: ${line}\n`);
  const isLet = word === 'unknown' && flags.allowUnknown === true;
  process.exitCode = isLet ? GUARD_EXITS.allow : GUARD_EXITS[word];
}
