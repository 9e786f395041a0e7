/**
 * Runs in a snapshot: one short row each, and what most of them lack is left out of it, so that 100,000 that
 * sleep are written and read in a fraction of a second. Indexes follow from the rows.
 */
import { fieldsOf, mapBy, Runs } from '../law/fields.ts';
import { FifoMap } from '../law/fifo-map.ts';
import { enterEnded, enterRun, stepsOf } from './run-book.ts';
import {
  createIndexes,
  isHeld,
  type Queue,
  RUN_ENDS,
  type Run,
  type RunState,
  type WorkflowBook,
} from './run-state.ts';
import { packSteps } from './steps.ts';
import { RUN_LEASE_MS } from './workflow-limits.ts';

const BOOK = fieldsOf<WorkflowBook>()({
  live: { freeze: (runs) => freezeRuns(runs.values()), thaw: () => new Map() },
  ended: { freeze: (runs) => freezeRuns(runs.values()), thaw: () => new FifoMap() },
  queues: mapBy<Queue>(({ name }) => name),
  next: 'stored',
  ...{ due: 'derived', lines: 'derived', placeOf: 'derived', use: 'derived' },
  ...{ countBy: 'derived', charsBy: 'derived', chars: 'derived', dedups: 'derived' },
  ...{ awaited: 'derived', children: 'derived', endedBy: 'derived', stirred: 'memory' },
});

const STATES = Object.keys(RUN_ENDS) as RunState[];
const STATE_NUMBERS = Object.fromEntries(STATES.map((state, i) => [state, i])) as Readonly<
  Record<RunState, number>
>;

/** What every run has, in this order. */
type Row = readonly [
  ...[id: string, name: string, startedBy: string, createdAt: number, position: number],
  ...[digest: string, state: number, epoch: number, nextOrder: number, stepCount: number],
  ...[chars: number, packed: string, more: More],
];
const ROW_LENGTH = 13;

/** What only some have: what is left out is null, 0, false or empty, and a lease the usual one. */
type Kept = Pick<
  Run,
  | ('pin' | 'queue' | 'key' | 'priority' | 'dedup' | 'parent' | 'inputAt' | 'forkedFrom')
  | ('traceparent' | 'heldBy' | 'executor' | 'leaseMs' | 'leaseUntil' | 'ranWith')
  | ('firstTakenAt' | 'endedAt' | 'notBefore' | 'readyAt' | 'isCalled' | 'cancelling')
  | ('endPosition' | 'news' | 'lapses' | 'waits' | 'signals')
>;
type More = Partial<Kept>;

const SLICE = 128;

function freezeRuns(runs: Iterable<Run>): Runs {
  const rows = Array.from(runs, freezeRun);
  return new Runs(function* () {
    for (let i = 0; i < rows.length; i += SLICE) yield rows.slice(i, i + SLICE);
  });
}

function freezeRun(run: Run): Row {
  const packed = run.steps === null ? run.packed : packSteps(run.steps, run.createdAt);
  return [
    run.id,
    run.name,
    run.startedBy,
    run.createdAt,
    run.position,
    run.digest,
    STATE_NUMBERS[run.state],
    run.epoch,
    run.nextOrder,
    run.stepCount,
    run.chars,
    packed,
    moreOf(run),
  ];
}

/** Field by field, and not by a list of names: it is done 100,000 times at once. */
function moreOf(run: Run): More {
  const more: { -readonly [K in keyof Kept]?: Kept[K] } = {};
  if (run.pin !== null) more.pin = run.pin;
  if (run.queue !== null) more.queue = run.queue;
  if (run.key !== null) more.key = run.key;
  if (run.dedup !== null) more.dedup = run.dedup;
  if (run.parent !== null) more.parent = run.parent;
  if (run.inputAt !== null) more.inputAt = run.inputAt;
  if (run.forkedFrom !== null) more.forkedFrom = run.forkedFrom;
  if (run.traceparent !== null) more.traceparent = run.traceparent;
  if (run.heldBy !== null) more.heldBy = run.heldBy;
  if (run.executor !== null) more.executor = run.executor;
  if (run.leaseUntil !== null) more.leaseUntil = run.leaseUntil;
  if (run.ranWith !== null) more.ranWith = run.ranWith;
  if (run.firstTakenAt !== null) more.firstTakenAt = run.firstTakenAt;
  if (run.endedAt !== null) more.endedAt = run.endedAt;
  if (run.notBefore !== null) more.notBefore = run.notBefore;
  if (run.readyAt !== null) more.readyAt = run.readyAt;
  if (run.cancelling !== null) more.cancelling = run.cancelling;
  if (run.endPosition !== null) more.endPosition = run.endPosition;
  if (run.priority !== 0) more.priority = run.priority;
  if (run.leaseMs !== RUN_LEASE_MS) more.leaseMs = run.leaseMs;
  if (run.isCalled) more.isCalled = true;
  if (run.news !== 0) more.news = run.news;
  if (run.lapses !== 0) more.lapses = run.lapses;
  if (run.waits.length > 0) more.waits = run.waits;
  if (run.signals.length > 0) more.signals = run.signals;
  return more;
}

function thawRun(row: Row): Run {
  if (row.length !== ROW_LENGTH) throw new Error('a run that cannot be read');
  const [id, name, startedBy, createdAt, position, digest, state, epoch] = row;
  const more = row[12];
  const stateName = STATES[state];
  if (stateName === undefined) throw new Error('a run in no state');
  // Field by field, and not by spreading: it is done 100,000 times.
  const run: Run = {
    id,
    name,
    pin: more.pin ?? null,
    startedBy,
    createdAt,
    position,
    inputAt: more.inputAt ?? null,
    digest,
    queue: more.queue ?? null,
    key: more.key ?? null,
    priority: more.priority ?? 0,
    dedup: more.dedup ?? null,
    parent: more.parent ?? null,
    forkedFrom: more.forkedFrom ?? null,
    traceparent: more.traceparent ?? null,
    state: stateName,
    epoch,
    heldBy: more.heldBy ?? null,
    executor: more.executor ?? null,
    leaseMs: more.leaseMs ?? RUN_LEASE_MS,
    leaseUntil: more.leaseUntil ?? null,
    ranWith: more.ranWith ?? null,
    firstTakenAt: more.firstTakenAt ?? null,
    endedAt: more.endedAt ?? null,
    notBefore: more.notBefore ?? null,
    readyAt: more.readyAt ?? null,
    isCalled: more.isCalled ?? false,
    cancelling: more.cancelling ?? null,
    endPosition: more.endPosition ?? null,
    news: more.news ?? 0,
    lapses: more.lapses ?? 0,
    nextOrder: row[8],
    waits: more.waits ?? [],
    signals: more.signals ?? [],
    steps: null,
    packed: row[11],
    stepCount: row[9],
    chars: row[10],
    dueAt: null,
    heapIndex: -1,
  };
  if (isHeld(run)) stepsOf(run);
  return run;
}

export function freezeWorkflows(book: WorkflowBook): object {
  return BOOK.freeze(book, {});
}

export function thawWorkflows(frozen: unknown): WorkflowBook {
  const book = BOOK.thaw(frozen, createIndexes());
  const rows = frozen as { readonly live: readonly Row[]; readonly ended: readonly Row[] };
  for (const row of rows.live) enterRun(book, thawRun(row));
  for (const row of rows.ended) enterEnded(book, thawRun(row));
  return book;
}
