/**
 * The hub of one space: decide → append → evolve → publish.
 *
 * Commands queue; a batch is decided in order against memory, appended once, and
 * only then are its answers and pushes released [H1]: nobody ever sees what could
 * still be lost. Questions stand in the same queue, for the same reason. When an
 * append fails, the batch is refused, memory is rebuilt from the log, and until
 * that succeeds every caller is told `store.unavailable` [H2].
 */
import { assert } from '../core/law/assert.ts';
import { type Refusal, refuse } from '../core/law/decider.ts';
import type { WorldView } from '../core/law/state.ts';
import { isDue } from '../core/law/tick.ts';
import type { AnswerTo, Command, DurableEvent } from '../core/law/world.ts';
import { cutPresented, evolvePresented } from '../core/talk/presented.ts';
import type { Log } from '../log/log.ts';
import { createAlarm } from './alarm.ts';
import { type Batch, decideBatch } from './batch.ts';
import type { Clock } from './clock.ts';
import { createFeeds, type Feed, type FeedSink, type Published } from './feed.ts';
import type { FeedOptions } from './feed-page.ts';
import { createMessageStore, type Message } from './message-store.ts';
import { createQueue, type Item, QUEUE_MAX } from './queue.ts';
import { rebuildWorld } from './rebuild.ts';
import { readEntries, type Scanned, scanLog } from './scan.ts';
import { createSnapshots } from './snapshots.ts';
import { createWatch, type Watch } from './watch.ts';

const CACHE_BYTES_MAX = 32 * 1024 * 1024;
const RECOVER_MS_MIN = 100;
const RECOVER_MS_MAX = 10_000;
const RETRY_MS = 1_000;

export interface HubOptions {
  readonly space: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly snapshotEvery?: number;
  readonly cacheBytesMax?: number;
  readonly queueMax?: number;
  /** Told of what went wrong without anyone having asked. */
  readonly onTrouble?: (what: string, cause: unknown) => void;
}

export interface Hub {
  readonly space: string;
  /** Stamp for the next command: the clock, never running backwards. */
  stamp(): number;
  /** Answers once the outcome is durable. The hot path; `submit` is the same as a promise. */
  submitThen(command: Command, done: (outcome: unknown) => void): void;
  submit<C extends Command>(command: C): Promise<AnswerTo<C> | Refusal>;
  /** Looks at the state in turn, when all that was asked before is durable and nothing is under way [H3]. */
  ask<T>(question: (world: WorldView) => T): Promise<T | Refusal>;
  messages(positions: readonly number[]): Promise<(Message | null)[]>;
  /** A channel's schema as memory has it now; the send that relies on it is checked again in turn. */
  schemaOf(channel: string): { readonly text: string | null; readonly version: number };
  /** Entries from a position on that are wanted, so many at the most; `next` is where to go on. */
  scan(
    from: number,
    isWanted: (event: DurableEvent) => boolean,
    limit: number,
    scannedMax: number,
  ): Promise<Scanned>;
  /** Entries as they are stored, from a position on: some, or none when there are no more. */
  entries(from: number, bytesMax: number): Promise<readonly string[]>;
  /** The chain head of the log. */
  readonly head: string;
  openFeed(options: FeedOptions, sink: FeedSink): Feed | Refusal;
  readonly watch: Watch;
  readonly isAvailable: boolean;
  readonly stats: HubStats;
  close(): Promise<void>;
}

export interface HubStats {
  readonly entries: number;
  readonly queued: number;
  readonly feeds: number;
  readonly batches: number;
}

