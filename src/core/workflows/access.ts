/** Who may see, execute and stop a run [WF9]: what it carries is the business of few. */
import { type Refusal, refuse } from '../law/decider.ts';
import type { Principal } from '../law/principal.ts';
import { findRun, type RunView, type WorkflowView } from './run-state.ts';

/** People and administrators, whom a person calls trusted, the starter, and whom the queue names. */
export function mayExecute(
  book: WorkflowView,
  by: Principal,
  { startedBy, queue }: Pick<RunView, 'startedBy' | 'queue'>,
): boolean {
  if (by.kind === 'observer') return false;
  if (by.kind === 'human' || by.kind === 'admin') return true;
  if (by.tier === 'owner' || by.tier === 'trusted' || by.id === startedBy) return true;
  if (by.tier === 'untrusted' || queue === null) return false;
  return book.queues.get(queue)?.executors.includes(by.id) ?? false;
}

/** Others learn not even that it is there. */
export function mayRead(book: WorkflowView, by: Principal, run: RunView): boolean {
  return by.kind === 'observer' ? by.tier === 'owner' : mayExecute(book, by, run);
}

export function runFor(book: WorkflowView, by: Principal, id: string): RunView | Refusal {
  const run = findRun(book, id);
  return run !== undefined && mayExecute(book, by, run) ? run : noRun(id);
}

export function noRun(id: string): Refusal {
  return refuse(
    'workflow.not-found',
    `there is no run ${id.slice(0, 64)} that you may see; workflows.list shows them`,
  );
}
