/**
 * Who waits for an executor, and who is next. Runs that may be taken or not together stand in one line: of one
 * workflow, version, queue, key and starter, and begun or not. Since all that wait grow older at one pace, their order never
 * changes while they wait [WF12].
 */
import { Heap } from '../law/heap.ts';
import { count } from '../law/shares.ts';
import type { View } from '../law/view.ts';
import type { Line, Place, Queue, QueueUse, Run, WorkflowBook, WorkflowView } from './run-state.ts';
import { AGEING_MS } from './workflow-limits.ts';

/** For evolve: takes its place in its line, or leaves it. */
export function placeRun(book: WorkflowBook, run: Run): void {
  const known = book.placeOf.get(run.id);
  if (run.readyAt === null) {
    if (known !== undefined) leave(book, run, known);
    return;
  }
  if (known !== undefined) return;
  const score = run.readyAt - run.priority * AGEING_MS;
  const line = lineFor(book, run);
  const place = { id: run.id, line: line.id, score, heapIndex: -1 };
  book.placeOf.set(run.id, place);
  line.places.put(place);
}

function leave(book: WorkflowBook, run: Run, place: Place): void {
  book.placeOf.delete(run.id);
  const lines = book.lines.get(run.name);
  const line = lines?.get(place.line);
  line?.places.delete(place);
  if (line?.places.size !== 0) return;
  lines?.delete(place.line);
  if (lines?.size === 0) book.lines.delete(run.name);
}

function lineFor(book: WorkflowBook, run: Run): Line {
  let lines = book.lines.get(run.name);
  if (lines === undefined) {
    lines = new Map();
    book.lines.set(run.name, lines);
  }
  const { name, pin, queue, key, startedBy } = run;
  const isBegun = run.firstTakenAt !== null;
  const id = JSON.stringify([queue, key, pin, startedBy, isBegun]);
  const known = lines.get(id);
  if (known !== undefined) return known;
  const places = new Heap<Place>(isBefore);
  const line = { id, name, pin, queue, key, startedBy, isBegun, places };
  lines.set(id, line);
  return line;
}

export function isBefore(a: Pick<Place, 'id' | 'score'>, b: Pick<Place, 'id' | 'score'>): boolean {
  return a.score === b.score ? a.id < b.id : a.score < b.score;
}

/** Whether one more of the line may begin; when its rate alone forbids it, until when. */
export function mayBegin(
  book: WorkflowView,
  line: Pick<View<Line>, 'queue' | 'key' | 'startedBy'>,
  at: number,
  more: View<QueueUse> | undefined,
): true | { readonly until: number | null } {
  const queue = line.queue === null ? undefined : book.queues.get(line.queue);
  if (queue === undefined) return true;
  const use = book.use.get(queue.name);
  const full =
    isFull(queue.concurrency, use?.count, more?.count) ||
    (line.key !== null &&
      isFull(queue.perKey, use?.byKey.get(line.key), more?.byKey.get(line.key))) ||
    (line.startedBy !== null &&
      isFull(queue.perAgent, use?.byAgent.get(line.startedBy), more?.byAgent.get(line.startedBy)));
  if (full) return { until: null };
  const until = rateUntil(queue, at, more?.count ?? 0);
  return until === null ? true : { until };
}

function isFull(most: number | null, now = 0, more = 0): boolean {
  return most !== null && now + more >= most;
}

/** When the rate of the queue lets the next one begin; null: now. */
function rateUntil({ rate, takenAt }: View<Queue>, at: number, more: number): number | null {
  if (rate === null) return null;
  const recent = takenAt.filter((one) => one > at - rate.perMs);
  if (recent.length + more < rate.limit) return null;
  const freeing = recent[recent.length + more - rate.limit] ?? at;
  return freeing + rate.perMs;
}

export function createUse(): QueueUse {
  return { count: 0, byKey: new Map(), byAgent: new Map() };
}

/** For evolve: it has a place in its queue from the first take until it is over. */
export function occupy(uses: Map<string, QueueUse>, run: Run, change: 1 | -1): void {
  if (run.queue === null) return;
  const use = uses.get(run.queue) ?? createUse();
  uses.set(run.queue, use);
  countIn(use, run, change);
  if (use.count === 0) uses.delete(run.queue);
}

export function countIn(
  use: QueueUse,
  { key, startedBy }: Pick<Run, 'key' | 'startedBy'>,
  change: 1 | -1,
): void {
  use.count += change;
  count(use.byKey, key, change);
  count(use.byAgent, startedBy, change);
}
