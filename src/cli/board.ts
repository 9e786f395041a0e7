/** `synod board`: the plan and who holds what of it, a page at a time. */
import type { Command } from 'commander';
import type { CallOutput } from '../client/operations.ts';
import { untilText } from './claim-text.ts';
import { handle } from './context.ts';
import { addPageFlags, type PageFlags } from './parse-value.ts';

interface BoardFlags extends PageFlags {
  readonly project?: string;
  readonly ready?: boolean;
  readonly status?: string;
}

type Board = CallOutput<'plan.board'>;

export function registerBoard(program: Command): void {
  const command = addPageFlags(
    program
      .command('board')
      .description('the plan and who holds what of it')
      .option('--project <name>', 'only this project')
      .option('--ready', 'only what can be taken now')
      .option('--status <status>', 'only open, in_progress, blocked, done or cancelled'),
  );
  handle<BoardFlags>(command, async ({ flags, call, table }) => {
    const { project, status, ready, limit, after } = flags;
    const answer = await call('plan.board', { project, status, ready, limit, after });
    const none =
      ready === true
        ? 'nothing is ready'
        : 'no tasks; put one on the plan with: synod task declare ID TITLE';
    table(answer, answer.tasks.map(rowOf), none, totalsOf(answer.totals));
  });
}

function rowOf(task: Board['tasks'][number]): string[] {
  const state = task.escalated ? 'needs a person' : task.ready ? 'ready' : task.status;
  return [task.task_id, state, holderOf(task), task.title];
}

function holderOf(task: Board['tasks'][number]): string {
  const { claim, suggested_owner: suggested, depends_on: needs, ready, status } = task;
  if (claim !== null)
    return `${claim.owner} (${claim.status}) ${untilText(claim.lease_expires_at)}`;
  if (status === 'open' && !ready && needs.length > 0) return `needs ${needs.join(', ')}`;
  return suggested === null ? '-' : `for ${suggested}`;
}

function totalsOf({ tasks, ...states }: Board['totals']): string[] {
  const counted = Object.entries(states).filter(([, count]) => count > 0);
  if (counted.length === 0) return [];
  return [`${tasks} in all: ${counted.map(([name, count]) => `${count} ${name}`).join(', ')}`];
}
