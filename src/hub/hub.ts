/**
 * The hub of one space: decide → append → evolve → publish.
 *
 * Commands queue; a batch is decided in order against memory, appended once, and
 * only then are its answers and pushes released [H1]: nobody ever sees what could
 * still be lost. Questions stand in the same queue, for the same reason. When an
 * append fails, the batch is refused, memory is rebuilt from the log, and until
 * that succeeds every caller is told `store.unavailable` [H2].
 */
import { assert } from '../core/assert.ts';
import { isRefusal, type Refusal, refuse } from '../core/decider.ts';
import { decodeEvent, encodeEvent } from '../core/entry.ts';
import { evolvePresented } from '../core/presented.ts';
import { SERVER } from '../core/principal.ts';
import { freezeWorld, thawWorld } from '../core/snapshot.ts';
import { createWorld, type World } from '../core/state.ts';
import {
  type AnswerTo,
  type Command,
  type DurableEvent,
  decide,
  evolve,
  isEphemeral,
} from '../core/world.ts';
import type { Log } from '../log/log.ts';
import type { Clock } from './clock.ts';
import { createFeeds, type Feed, type FeedOptions, type FeedSink, type Published } from './feed.ts';
import { createMessageStore, type Message } from './message-store.ts';
import { createWatch, type Watch } from './watch.ts';

/** Commands waiting to be decided; the next one is refused with `hub.busy`. */
export const QUEUE_MAX = 100_000;
/** One append carries the outcome of at most this many commands. */
const BATCH_MAX = 2_048;
const BATCH_CHARS_MAX = 8 * 1024 * 1024;
const SNAPSHOT_EVERY = 100_000;
const CACHE_BYTES_MAX = 32 * 1024 * 1024;
const RECOVER_MS_MIN = 100;
const RECOVER_MS_MAX = 10_000;

export interface HubOptions {
  readonly space: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly snapshotEvery?: number;
  readonly cacheBytesMax?: number;
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
  /** Looks at the state in turn: after everything asked before is durable. */
  ask<T>(question: (world: World) => T): Promise<T | Refusal>;
  messages(positions: readonly number[]): Promise<(Message | null)[]>;
  /** A channel's schema as memory has it now; the send that relies on it is checked again in turn. */
  schemaOf(channel: string): { readonly text: string | null; readonly version: number };
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

type Item =
  | { readonly command: Command; readonly done: (outcome: unknown) => void }
  | { readonly question: (world: World) => unknown; readonly done: (outcome: unknown) => void };

export async function openHub(options: HubOptions): Promise<Hub> {
  const { log, clock, space } = options;
  const snapshotEvery = options.snapshotEvery ?? SNAPSHOT_EVERY;
  const onTrouble = options.onTrouble ?? (() => {});

  let world = await rebuild(log);
  let durable = world.length;
  let snapshotAt = world.length;
  let lastStamp = 0;
  let batches = 0;
  let status: 'open' | 'down' | 'closed' = 'open';
  let queue: Item[] = [];
  let isScheduled = false;
  let isRunning = false;
  let cancelTimer: (() => void) | null = null;
  let timerAt = Number.POSITIVE_INFINITY;
  let onIdle: (() => void) | null = null;

  const store = createMessageStore(log, options.cacheBytesMax ?? CACHE_BYTES_MAX);
  const watch = createWatch(clock);
  const feeds = createFeeds(
    () => world,
    () => durable,
    store,
    (by, from, to) => {
      evolvePresented(world, { type: 'inbox.presented', at: world.at, by: by.id, from, to });
      watch.onPresented(by.id, from, to);
    },
  );

  function stamp(): number {
    lastStamp = Math.max(lastStamp, clock.now(), world.at);
    return lastStamp;
  }

  function enqueue(item: Item): void {
    if (queue.length >= QUEUE_MAX) {
      item.done(refuse('hub.busy', `${QUEUE_MAX} commands wait already; try again in a moment`));
      return;
    }
    queue.push(item);
    wake();
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
      if (queue.length > 0) await runBatch();
    } finally {
      isRunning = false;
    }
    if (queue.length > 0) wake();
    else onIdle?.();
  }

