/**
 * The board: the plan with the claims laid over it, in pages by id [PL10]. A page
 * goes on where the last one ended whatever was declared in between, and fits any
 * frame. Progress is read the same way, oldest first.
 */

import { type Page, type PageBounds, placeAfter, takePage } from '../../law/page.ts';
import type { View } from '../../law/view.ts';
import {
  createTotals,
  isReady,
  type Note,
  type PlanBook,
  type Task,
  type TaskNode,
  type TaskStatus,
  type Totals,
} from './plan.ts';

export interface BoardQuery extends PageBounds {
  readonly project?: string | undefined;
  readonly status?: TaskStatus | undefined;
  /** Only tasks that are ready, or only those that are not. */
  readonly ready?: boolean | undefined;
  readonly after?: string | undefined;
}

export interface BoardRow<Claim> extends Task {
  readonly isReady: boolean;
  readonly isEscalated: boolean;
  /** The live claim on the task, as whoever keeps claims shows it. */
  readonly claim: Claim | null;
}

export interface Board<Claim> extends Page<BoardRow<Claim>, string> {
  /** Of the project asked for, or of the whole plan; the other filters do not count. */
  readonly totals: Readonly<Totals>;
}

export interface ProgressQuery extends PageBounds {
  /** Null: only notes about the plan as a whole. Absent: all. */
  readonly taskId?: string | null | undefined;
  readonly after?: number | undefined;
}

export function boardPage<Claim>(
  book: View<PlanBook>,
  query: BoardQuery,
  claimOf: (taskId: string) => Claim | null,
): Board<Claim> {
  const { project } = query;
  const totals =
    project === undefined ? book.totals : (book.projects.get(project) ?? createTotals());
  const page = takePage(boardRows(book, query, claimOf), (row) => row.id, query);
  return { ...page, totals: { ...totals } };
}

/** Notes still in memory; what is older is in the log alone. */
export function progressPage(book: View<PlanBook>, query: ProgressQuery): Page<Note, number> {
  return takePage(progressRows(book, query), (note) => note.seq, query);
}

function* boardRows<Claim>(
  book: View<PlanBook>,
  query: BoardQuery,
  claimOf: (taskId: string) => Claim | null,
): Iterable<BoardRow<Claim>> {
  const start = query.after === undefined ? 0 : placeAfter(book.ids, query.after);
  for (let i = start; i < book.ids.length; i++) {
    const id = book.ids[i] as string;
    const node = book.nodes.get(id) as TaskNode;
    if (!isWanted(node, query)) continue;
    const { task, isEscalated } = node;
    yield { ...task, isReady: isReady(node), isEscalated, claim: claimOf(id) };
  }
}

function isWanted(node: View<TaskNode>, { project, status, ready }: BoardQuery): boolean {
  return (
    (project === undefined || node.task.project === project) &&
    (status === undefined || node.task.status === status) &&
    (ready === undefined || isReady(node) === ready)
  );
}

function* progressRows(book: View<PlanBook>, { taskId, after = 0 }: ProgressQuery): Iterable<Note> {
  // Notes are numbered without gaps, so the place of the first one after a cursor is known.
  const first = book.notes[0]?.seq ?? 1;
  for (let i = Math.max(0, after + 1 - first); i < book.notes.length; i++) {
    const note = book.notes[i] as Note;
    if (taskId === undefined || note.taskId === taskId) yield note;
  }
}
