/**
 * The plan in memory: tasks, who waits for whom, what is ready, the newest notes.
 * Readiness and totals are kept up with every change along the edges backwards
 * [PL5], so asking never walks the plan. Only `evolvePlan` and thawing change it.
 */

import { assert } from '../../law/assert.ts';
import { fieldsOf, listOf } from '../../law/fields.ts';
import { placeAfter } from '../../law/page.ts';
import type { View } from '../../law/view.ts';
import { NOTES_KEPT_MAX } from '../work-limits.ts';

export type TaskStatus = 'open' | 'in_progress' | 'blocked' | 'done' | 'cancelled';
export const TASK_STATUSES: readonly TaskStatus[] = [
  'open',
  'in_progress',
  'blocked',
  'done',
  'cancelled',
];

export interface Task {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly project: string | null;
  readonly dependsOn: readonly string[];
  readonly status: TaskStatus;
  readonly suggestedOwner: string | null;
  /** Grows with every change, from 1; compare and set by it [PL7]. */
  readonly version: number;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** What brought it about: a message or another task, in the words of whoever declared it. */
  readonly causalParent: string | null;
}

export type ProgressKind = 'note' | 'blocked' | 'assessment';
export const PROGRESS_KINDS: readonly ProgressKind[] = ['note', 'blocked', 'assessment'];

export interface Note {
  /** Counts the notes of a space from 1. */
  readonly seq: number;
  /** Null: about the plan as a whole. The id need not be on the plan: claims have ids of their own. */
  readonly taskId: string | null;
  readonly kind: ProgressKind;
  readonly text: string;
  readonly author: string;
  readonly at: number;
}

export interface TaskNode {
  task: Task;
  /** Dependencies that are not known to be done or cancelled. */
  unmet: number;
  /** When the last dependency was met. */
  metAt: number;
  /** The newest change or note. */
  movedAt: number;
  /** How often it was offered again since there was progress. */
  tries: number;
  isEscalated: boolean;
}

export type Totals = Record<TaskStatus | 'ready' | 'tasks', number>;

export interface PlanPart {
  tasks: number;
  edges: number;
  chars: number;
}

export interface PlanBook {
  readonly nodes: Map<string, TaskNode>;
  /** All ids, ascending: the order of the board. */
  readonly ids: string[];
  /** Who waits for an id, whether or not it is on the plan. */
  readonly dependents: Map<string, Set<string>>;
  /** Tasks the supervisor looks at: in progress or blocked. */
  readonly watched: Set<string>;
  readonly totals: Totals;
  readonly projects: Map<string, Totals>;
  edges: number;
  chars: number;
  /** How much of it is each creator's: its share of the plan [SH1]. */
  readonly parts: Map<string, PlanPart>;
  /** The newest notes, oldest first. */
  readonly notes: Note[];
  /** How many notes there have been. */
  noted: number;
}

const PLAN = fieldsOf<PlanBook>()({
  nodes: 'linked',
  ids: 'derived',
  dependents: 'derived',
  watched: 'derived',
  totals: 'derived',
  projects: 'derived',
  edges: 'derived',
  chars: 'derived',
  parts: 'derived',
  notes: listOf<Note>(),
  noted: 'stored',
});

const NODE = fieldsOf<TaskNode>()({
  task: 'stored',
  unmet: 'derived',
  metAt: 'stored',
  movedAt: 'stored',
  tries: 'stored',
  isEscalated: 'stored',
});

export function createPlan(): PlanBook {
  return {
    nodes: new Map(),
    ids: [],
    dependents: new Map(),
    watched: new Set(),
    totals: createTotals(),
    projects: new Map(),
    edges: 0,
    chars: 0,
    parts: new Map(),
    notes: [],
    noted: 0,
  };
}

export function isTerminal(status: TaskStatus): boolean {
  return status === 'done' || status === 'cancelled';
}

/** Open, and every dependency is on the plan and has ended [PL4]. */
export function isReady(node: View<TaskNode>): boolean {
  return node.task.status === 'open' && node.unmet === 0;
}

export function isMet(book: View<PlanBook>, id: string): boolean {
  const node = book.nodes.get(id);
  return node !== undefined && isTerminal(node.task.status);
}

export function charsOf(task: Task): number {
  let chars = task.id.length + task.title.length + task.description.length;
  for (const text of [task.project, task.suggestedOwner, task.causalParent]) {
    chars += text?.length ?? 0;
  }
  for (const id of task.dependsOn) chars += id.length;
  return chars;
}