  async function runBatch(): Promise<void> {
    const items = takeBatch();
    if (status !== 'open') {
      const refusal = unavailable();
      for (const item of items) item.done(refusal);
      return;
    }
    const outcomes = new Array<unknown>(items.length);
    const entries: string[] = [];
    const events: DurableEvent[] = [];
    const first = world.length;
    assert(first === durable, 'memory is ahead of the log between batches');
    for (const [i, item] of items.entries()) {
      if ('question' in item) outcomes[i] = item.question(world);
      else outcomes[i] = decideOne(item.command, entries, events);
    }
    if (entries.length > 0) {
      const failure = await append(first, entries);
      if (failure !== null) {
        const refusal = unavailable();
        status = 'down';
        for (const item of items) item.done(refusal);
        onTrouble('the log refused an append; memory is rebuilt from it', failure);
        // Not awaited: callers that arrive meanwhile are refused at once instead of waiting for us.
        void recover();
        return;
      }
      durable = world.length;
      batches++;
    }
    for (const [i, item] of items.entries()) item.done(outcomes[i]);
    publish(first, events, entries);
    armTimer();
    if (durable - snapshotAt >= snapshotEvery) void takeSnapshot();
  }

  function takeBatch(): Item[] {
    if (queue.length <= BATCH_MAX) {
      const all = queue;
      queue = [];
      return cutByChars(all);
    }
    const batch = queue.slice(0, BATCH_MAX);
    queue = queue.slice(BATCH_MAX);
    return cutByChars(batch);
  }

  /** Large bodies make short batches, so that one append stays a bounded piece of work. */
  function cutByChars(batch: Item[]): Item[] {
    let chars = 0;
    for (const [i, item] of batch.entries()) {
      if ('command' in item && item.command.type === 'message.send')
        chars += item.command.body.length;
      if (chars > BATCH_CHARS_MAX && i > 0) {
        queue = [...batch.slice(i), ...queue];
        return batch.slice(0, i);
      }
    }
    return batch;
  }

  function decideOne(command: Command, entries: string[], events: DurableEvent[]): unknown {
    const decision = decide(world, command);
    if (isRefusal(decision)) return decision;
    for (const event of decision.events) {
      evolve(world, event, world.length);
      if (isEphemeral(event)) continue;
      events.push(event);
      entries.push(encodeEvent(event));
    }
    return decision.answer;
  }

  async function append(expected: number, entries: readonly string[]): Promise<unknown> {
    try {
      const appended = await log.append(expected, entries);
      if (!('conflict' in appended)) return null;
      return new Error(
        `another writer appended to ${space}: its log has ${appended.conflict} entries`,
      );
    } catch (cause) {
      return cause ?? new Error('append failed without a reason');
    }
  }

  function publish(
    first: number,
    events: readonly DurableEvent[],
    entries: readonly string[],
  ): void {
    const published: Published[] = [];
    for (const [i, event] of events.entries()) {
      if (event.type !== 'message.sent') continue;
      const position = first + i;
      store.remember(position, entries[i] as string);
      if (event.held === undefined) published.push({ position, event });
    }
    if (published.length > 0) feeds.publish(published);
    for (const event of events) {
      if (event.type === 'message.reviewed' && event.isReleased)
        void publishReleased(event.position);
    }
    if (events.length > 0) watch.onEvents(world, first, events);
  }

  async function publishReleased(position: number): Promise<void> {
    try {
      const [message] = await store.read([position]);
      if (!message) return;
      const { position: _, body, ...event } = message;
      feeds.publish([{ position, event: { ...event, body: JSON.stringify(body) } }]);
    } catch (cause) {
      onTrouble('a released message could not be pushed; it stays in the inbox', cause);
    }
  }

