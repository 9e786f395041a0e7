/**
 * Who executes a run: taken under a lease with an epoch, and the lease renewed. Of those that are ready the one
 * that has waited longest comes first, priority counted in, where its queue has room [WF4] [WF11].
 */
import { type Decision, refuse } from '../law/decider.ts';
import { Heap } from '../law/heap.ts';
import type { WorldView } from '../law/state.ts';
import type { View } from '../law/view.ts';
import { mayExecute } from './access.ts';
import { countIn, createUse, isBefore, mayBegin } from './lines.ts';
import {
  checkCount,
  checkExecutor,
  checkLease,
  checkName,
  checkWhole,
  checkWord,
} from './run-check.ts';
import type { RenewRuns, RunsRenewed, RunTaken, TakeRuns } from './run-events.ts';
import type { Line, Place, QueueUse, RunView, WorkflowView } from './run-state.ts';
import {
  HELD_RUNS_LIST_MAX,
  RUN_LEASE_MS,
  TAKE_LIST_MAX,
  VERSION_CHARS_MAX,
  WORKFLOW_NAME_CHARS_MAX,
  WORKFLOWS_LIST_MAX,
} from './workflow-limits.ts';

export interface TakeAnswer {
  readonly taken: readonly { readonly id: string; readonly epoch: number }[];
  /** When a rate lets the next one begin, if nothing else happens; null: time brings nothing. */
  readonly nextAt: number | null;
  /** What had stirred by then: when it is another number, asking again may give more. */
  readonly stirred: number;
}

export function decideTake(world: WorldView, command: TakeRuns): Decision<RunTaken, TakeAnswer> {
  const { by, at, workflows, executor, limit } = command;
  const unfit =
    (by.kind === 'observer' ? refuse('access.denied', 'an observer executes nothing') : null) ??
    checkExecutor(executor) ??
    checkLease(command.leaseMs) ??
    checkWhole('limit', limit, 1, TAKE_LIST_MAX) ??
    checkCount('workflows', workflows.length, 1, WORKFLOWS_LIST_MAX);
  if (unfit !== null) return unfit;
  for (const { name, version } of workflows) {
    const flaw =
      checkName('workflows.name', name, WORKFLOW_NAME_CHARS_MAX) ??
      checkWord('workflows.version', version, VERSION_CHARS_MAX);
    if (flaw !== null) return flaw;
  }
  const leaseMs = command.leaseMs ?? RUN_LEASE_MS;
  const picker = createPicker(world.workflows, command);
  const events: RunTaken[] = [];
  while (events.length < limit) {
    const next = picker.next();
    if (next === null) break;
    const { run, version } = next;
    const held = { epoch: run.epoch + 1, executor, version, leaseMs };
    events.push({ type: 'run.taken', at, by: by.id, id: run.id, ...held });
  }
  const taken = events.map(({ id, epoch }) => ({ id, epoch }));
  return { events, answer: { taken, nextAt: picker.nextAt, stirred: world.workflows.stirred } };
}

interface Picker {
  next(): { readonly run: RunView; readonly version: string | null } | null;
  readonly nextAt: number | null;
}

/** The first of a line, those that were picked taken off. */
interface Front {
  readonly line: View<Line>;
  readonly places: View<Place>[];
  readonly version: string | null;
  heapIndex: number;
}

function first({ places }: Front): View<Place> {
  return places[0] as View<Place>;
}

/** One after the other, as if each that was picked were taken already. */
function createPicker(book: WorkflowView, { by, at, workflows, limit }: TakeRuns): Picker {
  const more = new Map<string, QueueUse>();
  const fronts = new Heap<Front>((one, other) => isBefore(first(one), first(other)));
  const seen = new Set<View<Line>>();
  let nextAt: number | null = null;
  for (const { name, version } of workflows) {
    for (const line of book.lines.get(name)?.values() ?? []) {
      if (line.pin !== null && line.pin !== version) continue;
      if (seen.has(line)) continue;
      if (!mayExecute(book, by, { startedBy: line.startedBy ?? '', queue: line.queue })) continue;
      seen.add(line);
      const places = line.places.firsts(() => true, limit);
      if (places.length > 0) fronts.put({ line, places, version, heapIndex: -1 });
    }
  }

  function mayGo(line: View<Line>): boolean {
    if (line.isBegun) return true;
    const may = mayBegin(book, line, at, line.queue === null ? undefined : more.get(line.queue));
    if (may === true) return true;
    if (may.until !== null) nextAt = Math.min(nextAt ?? may.until, may.until);
    return false;
  }

  /**
   * A line that may not go now may not go later in this call either, since queues only fill; and only the front that is
   * looked at moves.
   */
  function next(): ReturnType<Picker['next']> {
    for (let front = fronts.first; front !== undefined; front = fronts.first) {
      const { line, places, version } = front;
      if (!mayGo(line)) {
        fronts.delete(front);
        continue;
      }
      const run = book.live.get(first(front).id);
      places.shift();
      if (places.length === 0) fronts.delete(front);
      else fronts.put(front);
      if (run === undefined) continue;
      if (run.queue !== null && !line.isBegun) {
        const use = more.get(run.queue) ?? createUse();
        more.set(run.queue, use);
        countIn(use, run, 1);
      }
      return { run, version };
    }
    return null;
  }

  return {
    next,
    get nextAt() {
      return nextAt;
    },
  };
}

export interface Renewal {
  readonly id: string;
  /** False: it is not yours any more; stop. */
  readonly isHeld: boolean;
  readonly news: number;
  readonly cancelling: string | null;
}

export function decideRenew(
  world: WorldView,
  command: RenewRuns,
): Decision<RunsRenewed, readonly Renewal[]> {
  const { by, at, runs } = command;
  const unfit =
    checkLease(command.leaseMs) ?? checkCount('runs', runs.length, 1, HELD_RUNS_LIST_MAX);
  if (unfit !== null) return unfit;
  const answer = runs.map((one) => standing(world.workflows, by.id, one));
  const ids = [...new Set(answer.filter(({ isHeld }) => isHeld).map(({ id }) => id))];
  const leaseMs = command.leaseMs ?? RUN_LEASE_MS;
  if (ids.length === 0) return { events: [], answer };
  return { events: [{ type: 'run.renewed', at, by: by.id, ids, leaseMs }], answer };
}

/** Whether a run is held by this one under that epoch, and what there is to hear of it. */
export function standing(
  book: WorkflowView,
  by: string,
  { id, epoch }: { readonly id: string; readonly epoch: number },
): Renewal {
  const run = book.live.get(id);
  const isMine = run !== undefined && run.leaseUntil !== null && run.heldBy === by;
  if (!isMine || run.epoch !== epoch) return { id, isHeld: false, news: 0, cancelling: null };
  return { id, isHeld: true, news: run.news, cancelling: run.cancelling };
}