export async function openHub(options: HubOptions): Promise<Hub> {
  const { log, clock, space } = options;
  const onTrouble = options.onTrouble ?? (() => {});

  let world = await rebuildWorld(log, onTrouble);
  world.awakeFrom = clock.now();
  let durable = world.length;
  let lastStamp = 0;
  let batches = 0;
  let status: 'open' | 'down' | 'closed' = 'open';
  let closing: Promise<void> | null = null;
  let isScheduled = false;
  let isRunning = false;
  let onIdle: (() => void) | null = null;
  let stopWaiting: (() => void) | null = null;

  const queueMax = options.queueMax ?? QUEUE_MAX;
  const queue = createQueue(queueMax);
  const snapshots = createSnapshots(log, world.length, options.snapshotEvery, onTrouble);
  const store = createMessageStore(log, options.cacheBytesMax ?? CACHE_BYTES_MAX);
  const watch = createWatch(clock, onTrouble);
  const feeds = createFeeds({
    store,
    ask,
    world: () => world,
    durableLength: () => durable,
    onPresented(by, messages, from, to) {
      evolvePresented(world, { type: 'inbox.presented', at: world.at, by: by.id, from, to });
      watch.onPresented(by.id, messages);
    },
    onTrouble,
  });
  const alarm = createAlarm(
    clock,
    stamp,
    () => world.deadlines,
    (done) =>
      enqueue({
        // Before any question what is due is recorded; this one asks for no more than that.
        question: () => null,
        done: (refusal) =>
          done(status !== 'open' ? 'down' : refusal === null ? 'settled' : 'refused'),
      }),
  );
  alarm.set();

  function stamp(): number {
    lastStamp = Math.max(lastStamp, clock.now(), world.at);
    return lastStamp;
  }

  function enqueue(item: Item): void {
    if (closing !== null) release(item, unavailable());
    else if (queue.push(item)) wake();
    else release(item, refuse('hub.busy', `${queueMax} commands wait already; try again soon`));
  }

  function ask<T>(question: (world: WorldView) => T): Promise<T | Refusal> {
    return new Promise((resolve) => {
      const item = { question, done: (outcome: unknown) => resolve(outcome as T | Refusal) };
      // With nothing under way or due, memory and log agree and nobody stands before us.
      const isQuiet = queue.length === 0 && !isRunning && !isDue(world, stamp());
      if (status === 'open' && isQuiet) release(item, look(item.question));
      else enqueue(item);
    });
  }

  function wake(): void {
    if (isScheduled || isRunning) return;
    isScheduled = true;
    clock.soon(() => {
      isScheduled = false;
      void run();
    });
  }

  async function run(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    try {
      if (queue.length > 0) await runBatch(queue.take());
    } finally {
      isRunning = false;
    }
    if (queue.length > 0) wake();
    else onIdle?.();
  }

  async function runBatch(items: readonly Item[]): Promise<void> {
    if (status !== 'open') return refuseAll(items, unavailable());
    const first = world.length;
    assert(first === durable, 'memory is ahead of the log between batches');
    const batch = await carryOut(first, items);
    if ('cause' in batch) {
      status = 'down';
      refuseAll(items, unavailable());
      onTrouble('a batch was refused; memory is rebuilt from the log', batch.cause);
      // Not awaited: callers that arrive meanwhile are refused at once instead of waiting for us.
      void recover();
      return;
    }
    durable = world.length;
    queue.putBack(batch.left);
    for (const [i, item] of batch.commands.entries()) release(item, batch.outcomes[i]);
    if (batch.events.length > 0) publish(first, batch.events, batch.entries);
    // Last, when everything of the batch is known to everybody: who asks and then waits misses nothing.
    for (const item of batch.questions) release(item, look(item.question));
    alarm.set();
    snapshots.offer(world);
  }

  /** The batch as it is stored now, or what broke: the log, or the law itself. */
  async function carryOut(expected: number, items: readonly Item[]): Promise<Batch | Failure> {
    try {
      const batch = decideBatch(world, items, stamp());
      if (batch.entries.length === 0) return batch;
      const appended = await log.append(expected, batch.entries);
      batches++;
      if (!('conflict' in appended)) return batch;
      const length = appended.conflict;
      return {
        cause: new Error(`another writer appended to ${space}: its log has ${length} entries`),
      };
    } catch (cause) {
      return { cause };
    }
  }

  function look(question: (world: WorldView) => unknown): unknown {
    try {
      return question(world);
    } catch (cause) {
      onTrouble('a question about the state failed', cause);
      return refuse('internal', 'the hub could not answer; this is a bug');
    }
  }

  /** One caller that cannot take its answer must not cost the others theirs. */
  function release(item: Item, outcome: unknown): void {
    try {
      item.done(outcome);
    } catch (cause) {
      onTrouble('an answer could not be handed over', cause);
    }
  }

  function refuseAll(items: readonly Item[], refusal: Refusal): void {
    for (const item of items) release(item, refusal);
  }

  function publish(
    first: number,
    events: readonly DurableEvent[],
    entries: readonly string[],
  ): void {
    if (entries.length > 0) store.remember(first, entries);
    const published: Published[] = [];
    for (let i = 0; i < events.length; i++) {
      const event = events[i] as DurableEvent;
      if (event.type !== 'message.sent') continue;
      const position = first + i;
      if (event.held === undefined) published.push({ position, event });
    }
    // Releases first: what a feed claims to have shown with the rest must not cover them.
    for (const event of events) {
      if (event.type !== 'message.reviewed' || !event.isReleased) continue;
      // A page that was on its way while this was being stored may have claimed too much.
      cutPresented(world, event.channel, event.position);
      void feeds.release(event);
    }
    if (published.length > 0) feeds.publish(published);
    watch.onEvents(world, first, events);
  }

  async function recover(): Promise<void> {
    let waitMs = RECOVER_MS_MIN;
    while (status === 'down') {
      try {
        const rebuilt = await rebuildWorld(log, onTrouble);
        rebuilt.awakeFrom = clock.now();
        if (isClosed()) return;
        world = rebuilt;
        status = 'open';
        // Something was stored that we did not acknowledge: listeners resume from what they saw.
        if (world.length !== durable) feeds.closeAll('store_unavailable');
        durable = world.length;
        watch.onEvents(world, durable, []);
        alarm.set();
        return;
      } catch (cause) {
        onTrouble(`the log cannot be read; trying again in ${waitMs} ms`, cause);
      }
      await pause(waitMs);
      waitMs = Math.min(waitMs * 2, RECOVER_MS_MAX);
    }
  }

  function isClosed(): boolean {
    return status === 'closed';
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(ms, resolve);
      stopWaiting = () => {
        cancel();
        resolve();
      };
    });
  }

  function unavailable(): Refusal {
    const refusal = refuse(
      'store.unavailable',
      'the store did not take it; nothing was changed, try again',
    );
    return { ...refusal, retryAt: clock.now() + RETRY_MS };
  }

  /** Everything asked before is still done; what comes later is refused. */
  async function shutDown(): Promise<void> {
    if (queue.length > 0 || isRunning) {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    }
    if (status === 'open') snapshots.offer(world, true);
    status = 'closed';
    alarm.close();
    stopWaiting?.();
    feeds.closeAll('shutting_down');
    watch.close();
    await snapshots.settled();
    await log.close();
  }

  return {
    space,
    stamp,
    watch,
    ask,
    submitThen: (command, done) => enqueue({ command, done }),
    submit: <C extends Command>(command: C) =>
      new Promise<AnswerTo<C> | Refusal>((resolve) => {
        enqueue({ command, done: (outcome) => resolve(outcome as AnswerTo<C> | Refusal) });
      }),
    messages: (positions) => store.read(positions),
    schemaOf: (channel) => {
      const settings = world.channels.get(channel)?.settings;
      return { text: settings?.schema ?? null, version: settings?.schemaVersion ?? 0 };
    },
    scan: (from, isWanted, limit, scannedMax) =>
      scanLog(log, { from, to: Math.min(durable, from + scannedMax), limit }, isWanted),
    entries: (from, bytesMax) => readEntries(log, { from, to: durable, bytesMax }),
    get head() {
      return log.head;
    },
    openFeed: (feed, sink) => (status === 'open' ? feeds.open(feed, sink) : unavailable()),
    get isAvailable() {
      return status === 'open';
    },
    get stats() {
      return { entries: durable, queued: queue.length, feeds: feeds.size, batches };
    },
    close() {
      closing ??= shutDown();
      return closing;
    },
  };
}

interface Failure {
  readonly cause: unknown;
}