  function armTimer(): void {
    const due = world.deadlines.next?.at;
    if (due === undefined || (cancelTimer !== null && timerAt <= due)) return;
    cancelTimer?.();
    timerAt = due;
    cancelTimer = clock.after(Math.max(0, due - clock.now()), () => {
      cancelTimer = null;
      timerAt = Number.POSITIVE_INFINITY;
      if (status !== 'closed') tick();
    });
  }

  function tick(): void {
    enqueue({
      command: { type: 'clock.tick', by: SERVER, at: stamp() },
      done: () => {
        const next = world.deadlines.next;
        if (next !== null && next.at <= stamp() && status === 'open') tick();
        else armTimer();
      },
    });
  }

  async function takeSnapshot(): Promise<void> {
    snapshotAt = durable;
    const snapshot = { position: durable, head: log.head, text: freezeWorld(world) };
    try {
      await log.saveSnapshot(snapshot);
    } catch (cause) {
      onTrouble('the snapshot was not saved; the next start takes longer', cause);
    }
  }

  async function recover(): Promise<void> {
    let waitMs = RECOVER_MS_MIN;
    while (status === 'down') {
      try {
        world = await rebuild(log);
        durable = world.length;
        status = 'open';
        armTimer();
        return;
      } catch (cause) {
        onTrouble(`the log cannot be read; trying again in ${waitMs} ms`, cause);
      }
      await new Promise<void>((resolve) => clock.after(waitMs, resolve));
      waitMs = Math.min(waitMs * 2, RECOVER_MS_MAX);
    }
  }

  function unavailable(): Refusal {
    return {
      ...refuse('store.unavailable', 'the store did not take it; nothing was changed, try again'),
      retryAt: clock.now() + 1000,
    };
  }

  async function drained(): Promise<void> {
    if (queue.length === 0 && !isRunning) return;
    await new Promise<void>((resolve) => {
      onIdle = resolve;
    });
  }

  return {
    space,
    stamp,
    watch,
    submitThen: (command, done) => enqueue({ command, done }),
    submit: <C extends Command>(command: C) =>
      new Promise<AnswerTo<C> | Refusal>((resolve) => {
        enqueue({ command, done: (outcome) => resolve(outcome as AnswerTo<C> | Refusal) });
      }),
    ask: <T>(question: (world: World) => T) => {
      // With nothing under way, memory and log agree and nobody stands before us.
      if (status === 'open' && queue.length === 0 && !isRunning)
        return Promise.resolve(question(world));
      return new Promise<T | Refusal>((resolve) => {
        enqueue({ question, done: (outcome) => resolve(outcome as T | Refusal) });
      });
    },
    messages: (positions) => store.read(positions),
    schemaOf: (channel) => {
      const settings = world.channels.get(channel)?.settings;
      return { text: settings?.schema ?? null, version: settings?.schemaVersion ?? 0 };
    },
    get head() {
      return log.head;
    },
    openFeed: (feed, sink) => feeds.open(feed, sink),
    get isAvailable() {
      return status === 'open';
    },
    get stats() {
      return { entries: durable, queued: queue.length, feeds: feeds.size, batches };
    },
    async close() {
      if (status === 'closed') return;
      await drained();
      const wasOpen = status === 'open';
      status = 'closed';
      cancelTimer?.();
      feeds.closeAll('shutting_down');
      watch.close();
      if (wasOpen && durable > snapshotAt) await takeSnapshot();
      await log.close();
    },
  };
}

async function rebuild(log: Log): Promise<World> {
  const snapshot = await log.loadSnapshot();
  const world = (snapshot === null ? null : thawWorld(snapshot.text)) ?? createWorld();
  for await (const chunk of log.read(world.length)) {
    for (const [i, entry] of chunk.entries.entries()) {
      evolve(world, decodeEvent(entry), chunk.first + i);
    }
  }
  assert(world.length === log.length, 'the world is as long as its log');
  return world;
}