/** Adds the task or puts it in the place of the one with its id. */
export function putTask(book: PlanBook, task: Task, at: number): TaskNode {
  const known = book.nodes.get(task.id);
  const wasMet = isMet(book, task.id);
  const node = known ?? createNode(task, at);
  if (known === undefined) {
    book.nodes.set(task.id, node);
    book.ids.splice(placeAfter(book.ids, task.id), 0, task.id);
    link(book, task);
  } else {
    tally(book, node, -1);
    // A change of status shares the list, and the edges need not be touched.
    if (node.task.dependsOn !== task.dependsOn) {
      unlink(book, node.task);
      link(book, task);
    }
    charge(book, node.task, -1);
  }
  charge(book, task, 1);
  node.task = task;
  node.movedAt = at;
  setUnmet(node, task.dependsOn.filter((id) => !isMet(book, id)).length, at);
  tally(book, node, 1);
  if (isMet(book, task.id) !== wasMet) settleDependents(book, task.id, at);
  return node;
}

export function dropTask(book: PlanBook, id: string, at: number): void {
  const node = book.nodes.get(id);
  if (node === undefined) return;
  const wasMet = isMet(book, id);
  tally(book, node, -1);
  unlink(book, node.task);
  charge(book, node.task, -1);
  book.nodes.delete(id);
  book.ids.splice(placeAfter(book.ids, id) - 1, 1);
  if (wasMet) settleDependents(book, id, at);
}

export function keepNote(book: PlanBook, note: Omit<Note, 'seq'>): void {
  book.noted++;
  book.notes.push({ seq: book.noted, ...note });
  if (book.notes.length > NOTES_KEPT_MAX) book.notes.shift();
}

export function freezePlan(book: PlanBook): object {
  const nodes = book.ids.map((id) => NODE.freeze(book.nodes.get(id) as TaskNode, {}));
  return PLAN.freeze(book, { nodes });
}

export function thawPlan(frozen: unknown): PlanBook {
  const { nodes } = frozen as { readonly nodes: readonly { readonly task: Task }[] };
  const book = PLAN.thaw(frozen, createPlan());
  for (const { task } of nodes) putTask(book, task, 0);
  // Only now is it known what each waits for.
  for (const one of nodes) {
    const node = book.nodes.get(one.task.id) as TaskNode;
    Object.assign(node, NODE.thaw(one, { unmet: node.unmet }));
  }
  return book;
}

function createNode(task: Task, at: number): TaskNode {
  return { task, unmet: 0, metAt: at, movedAt: at, tries: 0, isEscalated: false };
}

export function createTotals(): Totals {
  return { open: 0, in_progress: 0, blocked: 0, done: 0, cancelled: 0, ready: 0, tasks: 0 };
}

function settleDependents(book: PlanBook, id: string, at: number): void {
  const change = isMet(book, id) ? -1 : 1;
  for (const dependent of book.dependents.get(id) ?? []) {
    const node = book.nodes.get(dependent) as TaskNode;
    tally(book, node, -1);
    setUnmet(node, node.unmet + change, at);
    tally(book, node, 1);
  }
}

function setUnmet(node: TaskNode, unmet: number, at: number): void {
  assert(unmet >= 0 && unmet <= node.task.dependsOn.length, 'a task waits for what it depends on');
  if (unmet === 0 && node.unmet > 0) node.metAt = at;
  node.unmet = unmet;
}

function tally(book: PlanBook, node: TaskNode, by: 1 | -1): void {
  const { id, status, project } = node.task;
  if (project !== null && !book.projects.has(project)) book.projects.set(project, createTotals());
  for (const totals of [book.totals, project === null ? undefined : book.projects.get(project)]) {
    if (totals === undefined) continue;
    totals[status] += by;
    totals.tasks += by;
    if (isReady(node)) totals.ready += by;
  }
  if (project !== null && book.projects.get(project)?.tasks === 0) book.projects.delete(project);
  if (by === 1 && (status === 'in_progress' || status === 'blocked')) book.watched.add(id);
  else book.watched.delete(id);
}

function charge(book: PlanBook, task: Task, by: 1 | -1): void {
  const chars = by * charsOf(task);
  const part = book.parts.get(task.createdBy) ?? { tasks: 0, edges: 0, chars: 0 };
  book.chars += chars;
  part.tasks += by;
  part.edges += by * task.dependsOn.length;
  part.chars += chars;
  if (part.tasks === 0) book.parts.delete(task.createdBy);
  else book.parts.set(task.createdBy, part);
}

function link(book: PlanBook, task: Task): void {
  for (const id of task.dependsOn) {
    const waiting = book.dependents.get(id);
    if (waiting === undefined) book.dependents.set(id, new Set([task.id]));
    else waiting.add(task.id);
  }
  book.edges += task.dependsOn.length;
}

function unlink(book: PlanBook, task: Task): void {
  for (const id of task.dependsOn) {
    const waiting = book.dependents.get(id);
    waiting?.delete(task.id);
    if (waiting?.size === 0) book.dependents.delete(id);
  }
  book.edges -= task.dependsOn.length;
}
