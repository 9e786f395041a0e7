/**
 * `synod claims …`: who holds what; and the rarer verbs: queue for something, leave the queue, ask
 * about paths, report the status of a claim. Without a verb it lists.
 */
import type { Command } from 'commander';
import { namedPaths, readScope, type ScopeFlags } from './claim-input.ts';
import { type ClaimView, claimRow, untilText } from './claim-text.ts';
import { readMe } from './claims-of-hub.ts';
import { given, handle } from './context.ts';
import { fail } from './failure.ts';
import { addPageFlags, type PageFlags, pageOf, remarkMore } from './paging.ts';
import { parseDurationMs, parseWhole } from './parse-value.ts';
import { columns, neutralise } from './terminal.ts';

export function registerClaims(program: Command): void {
  const claims = program.command('claims').description('who holds what, and waiting for it');
  registerList(claims);
  registerUpdate(claims);
  registerCheck(claims);
  registerWait(claims);
  const unwait = claims.command('unwait').description('leave the queue').argument('<wait>');
  handle(unwait, async ({ args, call, show }) => {
    const answer = await call('claims_unwait', { wait: parseWhole(args[0] ?? '', 'the wait') });
    show(answer, () => ['no longer waiting']);
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
      .option('--worktree <dir>', 'only those in this worktree'),
  );
  handle<ListFlags>(list, async ({ flags, call, show, remark }) => {
    if (flags.mine === true && flags.owner !== undefined) {
      throw fail('cli.usage', 'either --mine or --owner, not both');
    }
    const owner = flags.mine === true ? await readMe(call) : flags.owner;
    const { worktree } = flags;
    const answer = await call('claims_list', given({ owner, worktree, ...pageOf(flags) }));
    const found = answer.claims as ClaimView[];
    show(answer, () => columns(found.map(claimRow)));
    if (found.length === 0) remark('no claims');
    remarkMore(answer.next, remark);
  });
}

interface UpdateFlags {
  readonly note?: string;
  readonly dataRef?: string;
  readonly epoch?: string;
}

function registerUpdate(claims: Command): void {
  const update = claims
    .command('update')
    .description('report how it goes; done ends the task on the plan')
    .argument('<task>')
    .argument('[status]', 'claimed, working, input_required, done or failed')
    .option('--note <text>')
    .option('--data-ref <text>', 'where the result is')
    .option('--epoch <n>', 'only if it is still that tenure');
  handle<UpdateFlags>(update, async ({ args, flags, call, show }) => {
    const [task, status] = args;
    const epoch = flags.epoch === undefined ? undefined : parseWhole(flags.epoch, '--epoch');
    const { note, dataRef } = flags;
    const input = given({ task_id: task, status, note, data_ref: dataRef, epoch });
    const answer = await call('claims_update', input);
    show(answer, () => columns([claimRow(answer.claim as ClaimView)]));
  });
}

interface Conflict {
  readonly claim: ClaimView;
  readonly overlaps: readonly { readonly mine: string; readonly theirs: string }[];
}

function registerCheck(claims: Command): void {
  const check = claims
    .command('check')
    .description('which of these paths others hold; exit code 12 when any')
    .argument('<paths...>')
    .option('--worktree <dir>', 'the folder the paths are in');
  handle<{ worktree?: string }>(check, async ({ args, flags, call, show }) => {
    const { worktree, paths = [] } = await readScope(args, flags);
    // All of a worktree, written as a pattern.
    const asked = paths.length === 0 ? ['**'] : paths;
    const answer = await call('claims_check', given({ paths: asked, worktree }));
    const conflicts = answer.conflicts as Conflict[];
    show(answer, () =>
      conflicts.length === 0
        ? [answer.mine === true ? 'free: you hold it' : 'free']
        : columns(conflicts.map(conflictRow)),
    );
    if (conflicts.length > 0) process.exitCode = HELD_EXIT;
  });
}

/** As the hub's own refusal of a claim leaves. */
const HELD_EXIT = 12;

function conflictRow({ claim, overlaps }: Conflict): string[] {
  const met = overlaps.map(({ mine, theirs }) =>
    mine === theirs ? mine : `${mine} meets ${theirs}`,
  );
  return [claim.owner, claim.task_id, untilText(claim.lease_expires_at), met.join(', ')];
}

function registerWait(claims: Command): void {
  const wait = claims
    .command('wait')
    .description('queue for a task or paths and go on; "synod arm" then tells when it is free')
    .argument('[task]')
    .option('--paths <path...>', 'files, folders or quoted globs')
    .option('--worktree <dir>', 'the folder the paths are in')
    .option('--ttl <time>', 'how long to stay in the queue (1h)');
  handle<ScopeFlags & { ttl?: string }>(wait, async ({ args, flags, call, show, remark }) => {
    const [task] = args;
    const names = namedPaths([], flags);
    if (task === undefined && names.length === 0) {
      throw fail('cli.usage', 'say what to wait for: a task, --paths, or both');
    }
    const scope = names.length === 0 ? {} : await readScope(names, flags);
    const { worktree, paths } = scope;
    const ttl = flags.ttl === undefined ? undefined : parseDurationMs(flags.ttl, '--ttl') / 1000;
    const input = given({ task_id: task, worktree, paths, ttl_seconds: ttl });
    const answer = await call('claims_wait', input);
    show(answer, () => [
      answer.reserved === true
        ? 'it is free and kept for you for a minute: claim it now'
        : `wait ${answer.wait}: ${answer.ahead} before you, ${untilText(Number(answer.until))}`,
    ]);
    if (answer.reserved !== true) remark(neutralise('synod arm tells when it is your turn'));
  });
}
