/**
 * What the space knows of runs of workflows. A run is held by one executor, by a lease with an epoch, or it is
 * ready for one, or it sleeps until a wait of it ends. Inputs, results and values stay in the log and are found
 * by position; of the steps of a run that nobody holds only a line of text is kept, so that 100,000 of them are
 * small and quickly there.
 */
import { FifoMap } from '../law/fifo-map.ts';
import { Heap } from '../law/heap.ts';
import type { View } from '../law/view.ts';
import type { Step } from './steps.ts';

export type RunState =
  | 'queued'
  | 'running'
  | 'completed'
  | 'failed'
  | 'compensating'
  | 'compensated'
  | 'compensation_failed'
  | 'cancelled'
  | 'stuck';

export type EndState = 'completed' | 'failed' | 'compensated' | 'compensation_failed' | 'cancelled';

/** How a run ends, from where; any other arrow is refused with both names [WF3]. */
export const RUN_ENDS: Readonly<Record<RunState, readonly EndState[]>> = {
  queued: ['cancelled'],
  running: ['completed', 'failed', 'compensated', 'compensation_failed', 'cancelled'],
  compensating: ['compensated', 'compensation_failed'],
  stuck: ['failed', 'cancelled'],
  completed: [],
  failed: [],
  compensated: [],
  compensation_failed: [],
  cancelled: [],
};

export function isOver(state: RunState): boolean {
  return RUN_ENDS[state].length === 0;
}

/** A step of a run, by name and key. */
export interface StepRef {
  readonly step: string;
  readonly key: string | null;
}

/** What a step waits for. */
export type WaitOn =
  | { readonly kind: 'timer' }
  | { readonly kind: 'retry' }
  | {
      readonly kind: 'gate';
      readonly gate: string;
      /** The executor that waits asked it itself: it goes with the wait. */
      readonly isOwn?: true;
    }
  | { readonly kind: 'signal'; readonly signal: string }
  | { readonly kind: 'child'; readonly child: string }
  | {
      readonly kind: 'replies';
      readonly message: number;
      readonly count: number;
      readonly as: 'turn' | 'collect';
    }
  | { readonly kind: 'answer' };

export interface Wait extends StepRef {
  readonly on: WaitOn;
  /** When time ends it; null: never. */
  readonly until: number | null;
  /** What it has so far of what it waits for: replies by position. */
  readonly had: readonly number[];
  readonly ended: WaitEnd | null;
}

/** How a wait ended: by time, or by what it waited for, which lies at a position or fits in a word. */
export interface WaitEnd {
  readonly by: 'time' | 'event';
  readonly at: number;
  readonly position: number | null;
  readonly word: string | null;
  readonly who: string | null;
}

export interface KeptSignal {
  readonly name: string;
  readonly by: string;
  readonly position: number;
}

export interface Run {
  readonly id: string;
  readonly name: string;
  /** The version of the code that it asked for; null: any. */
  readonly pin: string | null;
  readonly startedBy: string;
  readonly createdAt: number;
  /** Where `run.started` lies: later runs lie further on. */
  readonly position: number;
  /** Where its input lies, when that is another's; null: with the start. */
  readonly inputAt: number | null;
  /** Stands for the input: with another one the same id is refused [WF1]. */
  readonly digest: string;
  readonly queue: string | null;
  readonly key: string | null;
  readonly priority: number;
  readonly dedup: string | null;
  readonly parent: (StepRef & { readonly id: string }) | null;
  readonly forkedFrom: { readonly id: string; readonly step: string } | null;
  readonly traceparent: string | null;
  state: RunState;
  epoch: number;
  /** Who holds it, and what that one calls itself; null: nobody. */
  heldBy: string | null;
  executor: string | null;
  leaseMs: number;
  leaseUntil: number | null;
  /** The version of the code that ran it last. */
  ranWith: string | null;
  firstTakenAt: number | null;
  endedAt: number | null;
  /** Not before this it is ready; null: at once. */
  notBefore: number | null;
  /** Since when it waits for an executor; null: it does not. */
  readyAt: number | null;
  /** An executor is to look at it whatever it waits for. */
  isCalled: boolean;
  /** Why it is being cancelled; null: it is not. */
  cancelling: string | null;
  /** Where its end, or why it is stuck, lies. */
  endPosition: number | null;
  /** Counts what its holder has to hear of. */
  news: number;
  /** Executors lost in a row without a step between them. */
  lapses: number;
  /** The order in which steps complete: the next number. */
  nextOrder: number;
  waits: readonly Wait[];
  signals: readonly KeptSignal[];
  /** While it is held; else `packed` says the same. */
  steps: Map<string, Step> | null;
  packed: string;
  stepCount: number;
  chars: number;
  /** When it is to be looked at next; null: not by time. */
  dueAt: number | null;
  heapIndex: number;
}

