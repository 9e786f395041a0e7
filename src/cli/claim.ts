/**
 * `synod claim`: take a task and the files it needs, or renew what one holds. Refused, it says who
 * holds what, which paths overlap, when it lapses and how to wait; with `--wait` it waits in the
 * hub's queue, by long calls and without asking again and again [CL10].
 */
import type { Command } from 'commander';
import { namedPaths, readScope, type ScopeFlags, type ScopeInput } from './claim-input.ts';
import { checkpointLines, takeClaim } from './claim-take.ts';
import { elsewhereText, explainRefusal, isWaitable, scopeText, untilText } from './claim-text.ts';
import { readClaims, readMe } from './claims-of-hub.ts';
import { type Context, handle } from './context.ts';
import { type CliError, fail, refused } from './failure.ts';
import { asWord } from './notice-text.ts';
import { duration, seconds } from './parse-value.ts';
import { neutralise } from './terminal.ts';

interface ClaimFlags extends ScopeFlags {
  readonly ttl?: number;
  readonly note?: string;
  readonly wait?: number;
  readonly renew?: boolean;
}

export function registerClaim(program: Command): void {
  const command = program
    .command('claim')
    .description('take a task and the files it needs, or renew what you hold')
    .argument('<task>')
    .argument('[paths...]', 'files, folders or quoted globs; none: the whole git worktree')
    .option('--paths <path...>', 'the same')
    .option('--no-paths', 'claim the work alone, and no files')
    .option('--worktree <dir>', 'the folder the paths are in (the git worktree you are in)')
    .option(...seconds('--ttl <time>', 'seconds, or 30m, 2h: then it lapses (1h)'))
    .option('--note <text>', 'what you are about to do')
    .option(...duration('--wait <time>', 'queue for it that long when somebody holds it'))
    .option('--renew', 'only keep what you hold for longer, with its paths');
  handle<ClaimFlags>(command, claim);
}

async function claim(context: Context<ClaimFlags>): Promise<void> {
  const { args, flags, call, show, remark } = context;
  const [task = '', ...rest] = args;
  const names = namedPaths(rest, flags);
  const scope = await scopeOf(context, task, names);
  const input = { task_id: task, ...scope, note: flags.note, ttl_seconds: flags.ttl };
  const answer = await takeClaim(context, input, flags.wait ?? 0).catch(async (error) => {
    const again = `${retryText(task, names, flags)} --wait 10m`;
    const held = isWaitable(error) ? await readClaims(call).catch(() => []) : [];
    const theirs = held.find((one) => one.task_id === task);
    throw explainRefusal(error, again, elsewhereText(task, scope.worktree ?? '', theirs));
  });
  const { claim: taken, renewed } = answer;
  if (flags.renew === true && !renewed) {
    // It lapsed between our two questions; a new claim is not what was asked for.
    await call('claims.release', { task_id: task, epoch: taken.epoch });
    throw notHeld(task);
  }
  show(answer, () => [
    neutralise(
      `${renewed ? 'renewed' : 'claimed'} ${taken.task_id} ${untilText(taken.lease_expires_at)}, ` +
        `epoch ${taken.epoch}: ${scopeText(taken)}`,
    ),
    ...(renewed ? [] : checkpointLines(taken.checkpoint)),
  ]);
  if (taken.paths.length === 0 && taken.worktree === '' && flags.paths !== false) {
    remark('it covers no files; name them with --paths');
  }
}

/** What is held already, or was offered, keeps its paths unless others are named. */
async function scopeOf(
  { call, flags }: Context<ClaimFlags>,
  task: string,
  names: readonly string[],
): Promise<ScopeInput> {
  const isNamed = names.length > 0 || flags.worktree !== undefined || flags.paths === false;
  if (flags.renew === true && isNamed) {
    throw fail('cli.usage', '--renew keeps the paths; leave it out to change them');
  }
  if (isNamed) return readScope(names, flags);
  const me = await readMe(call);
  const isAmong = async (filter: { owner: string } | { offered_to: string }): Promise<boolean> =>
    (await readClaims(call, filter)).some((one) => one.task_id === task);
  const isHeld = await isAmong({ owner: me });
  if (flags.renew === true && !isHeld) throw notHeld(task);
  return isHeld || (await isAmong({ offered_to: me })) ? {} : readScope(names, flags);
}

function notHeld(task: string): CliError {
  return refused({
    error_code: 'validation_error',
    message: `you do not hold ${task}, so there is nothing to renew; take it with: synod claim ${task}`,
    detail: { reason: 'claim.not-found', id: task },
  });
}

/** The command as it was typed, for somebody to type again. */
function retryText(task: string, names: readonly string[], flags: ClaimFlags): string {
  const words = [
    ...['synod', 'claim', task],
    ...names,
    ...(flags.paths === false ? ['--no-paths'] : []),
    ...(flags.worktree === undefined ? [] : ['--worktree', flags.worktree]),
  ];
  return words.map(asWord).join(' ');
}
