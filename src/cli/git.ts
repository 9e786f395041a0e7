/**
 * `synod git …`: claims that know their repository, branch and base, and the hooks that let go of
 * them on commit or merge and refuse a commit that touches what somebody else holds.
 */
import type { Command } from 'commander';
import { placeNames } from '../place/claim-scope.ts';
import { isHookName } from '../place/hook-script.ts';
import { checkHooks, type HooksReport, installHooks, uninstallHooks } from '../place/hooks.ts';
import { readGround } from '../place/place.ts';
import { isProblem, type Problem, problem } from '../place/problem.ts';
import { readRepository } from '../place/repository.ts';
import { checkpointLines, takeClaim } from './claim-take.ts';
import { explainRefusal } from './claim-text.ts';
import { type Context, handle } from './context.ts';
import { fail } from './failure.ts';
import { runHook } from './git-hook.ts';
import { orThrow } from './git-problem.ts';
import { workingCommand } from './on-path.ts';
import { duration, seconds } from './parse-value.ts';
import { neutralise } from './terminal.ts';

interface ClaimFlags {
  readonly base: string;
  readonly releaseOn: string;
  readonly note?: string;
  readonly ttl?: number;
  readonly wait?: number;
}

export function registerGit(program: Command): void {
  const git = program.command('git').description('claims and hooks of this repository');
  registerClaim(git);
  registerHooks(git);
  const hook = git
    .command('hook', { hidden: true })
    .description('what the hooks call; not for people')
    .argument('<name>')
    .argument('[args...]');
  handle(hook, (context) => {
    const [name = ''] = context.args;
    if (!isHookName(name)) throw fail('cli.usage', `there is no hook ${name}`);
    return runHook(context, name);
  });
}

function registerClaim(git: Command): void {
  const command = git
    .command('claim')
    .description('claim a task and its files, with the branch and its base')
    .argument('<task>')
    .argument('[paths...]', 'files, folders or quoted globs; none for the whole worktree')
    .option('--base <branch>', 'where it will be merged', 'main')
    .option('--release-on <event>', 'commit, merge or manual', 'merge')
    .option('--note <text>', 'what you are about to do')
    .option(...seconds('--ttl <time>', 'seconds, or 30m, 2h: then it lapses'))
    .option(...duration('--wait <time>', 'queue for it that long when it is held'));
  handle<ClaimFlags>(command, async ({ args, flags, call, show, remark }) => {
    const [task = '', ...names] = args;
    const { releaseOn } = flags;
    if (!['commit', 'merge', 'manual'].includes(releaseOn)) {
      throw fail('cli.usage', '--release-on is commit, merge or manual');
    }
    const repository = orThrow(await readRepository(process.cwd()));
    // Such a claim is about a branch and its base; "synod claim" needs neither.
    const detached = repository.notes.find(({ problem }) => problem === 'git.detached');
    if (detached !== undefined) orThrow(detached);
    const ground = orThrow(await readGround(process.cwd()));
    const placed = orThrow(await placeNames(ground, names));
    const answer = await takeClaim(
      { call, remark },
      {
        task_id: task,
        ...placed,
        branch: repository.branch ?? undefined,
        git: { repository: repository.commonDir, base: flags.base, auto_release_on: releaseOn },
        note: flags.note,
        ttl_seconds: flags.ttl,
      },
      flags.wait ?? 0,
    ).catch((error) => {
      throw explainRefusal(error, 'the same command with --wait 10m');
    });
    for (const note of repository.notes) remark(`${note.message}; ${note.remedy}`);
    if (releaseOn !== 'manual') await remarkMissingHooks(repository, releaseOn, remark);
    const { claim, renewed } = answer;
    show(answer, () => [
      `claimed ${neutralise(claim.task_id)} on ${neutralise(repository.branch ?? 'no branch')} ` +
        `towards ${neutralise(flags.base)} (epoch ${claim.epoch})`,
      ...(renewed ? [] : checkpointLines(claim.checkpoint ?? null)),
    ]);
  });
}

/** A promise to release by itself is empty when nothing will do it. */
async function remarkMissingHooks(
  repository: Parameters<typeof checkHooks>[0],
  releaseOn: string,
  remark: (line: string) => void,
): Promise<void> {
  const report = await checkHooks(repository);
  const isThere =
    !isProblem(report) &&
    report.hooks.some(({ name, state }) => name === `post-${releaseOn}` && state === 'ours');
  if (!isThere) {
    remark(
      `nothing will release it on ${releaseOn}: no hooks here; put them in with "synod git hooks install"`,
    );
  }
}

interface HooksFlags {
  readonly command?: string;
}

function registerHooks(git: Command): void {
  const hooks = git.command('hooks').description('git hooks of this repository');
  const shim = ['--command <path>', 'the executable the hooks call (default: synod)'] as const;
  const install = hooks
    .command('install')
    .description('put them in; hooks that are there are kept and run first')
    .option(...shim);
  handle<HooksFlags>(install, async (context) => {
    const { command } = context.flags;
    const working = workingCommand(command, process.env);
    if (working === null) return void orThrow(noCommand(command));
    await act(context, installHooks, working);
  });
  const uninstall = hooks
    .command('uninstall')
    .description('take them out; what was there comes back');
  handle<HooksFlags>(uninstall, async (context) => {
    await act(context, uninstallHooks);
  });
  const check = hooks
    .command('check')
    .description('are they in, and whose are they; exit code 1 if not')
    .option(...shim);
  handle<HooksFlags>(check, async (context) => {
    const report = await act(context, checkHooks);
    if (report.hooks.some(({ state }) => state !== 'ours')) process.exitCode = 1;
  });
}

/** Hooks that call nothing would let every commit through and say so each time. */
function noCommand(asked: string | undefined): Problem {
  const what =
    asked === undefined
      ? 'there is no synod that a hook could call'
      : `${asked} is no synod that runs`;
  const remedy =
    'put synod on the PATH (npm link in its folder), or name an executable with --command';
  return problem('hook.no-command', `${what}, so no hook was written`, remedy);
}

async function act(
  { flags, show, remark }: Context<HooksFlags>,
  deed: typeof checkHooks,
  command = flags.command,
): Promise<HooksReport> {
  const repository = orThrow(await readRepository(process.cwd()));
  const report = orThrow(await deed(repository, command));
  show(report, () => [
    `in ${neutralise(report.folder)}:`,
    ...report.hooks.map(({ name, state, isChained }) => {
      const kept = isChained ? ', after the one that was there' : '';
      return `  ${name.padEnd(11)}  ${state}${kept}${report.changed.includes(name) ? ' (changed)' : ''}`;
    }),
  ]);
  for (const note of report.notes) remark(note);
  return report;
}
