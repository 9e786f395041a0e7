/** What a task stands at, in the words of `synod board`, and in which column of the board it is. Pure. */
import type { CallOutput } from '../../../client/index.ts';

export type Task = CallOutput<'plan.board'>['tasks'][number];

export type TaskState =
  | 'needs a person'
  | 'in_progress'
  | 'ready'
  | 'blocked'
  | 'open'
  | 'done'
  | 'cancelled';

/** In the order in which a person looks. */
export const COLUMNS: readonly { readonly title: string; readonly states: readonly TaskState[] }[] =
  [
    { title: 'Needs a person', states: ['needs a person'] },
    { title: 'In progress', states: ['in_progress'] },
    { title: 'Ready', states: ['ready'] },
    { title: 'Waits', states: ['blocked', 'open'] },
    { title: 'Done', states: ['done', 'cancelled'] },
  ];

export function stateOf(task: Pick<Task, 'escalated' | 'ready' | 'status'>): TaskState {
  if (task.escalated) return 'needs a person';
  return task.ready ? 'ready' : task.status;
}

export function stateText(state: string): string {
  return state.replace('_', ' ');
}

/** Who has it, or what it waits for. */
export function holderText(task: Task, isDone: (id: string) => boolean): string | null {
  const { claim, suggested_owner: suggested, depends_on: needs, status } = task;
  if (claim !== null) return claim.owner;
  const unmet = needs.filter((id) => !isDone(id));
  if (status === 'open' && unmet.length > 0) return `needs ${unmet.join(', ')}`;
  return suggested === null ? null : `for ${suggested}`;
}

/** Since when it stands like this: the claim that moves it, or the last change. */
export function sinceOf({ claim, updated_at: updated }: Task): number {
  return claim?.claimed_at ?? updated;
}

export interface BoardColumn {
  readonly title: string;
  readonly tasks: readonly Task[];
}

/** Those that wait longest first; what is done, the newest. A column that never has anything is left out. */
export function columnsOf(tasks: readonly Task[]): BoardColumn[] {
  return COLUMNS.flatMap(({ title, states }) => {
    const own = tasks.filter((task) => states.includes(stateOf(task)));
    if (own.length === 0 && title === 'Needs a person') return [];
    const direction = title === 'Done' ? -1 : 1;
    own.sort((a, b) => direction * (sinceOf(a) - sinceOf(b)));
    return [{ title, tasks: own }];
  });
}
