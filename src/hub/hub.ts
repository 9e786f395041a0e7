/**
 * The hub of one space: decide → append → evolve → publish.
 *
 * Commands queue; a batch is decided in order against memory, appended once, and
 * only then are its answers and pushes released [H1]: nobody ever sees what could
 * still be lost. Questions stand in the same queue, for the same reason. What is
 * published is what became durable, whoever wrote it: a hub that is asked nothing
 * follows its log and pushes what others store there [H11].
 */
import { isRefusal, type Refusal, refuse } from '../core/law/decider.ts';
import { SERVER } from '../core/law/principal.ts';
import type { Described, WorldView } from '../core/law/state.ts';
import { isDue } from '../core/law/tick.ts';
import type { View } from '../core/law/view.ts';
import { type AnswerTo, type Command, type DurableEvent, evolve } from '../core/law/world.ts';
import { cutPresented, evolvePresented } from '../core/talk/presented.ts';
import type { Log } from '../log/log.ts';
import type { SnapshotName } from '../log/snapshot-name.ts';
import { createAlarm } from './alarm.ts';
import type { Clock } from './clock.ts';
import { createCommitter } from './commit.ts';
import { createFeeds, type Feed, type FeedEnd, type FeedSink, type Published } from './feed.ts';
import type { FeedOptions } from './feed-page.ts';
import { createHearing, type Hearing } from './hearing.ts';
import { createMessageStore, type Message, type TextMessage } from './message-store.ts';
import { createQueue, FAR, type Item, QUEUE_MAX } from './queue.ts';
import { createReading, type Reading } from './reading.ts';
import { openReplica } from './replica.ts';
import type { Sequencing, Standing } from './sequencing.ts';
import { createSnapshots } from './snapshots.ts';
import { createStamps } from './stamps.ts';
import type { OpenTextPage } from './text-page.ts';
import { createTurns, type Turns } from './turns.ts';
import { createWatch, type Watch } from './watch.ts';
import { createWhispers, type Whispers } from './whispers.ts';

/** What another server should have settled is seen here by then. */
const PASSED_MS = 60_000;
const PASSED_MAX = 256;
const NO_DEADLINES = { next: null } as const;

export interface HubOptions {
  readonly space: string;
  readonly log: Log;
  /** Given where several servers serve the space. */
  readonly sequencing?: Sequencing;
  readonly clock: Clock;
  readonly snapshotEvery?: number;
  readonly cacheBytesMax?: number;
  /** What is kept of the newest messages; in the heap, unless it is said where. */
  readonly openPage?: OpenTextPage;
  readonly queueMax?: number;
  /** Told of what went wrong without anyone having asked. */
  readonly onTrouble?: (what: string, cause: unknown) => void;
}

export interface Hub extends Reading {
  readonly space: string;
  /** Stamp for the next command: the clock, never running backwards. */
  stamp(): number;
  /** Answers once the outcome is durable. The hot path; `submit` is the same as a promise. */
  submitThen(command: Command, done: (outcome: unknown) => void): void;
  submit<C extends Command>(command: C): Promise<AnswerTo<C> | Refusal>;
  /** Looks at the state in turn, when all that was asked before is durable and nothing is under way [H3]. */
  ask<T>(question: (world: WorldView) => T): Promise<T | Refusal>;
  messages(positions: readonly number[]): Promise<(Message | null)[]>;
  /** The same, with their bodies as text. */
  messageTexts(positions: readonly number[]): Promise<(TextMessage | null)[]>;
  /** What posts on a channel must be, as memory has it now; null when nobody has said. */
  describedAs(channel: string): View<Described> | null;
  /** A channel's schema as memory has it now; the send that relies on it is checked again in turn. */
  schemaOf(channel: string): { readonly text: string | null; readonly version: number };
  /** The chain head of the log. */
  readonly head: string;
  /** The entry that records what was dropped from the log last; null when nothing was. */
  readonly compactedAt: number | null;
  /** Whether anybody is managed here, so that what a body asks is worth finding out. */
  readonly hasManaged: boolean;
  /** Reads on where somebody names a position that is not known here: another server may have told it. */
  reach(position: number): Promise<void>;
  openFeed(options: FeedOptions, sink: FeedSink): Feed | Refusal;
  /** For what reads much of the log: whoever else asks is served between two pieces [F8]. */
  readonly turns: Turns;
  readonly watch: Watch;
  readonly isAvailable: boolean;
  /** Somebody asks, waits or listens here at this moment, or turns are seen to. */
  readonly isInUse: boolean;
  /** Its part among several servers; null where it is alone. */
  readonly standing: Standing | null;
  /** What it tells other servers, and hears of them, of what only memory knows; null where it is alone. */
  readonly whispers: Whispers | null;
  readonly stats: HubStats;
  /** The reason is told to the feeds. */
  close(reason?: 'shutting_down' | 'space_removed'): Promise<void>;
}

export interface HubStats {
  readonly entries: number;
  readonly queued: number;
  readonly feeds: number;
  readonly batches: number;
}

