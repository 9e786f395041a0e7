/**
 * `synod claims …`: who holds what; and the rarer verbs: queue for something, leave the queue, ask
 * about paths, report the status of a claim. Without a verb it lists.
 */
import type { Command } from 'commander';
import type { CallOutput } from '../client/operations.ts';
import { namedPaths, readScope, type ScopeFlags } from './claim-input.ts';
import { claimRow, metText, untilText } from './claim-text.ts';
import { readMe } from './claims-of-hub.ts';
import { handle } from './context.ts';
import { fail } from './failure.ts';
import { EPOCH_OPTION } from './held-claim.ts';
import { addPageFlags, type PageFlags, parseWhole, seconds } from './parse-value.ts';

export function registerClaims(program: Command): void {
  const claims = program.command('claims').description('who holds what, and waiting for it');
  registerList(claims);
  registerUpdate(claims);
  registerCheck(claims);
  registerWait(claims);
  const unwait = claims.command('unwait').description('leave the queue').argument('<wait>');
  handle(unwait, async ({ args, call, say }) => {
    const wait = parseWhole(args[0] ?? '', 'the wait');
    say(await call('claims.unwait', { wait }), 'no longer waiting');
  });
}

interface ListFlags extends PageFlags {
  readonly owner?: string;
  readonly mine?: boolean;
  readonly worktree?: string;
}

function registerList(claims: Command): void {
  const list = addPageFlags(
    claims
      .command('list', { isDefault: true })
      .description('live claims')
      .option('--owner <agent>', 'only those of this agent')
      .option('--mine', 'only your own')
      .option('--worktree <dir>', 'only those in this worktree or folder'),
  );
  handle<ListFlags>(list, async ({ flags, call, table }) => {
    if (flags.mine === true && flags.owner !== undefined) {
      throw fail('cli.usage', 'either --mine or --owner, not both');
    }
    const owner = flags.mine === true ? await readMe(call) : flags.owner;
    const { worktree, limit, after } = flags;
    const answer = await call('claims.list', { owner, worktree, limit, after });
    table(answer, answer.claims.map(claimRow), 'no claims');
  });
}

interface UpdateFlags {
  readonly note?: string;
  readonly dataRef?: string;
  readonly epoch?: number;
}

function registerUpdate(claims: Command): void {
  const update = claims
    .command('update')
    .description('report how it goes; done ends the task on the plan')
    .argument('<task>')
    .argument('[status]', 'claimed, working, input_required, done or failed')
    .option('--note <text>')
    .option('--data-ref <text>', 'where the result is')
    .option(...EPOCH_OPTION);
  handle<UpdateFlags>(update, async ({ args, flags, call, table }) => {
    const [task_id = '', status] = args;
    const { note, dataRef: data_ref, epoch } = flags;
    const answer = await call('claims.update', { task_id, status, note, data_ref, epoch });
    table(answer, [claimRow(answer.claim)]);
  });
}

function registerCheck(claims: Command): void {
  const check = claims
    .command('check')
    .description('which of these paths others hold; exit code 12 when any')
    .argument('<paths...>')
    .option('--worktree <dir>', 'the folder the paths are in');
  handle<{ worktree?: string }>(check, async ({ args, flags, call, say, table }) => {
    const { worktree, paths = [] } = await readScope(args, flags);
    // All of a worktree, written as a pattern.
    const asked = paths.length === 0 ? ['**'] : paths;
    const answer = await call('claims.check', { paths: asked, worktree });
    const { conflicts, mine } = answer;
    if (conflicts.length === 0) return say(answer, mine ? 'free: you hold it' : 'free');
    table(answer, conflicts.map(conflictRow));
    process.exitCode = HELD_EXIT;
  });
}

/** As the hub's own refusal of a claim leaves. */
const HELD_EXIT = 12;

function conflictRow({
  claim,
  overlaps,
}: CallOutput<'claims.check'>['conflicts'][number]): string[] {
  const met = overlaps.map(metText).join(', ');
  return [claim.owner, claim.task_id, untilText(claim.lease_expires_at), met];
}

function registerWait(claims: Command): void {
  const wait = claims
    .command('wait')
    .description('queue for a task or paths and go on; "synod arm" then tells when it is free')
    .argument('[task]')
    .option('--paths <path...>', 'files, folders or quoted globs')
    .option('--worktree <dir>', 'the folder the paths are in')
    .option(...seconds('--ttl <time>', 'how long to stay in the queue (1h)'));
  handle<ScopeFlags & { ttl?: number }>(wait, async ({ args, flags, call, say, remark }) => {
    const [task_id] = args;
    const names = namedPaths([], flags);
    if (task_id === undefined && names.length === 0) {
      throw fail('cli.usage', 'say what to wait for: a task, --paths, or both');
    }
    const scope = names.length === 0 ? {} : await readScope(names, flags);
    const { worktree, paths } = scope;
    const input = { task_id, worktree, paths, ttl_seconds: flags.ttl };
    const answer = await call('claims.wait', input);
    if (answer.reserved) {
      return say(answer, 'it is free and kept for you for a minute: claim it now');
    }
    const place = answer.ahead === 0 ? 'you are next' : `${answer.ahead} before you`;
    say(answer, `in the queue: ${place}, ${untilText(Number(answer.until))}`);
    remark(`synod arm tells when it is your turn; synod claims unwait ${answer.wait} leaves`);
  });
}
