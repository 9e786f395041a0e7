/** Runs and their steps, a page at a time. */
import { type Page, takePage } from '../law/page.ts';
import type { Principal } from '../law/principal.ts';
import { PAGE_ROWS_MAX } from '../work/work-limits.ts';
import { mayRead } from './access.ts';
import type { RunState, RunView, WorkflowView } from './run-state.ts';
import { isOver } from './run-state.ts';
import { type StepView, unpackSteps } from './steps.ts';

export interface RunQuery {
  readonly state?: RunState | 'all' | undefined;
  readonly name?: string | undefined;
  readonly parent?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** The newest first. Only as many are held at once as the page has rows, however many there are. */
export function runsPage(
  book: WorkflowView,
  by: Principal,
  query: RunQuery,
): Page<RunView, string> {
  const { state, name, parent, after } = query;
  const below = after === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(after, 10);
  const limit = Math.min(query.limit, PAGE_ROWS_MAX);
  const found: RunView[] = [];
  const look = (run: RunView): void => {
    if (run.position >= below || (name !== undefined && run.name !== name)) return;
    if (parent !== undefined && run.parent?.id !== parent) return;
    if (state !== undefined && state !== 'all' && run.state !== state) return;
    if (found.length > limit && run.position < (found[0]?.position ?? 0)) return;
    if (!mayRead(book, by, run)) return;
    // Nearly always the newest so far, since they come in the order of their start.
    let place = found.length;
    while (place > 0 && (found[place - 1]?.position ?? 0) > run.position) place--;
    found.splice(place, 0, run);
    if (found.length > limit + 1) found.shift();
  };
  if (state === undefined || state === 'all' || !isOver(state)) book.live.forEach(look);
  if (state === 'all' || (state !== undefined && isOver(state))) book.ended.forEach(look);
  const rows = found.toReversed().slice(0, limit);
  const last = rows.at(-1);
  const isMore = found.length > limit && last !== undefined;
  return { rows, next: isMore ? String(last.position) : null };
}

/** A step, and the how manieth of its run it is: a page may go on after it. */
export interface StepRow extends StepView {
  readonly place: number;
}

/** In the order in which they were first heard of. */
export function stepsPage(
  run: RunView,
  after: string | undefined,
  limit: number,
): Page<StepRow, string> {
  const steps = run.steps ?? unpackSteps(run.packed, run.createdAt);
  const from = after === undefined ? 0 : Math.max(0, Number.parseInt(after, 10) || 0);
  const rows = [...steps.values()].slice(from).map((step, i) => ({ ...step, place: from + i + 1 }));
  return takePage(rows, ({ place }) => String(place), { limit });
}