/** A run in the line of those that wait for an executor. */
export interface Place {
  readonly id: string;
  /** In which line. */
  readonly line: string;
  /** Soonest first: since when it is ready, less what its priority is worth. */
  readonly score: number;
  heapIndex: number;
}

/** Those that may be taken or not together: of one workflow, version, queue, key and starter, begun or not. */
export interface Line {
  readonly id: string;
  readonly name: string;
  readonly pin: string | null;
  readonly queue: string | null;
  readonly key: string | null;
  readonly startedBy: string | null;
  /** They have their places in the queue, and whatever that bounds, they may go on [WF11]. */
  readonly isBegun: boolean;
  readonly places: Heap<Place>;
}

export interface QueueFields {
  readonly concurrency: number | null;
  readonly perKey: number | null;
  readonly perAgent: number | null;
  readonly rate: { readonly limit: number; readonly perMs: number } | null;
  /** Agents that may execute what is in it, whoever started that. */
  readonly executors: readonly string[];
}

export interface Queue extends QueueFields {
  readonly name: string;
  readonly declaredBy: string;
  readonly declaredAt: number;
  /** When the newest of its runs were taken first, for the rate. */
  readonly takenAt: readonly number[];
}

/** How many runs have a place in a queue: from the first take until they are over. */
export interface QueueUse {
  count: number;
  readonly byKey: Map<string, number>;
  readonly byAgent: Map<string, number>;
}

export interface WorkflowBook {
  /** Not over, by id. */
  readonly live: Map<string, Run>;
  readonly ended: FifoMap<string, Run>;
  readonly queues: Map<string, Queue>;
  /** The number of the next run without an id of its own. */
  next: number;
  /** Runs that time changes, soonest first. */
  readonly due: Heap<Run>;
  /** Lines by workflow and then by what else makes them one. */
  readonly lines: Map<string, Map<string, Line>>;
  readonly placeOf: Map<string, Place>;
  readonly use: Map<string, QueueUse>;
  /** Live runs and what their journals take, by starter. */
  readonly countBy: Map<string, number>;
  readonly charsBy: Map<string, number>;
  chars: number;
  /** Live runs by the word they are not to be doubled by. */
  readonly dedups: Map<string, string>;
  /** Live runs by what they wait for: `child r2`, `message 7`, and `gate g1` until they have gone on. */
  readonly awaited: Map<string, Set<string>>;
  /** Live children by their parent. */
  readonly children: Map<string, Set<string>>;
  /** Counts what an executor that waits may want to hear of; memory alone. */
  stirred: number;
  /** Ended runs of a starter, oldest first, and what their journals take. */
  readonly endedBy: Map<string, { readonly ids: Set<string>; chars: number }>;
}

export type WorkflowView = View<WorkflowBook>;
export type RunView = View<Run>;

export function findRun(book: WorkflowView, id: string): RunView | undefined {
  return book.live.get(id) ?? book.ended.get(id);
}

export function isHeld(run: Pick<Run, 'leaseUntil'>): boolean {
  return run.leaseUntil !== null;
}

export function createWorkflows(): WorkflowBook {
  return {
    ...{ live: new Map(), ended: new FifoMap(), queues: new Map(), next: 1 },
    ...createIndexes(),
  };
}

type Indexes = Omit<WorkflowBook, 'live' | 'ended' | 'queues' | 'next'>;

export function createIndexes(): Indexes {
  return {
    due: new Heap(isSooner),
    ...{ lines: new Map(), placeOf: new Map(), use: new Map() },
    ...{ countBy: new Map(), charsBy: new Map(), chars: 0, dedups: new Map() },
    ...{ awaited: new Map(), children: new Map(), endedBy: new Map(), stirred: 0 },
  };
}

function isSooner(a: Run, b: Run): boolean {
  const [first, second] = [a.dueAt ?? 0, b.dueAt ?? 0];
  return first === second ? a.id < b.id : first < second;
}