export async function openHub(options: HubOptions): Promise<Hub> {
  const { log, clock, space, sequencing } = options;
  const onTrouble = options.onTrouble ?? (() => {});

  const stamps = createStamps(clock, () => replica.world.at);
  const stamp = stamps.next;
  let closing: Promise<void> | null = null;
  let isScheduled = false;
  let isRunning = false;
  /** Somebody here waits for an answer; a hub that reads on does not. */
  let isAsked = false;
  /** Another writer has stored what is not taken in yet: so many entries are known; all, where one has to look. */
  let behind = 0;
  let onIdle: (() => void) | null = null;

  const queueMax = options.queueMax ?? QUEUE_MAX;
  const queue = createQueue(queueMax, sequencing && FAR);
  const replica = await openReplica(log, publish, onTrouble);
  replica.world.awakeFrom = clock.now();
  const snapshots = createSnapshots({
    ...{ log, clock, from: replica.snapshotEnd, every: options.snapshotEvery },
    ...{ name: nameSnapshot, onTrouble },
  });
  const store = createMessageStore(log, options.cacheBytesMax, options.openPage);
  const hearing = createHearing(replica, clock, onTrouble);
  const onHeard: Hearing['hear'] = (words) => {
    hearing.hear(words);
    alarm.set();
  };
  const { presentedTo, beats, awakeMs, onDeaf } = hearing;
  const told = { presentedTo, beats, awakeMs, onDeaf, hear: onHeard };
  const whispers = sequencing && createWhispers({ sequencing, clock, ...told });
  const watch = createWatch(clock, onTrouble, whispers);
  const turns = createTurns((run) => clock.soon(run));
  const feeds = createFeeds({
    ...{ store, ask, whispers, turns },
    world: () => replica.world,
    durableLength: () => replica.length,
    onPresented(by, messages, from, to) {
      const { world } = replica;
      const presented = { type: 'inbox.presented', at: world.at, by: by.id, from, to } as const;
      evolvePresented(world, presented);
      whispers?.tell([presented]);
      watch.onPresented(by.id, messages);
    },
    onTrouble,
  });
  const committer = createCommitter({
    ...{ log, sequencing, clock, replica, stamp, look, onBehind, onTrouble },
    onPassing: (events) => whispers?.tell(events),
    onHeard,
    putBack: queue.putBack,
    onDurable: publish,
    onSettled() {
      if (isElsewhere()) passBy();
      alarm.set();
      // The head that is stored with a snapshot is the log's; it must be the one at this length.
      if (log.length === replica.length && !isElsewhere()) snapshots.offer(replica.world);
    },
  });
  const alarm = createAlarm(
    clock,
    stamps,
    // What is due is recorded where commands are decided.
    () => (isElsewhere() ? NO_DEADLINES : replica.world.deadlines),
    (done) =>
      enqueue({
        // Before any question what is due is recorded; this one asks for no more than that.
        question: () => null,
        done: (refusal) =>
          done(!committer.isOpen ? 'down' : refusal === null ? 'settled' : 'refused'),
      }),
  );
  alarm.set();
  const stops = [
    log.follow(onNews),
    sequencing?.onChange(() => {
      alarm.set();
      // What the last one stored comes before whatever we answer for all.
      if (!isElsewhere()) onBehind();
    }),
  ];
  // What came while we were opening was told to nobody.
  if (log.length > replica.length) onBehind();

  function isElsewhere(): boolean {
    return sequencing?.isElsewhere ?? false;
  }

  /** Deadlines of long ago were settled by who sequences; they are taken off here, or they would only add up. */
  function passBy(): void {
    const { world } = replica;
    const at = stamp() - PASSED_MS;
    for (let i = 0; i < PASSED_MAX && isDue(world, at); i++) {
      evolve(world, { type: 'clock.ticked', at }, world.length);
    }
  }

  function onBehind(): void {
    behind = Number.POSITIVE_INFINITY;
    wake();
  }

  function onNews(): void {
    behind = Math.max(behind, log.length);
    committer.onNews();
    wake();
  }

  function enqueue(item: Item): void {
    if (closing !== null) committer.release(item, committer.unavailable());
    else if (queue.push(item)) wake();
    else {
      const busy = refuse('hub.busy', `${queueMax} commands wait already; try again soon`);
      committer.release(item, busy);
    }
  }

  /** Also while the hub closes: what was asked before is done, and then the last snapshot is named. */
  function nameSnapshot(name: SnapshotName): Promise<boolean> {
    return new Promise((resolve) => {
      const command = { type: 'snapshot.record', by: SERVER, at: stamp(), ...name } as const;
      const item = { command, done: (outcome: unknown) => resolve(!isRefusal(outcome)) };
      if (queue.push(item)) wake();
      else resolve(false);
    });
  }

  function ask<T>(question: (world: WorldView) => T): Promise<T | Refusal> {
    return new Promise((resolve) => {
      const item = { question, done: (outcome: unknown) => resolve(outcome as T | Refusal) };
      // With nothing under way or due, memory and log agree and nobody stands before us. Where another
      // sequences it is asked how far that is.
      const isIdle = queue.length === 0 && !isRunning && behind === 0 && !isElsewhere();
      if (isServing() && isIdle && !isDue(replica.world, stamp()))
        committer.release(item, look(item.question));
      else enqueue(item);
    });
  }

  function isServing(): boolean {
    return committer.isOpen && closing === null;
  }

  function wake(): void {
    if (isScheduled || isRunning) return;
    isScheduled = true;
    clock.soon(() => {
      isScheduled = false;
      void (queue.isFilling() ? wake() : run());
    });
  }

  async function run(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    try {
      if (behind > 0) await takeIn();
      isAsked = queue.length > 0;
      if (isAsked) await committer.commit(queue.take());
    } finally {
      isRunning = false;
      isAsked = false;
    }
    if (queue.length > 0 || (behind > 0 && closing === null)) wake();
    else onIdle?.();
  }

  async function takeIn(): Promise<void> {
    const enough = behind;
    behind = 0;
    // A hub that is down reads on by itself.
    if (committer.isOpen && enough > replica.length) await committer.catchUp(enough);
  }

  function look(question: (world: WorldView) => unknown): unknown {
    try {
      return question(replica.world);
    } catch (cause) {
      onTrouble('a question about the state failed', cause);
      return refuse('internal', 'the hub could not answer; this is a bug');
    }
  }

  function publish(
    first: number,
    events: readonly DurableEvent[],
    entries: readonly string[],
  ): void {
    store.remember(first, entries);
    const published: Published[] = [];
    const isHeard = feeds.size > 0;
    let hasReviews = false;
    for (let i = 0; i < events.length; i++) {
      const event = events[i] as DurableEvent;
      if (event.type === 'message.sent') {
        if (isHeard && event.held === undefined) published.push({ position: first + i, event });
      } else if (event.type === 'message.reviewed') hasReviews = true;
      else if (event.type === 'channel.retired') feeds.forget(event.channel);
    }
    // Releases first: what a feed claims to have shown with the rest must not cover them.
    for (let i = 0; hasReviews && i < events.length; i++) {
      const event = events[i] as DurableEvent;
      if (event.type !== 'message.reviewed' || !event.isReleased) continue;
      hearing.noteRelease(event.position, first + i);
      // A page that was on its way while this was being stored may have claimed too much.
      cutPresented(replica.world, event.channel, event.position);
      void feeds.release(event);
    }
    if (published.length > 0) feeds.publish(published);
    watch.onEvents(replica.world, first, events);
  }

  /** Everything asked before is still done; what comes later is refused. */
  async function shutDown(reason: FeedEnd): Promise<void> {
    if (queue.length > 0 || isRunning) {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    }
    for (const stop of stops) stop?.();
    whispers?.close();
    const isWhole = committer.isOpen && log.length === replica.length;
    // A space that goes needs no shortcut to it, and nothing more on its record.
    if (isWhole && !isElsewhere() && reason !== 'space_removed')
      snapshots.offer(replica.world, true);
    alarm.close();
    feeds.closeAll(reason);
    watch.close();
    await snapshots.settled();
    committer.close();
    await log.close();
  }

  return {
    ...{ space, stamp, watch, turns, ask },
    submitThen: (command, done) => enqueue({ command, done }),
    submit: <C extends Command>(command: C) =>
      new Promise<AnswerTo<C> | Refusal>((resolve) => {
        enqueue({ command, done: (outcome) => resolve(outcome as AnswerTo<C> | Refusal) });
      }),
    messages: store.read,
    messageTexts: store.readTexts,
    ...createReading(log, () => replica.length, turns),
    describedAs: (channel) => replica.world.channels.get(channel)?.described ?? null,
    schemaOf: (channel) => {
      const settings = replica.world.channels.get(channel)?.settings;
      return { text: settings?.schema ?? null, version: settings?.schemaVersion ?? 0 };
    },
    get hasManaged() {
      return replica.world.turns.agents.size > 0;
    },
    get head() {
      return log.head;
    },
    get compactedAt() {
      return log.compacted?.record ?? null;
    },
    async reach(position) {
      if (sequencing === undefined || position < replica.length) return;
      onBehind();
      // In the queue: what stands there is looked at after the log was read.
      await new Promise((done) => enqueue({ question: () => null, done }));
    },
    openFeed(feed, sink) {
      if (!isServing()) return committer.unavailable();
      // Who goes on from a position may have seen at another hub what we have not read yet.
      if (typeof feed.from === 'number') onBehind();
      return feeds.open(feed, sink);
    },
    get isAvailable() {
      return isServing();
    },
    get isInUse() {
      return (
        isAsked ||
        queue.length > 0 ||
        feeds.size > 0 ||
        watch.isInUse ||
        replica.world.turns.agents.size > 0
      );
    },
    get standing() {
      return sequencing?.standing ?? null;
    },
    whispers: whispers ?? null,
    get stats() {
      const { batches } = committer;
      return { entries: replica.length, queued: queue.length, feeds: feeds.size, batches };
    },
    close(reason = 'shutting_down') {
      closing ??= shutDown(reason);
      return closing;
    },
  };
}
