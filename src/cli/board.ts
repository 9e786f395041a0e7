/** `synod board`: the plan and who holds what of it, a page at a time. */
import type { Command } from 'commander';
import { type ClaimView, untilText } from './claim-text.ts';
import { given, handle } from './context.ts';
import { addPageFlags, type PageFlags, pageOf, remarkMore } from './paging.ts';
import { columns } from './terminal.ts';

interface BoardFlags extends PageFlags {
  readonly project?: string;
  readonly ready?: boolean;
  readonly status?: string;
}

interface Row {
  readonly task_id: string;
  readonly title: string;
  readonly status: string;
  readonly depends_on: readonly string[];
  readonly suggested_owner: string | null;
  readonly ready: boolean;
  readonly escalated: boolean;
  readonly claim: ClaimView | null;
}

export function registerBoard(program: Command): void {
  const command = addPageFlags(
    program
      .command('board')
      .description('the plan and who holds what of it')
      .option('--project <name>', 'only this project')
      .option('--ready', 'only what can be taken now')
      .option('--status <status>', 'only open, in_progress, blocked, done or cancelled'),
  );
  handle<BoardFlags>(command, async ({ flags, call, show, remark }) => {
    const { project, status, ready } = flags;
    const answer = await call('plan_board', given({ project, status, ready, ...pageOf(flags) }));
    const tasks = answer.tasks as Row[];
    show(answer, () => [...columns(tasks.map(rowOf)), ...totalsOf(answer.totals)]);
    if (tasks.length === 0) {
      remark(
        ready === true
          ? 'nothing is ready'
          : 'no tasks; put one on the plan with: synod task declare ID TITLE',
      );
    }
    remarkMore(answer.next, remark);
  });
}

function rowOf(task: Row): string[] {
  const state = task.escalated ? 'needs a person' : task.ready ? 'ready' : task.status;
  return [task.task_id, state, holderOf(task), task.title];
}

function holderOf({
  claim,
  suggested_owner: suggested,
  depends_on: needs,
  ready,
  status,
}: Row): string {
  if (claim !== null)
    return `${claim.owner} (${claim.status}) ${untilText(claim.lease_expires_at)}`;
  if (status === 'open' && !ready && needs.length > 0) return `needs ${needs.join(', ')}`;
  return suggested === null ? '-' : `for ${suggested}`;
}

function totalsOf(totals: unknown): string[] {
  const { tasks, ...states } = totals as Record<string, number>;
  const counted = Object.entries(states).filter(([, count]) => count > 0);
  if (counted.length === 0) return [];
  return [`${tasks} in all: ${counted.map(([name, count]) => `${count} ${name}`).join(', ')}`];
}
