/**
 * Batches on their way into the log. A batch is decided, appended once and answered
 * when it is durable. Where others write too, what they stored is read first, so that
 * little is decided in vain; if one was first all the same, memory is made anew and the
 * batch decided again on what that one stored [H11]. If an append fails, the log is read to see what became of it
 * and its callers are told the truth: stored, not stored, or not known in time [H2].
 */
import { type Refusal, refuse } from '../core/law/decider.ts';
import type { WorldView } from '../core/law/state.ts';
import type { Command, EphemeralEvent } from '../core/law/world.ts';
import { type Log, LogError } from '../log/log.ts';
import { type Batch, decideBatch } from './batch.ts';
import type { Clock } from './clock.ts';
import type { Item } from './queue.ts';
import { createReadingOn } from './reading-on.ts';
import type { OnDurable, Replica } from './replica.ts';
import type { Forwarded, Sequencing } from './sequencing.ts';
import type { Whisper } from './whisper.ts';

/** How often a batch is decided again because others were first, before its callers are refused. */
const REBASES_MAX = 8;
/** An append that takes longer is not waited for; it may still be stored. */
const APPEND_MS_MAX = 10_000;
/** How long callers wait to hear what became of an append that failed. */
const DOUBT_MS_MAX = 5_000;
const RECOVER_MS_MIN = 100;
const RECOVER_MS_MAX = 10_000;
const RETRY_MS = 1_000;
/** How often who sequences is asked for the length of the log, when there is no answer. */
const POSITIONS_MAX = 3;
/** How often, and how long after another, who sequences is asked whether it has read what we stored. */
const TOLD_MAX = 100;
const TOLD_MS = 20;
const UNDER_WAY = Promise.resolve(null);

export interface CommitterOptions {
  readonly log: Log;
  /** Absent where one server alone serves the space. */
  readonly sequencing?: Sequencing | undefined;
  readonly clock: Clock;
  readonly replica: Replica;
  readonly stamp: () => number;
  /** What a batch could not reach is next again. */
  readonly putBack: (items: readonly Item[]) => void;
  readonly onDurable: OnDurable;
  /** What a batch changed in memory alone. */
  readonly onPassing: (events: readonly EphemeralEvent[]) => void;
  /** What the one who decided knows in memory alone. */
  readonly onHeard: (words: readonly Whisper[]) => void;
  /** Memory and log agree again after a batch, or after what others stored was taken in. */
  readonly onSettled: () => void;
  /** More may be stored than is known. */
  readonly onBehind: () => void;
  readonly look: (question: (world: WorldView) => unknown) => unknown;
  readonly onTrouble: (what: string, cause: unknown) => void;
}

export interface Committer {
  /** False while the log cannot be relied on, and when closed. */
  readonly isOpen: boolean;
  /** Appends so far. */
  readonly batches: number;
  /** Never throws; everybody asked is answered, at once or within bounds. */
  commit(items: readonly Item[]): Promise<void>;
  /** Takes in what another writer stored; where `enough` entries are known already, the log is not asked for more. */
  catchUp(enough: number): Promise<void>;
  /** The log knows of more than before. */
  onNews(): void;
  release(item: Item, outcome: unknown): void;
  unavailable(): Refusal;
  close(): void;
}

/** A batch whose append failed, until it is known what became of it. */
interface Doubt {
  readonly batch: Batch;
  /** Where it was to be stored. */
  readonly first: number;
  /** Reading the log tells whether it is stored. */
  readonly canTell: boolean;
  /** Tells the callers what was decided, or why that does not hold; the first answer counts. */
  answer(refusal: Refusal | null): void;
}

export function createCommitter(options: CommitterOptions): Committer {
  const { log, clock, replica, onTrouble } = options;
  const reading = createReadingOn(log, clock, replica);
  let status: 'open' | 'down' | 'closed' = 'open';
  let batches = 0;
  let doubt: Doubt | null = null;
  let stopWaiting: (() => void) | null = null;

  async function commit(given: readonly Item[]): Promise<void> {
    let items = given;
    if (status !== 'open') return refuseAll(items, unavailable());
    for (let tries = 0; tries <= REBASES_MAX; tries++) {
      // Also when it was decided before: who was first may be who sequences now.
      const wasElsewhere = isElsewhere();
      if (wasElsewhere) items = await forwardAll(options.sequencing as Sequencing, items);
      if (items.length === 0) return;
      // It fell to us while they waited, or others write too: what they stored is known first.
      const isWary = wasElsewhere || reading.isWary;
      if (isWary && !(await hasCaughtUp())) return refuseAll(items, unavailable());
      if (!wasElsewhere && isElsewhere()) continue;
      let batch: Batch;
      try {
        batch = decideBatch(replica.world, items, options.stamp());
      } catch (cause) {
        refuseAll(items, unavailable());
        return goDown('the law broke; memory is made anew from the log', cause);
      }
      try {
        if (await isAppended(batch)) {
          await tellSequencer(batch);
          return settle(batch);
        }
      } catch (cause) {
        beginDoubt(batch, cause);
        return goDown('an append failed; the log is read to see what became of it', cause);
      }
      try {
        reading.beWary();
        await replica.rewind();
        await reading.readOn();
      } catch (cause) {
        // The log said that somebody else was first: this batch is not stored.
        refuseAll(items, unavailable());
        return goDown('what another writer stored cannot be read', cause);
      }
    }
    const times = `${REBASES_MAX + 1} times in a row`;
    refuseAll(items, unavailable(`other writers were first ${times}; nothing was changed`));
    options.onSettled();
  }

  function isElsewhere(): boolean {
    return options.sequencing?.isElsewhere === true;
  }

  /** Has the commands of a batch decided by who sequences the space; answers with those to be decided here. */
  async function forwardAll(
    sequencing: Sequencing,
    items: readonly Item[],
  ): Promise<readonly Item[]> {
    const commands = items.filter((item) => 'command' in item);
    const questions = items.filter((item) => 'question' in item);
    const forwarded = await forward(
      sequencing,
      commands.map(({ command }) => command),
    );
    if (forwarded === 'here') return items;
    if (forwarded === 'too large') {
      const half = items.length >> 1;
      options.putBack(items.slice(half));
      return forwardAll(sequencing, items.slice(0, half));
    }
    if (typeof forwarded !== 'string') {
      if (!(await hasReached(forwarded.length))) {
        refuseAll(commands, unknown());
        refuseAll(questions, unavailable());
        return [];
      }
      options.onHeard(forwarded.passing);
      for (const [i, item] of commands.entries()) release(item, forwarded.outcomes[i]);
    } else if (commands.length > 0) {
      refuseAll(commands, forwarded === 'unknown' ? unknown() : nobodySequences());
      // Who sequences now says how far they have to look.
      options.putBack(questions);
      options.onSettled();
      return [];
    }
    for (const item of questions) release(item, options.look(item.question));
    options.onSettled();
    return [];
  }

  async function hasCaughtUp(): Promise<boolean> {
    try {
      await reading.readOn();
      return true;
    } catch (cause) {
      goDown('what another writer stored cannot be read', cause);
      return false;
    }
  }

  /** With no commands it is asked how long the log is: nothing is done by asking that again. */
  async function forward(sequencing: Sequencing, commands: readonly Command[]): Promise<Forwarded> {
    let forwarded = await sequencing.forward(commands);
    for (let tries = 1; tries < POSITIONS_MAX; tries++) {
      if (forwarded !== 'unknown' || commands.length > 0) break;
      forwarded = await sequencing.forward(commands);
    }
    return forwarded;
  }

  /** Who asks sees what was answered to anybody before: our copy has come as far as who sequences [SQ1]. */
  async function hasReached(length: number): Promise<boolean> {
    try {
      return await reading.reach(length);
    } catch (cause) {
      goDown('what another server stored cannot be read', cause);
      return false;
    }
  }

  /** What we stored although another sequences, that one has read before we say so: it answers without asking anybody. */
  async function tellSequencer({ entries }: Batch): Promise<void> {
    const { sequencing } = options;
    const length = replica.length + entries.length;
    for (let tries = 0; tries < TOLD_MAX && entries.length > 0; tries++) {
      if (!sequencing?.isElsewhere) return;
      const told = await sequencing.forward([]);
      if (typeof told === 'string' || told.length >= length) return;
      await pause(TOLD_MS);
    }
  }

  /** False when another writer was first. */
  async function isAppended({ entries }: Batch): Promise<boolean> {
    if (entries.length === 0) return true;
    const appended = await inTime(log.append(replica.length, entries));
    batches++;
    return !('conflict' in appended);
  }

  async function inTime<T extends object>(promise: Promise<T>): Promise<T> {
    // A disk has answered when its call returns; only an append that goes on needs a timer.
    const early = await Promise.race([promise, UNDER_WAY]);
    if (early !== null) return early;
    return new Promise((resolve, reject) => {
      const cancel = clock.after(APPEND_MS_MAX, () => {
        const message = `an append took longer than ${APPEND_MS_MAX} ms and may still be stored`;
        reject(new LogError('log.unknown', message));
        // When it ends after all, it is like what another writer stored.
        void promise.then(options.onBehind, options.onBehind);
      });
      void promise.then(resolve, reject).finally(cancel);
    });
  }

  function settle(batch: Batch): void {
    const { commands, outcomes, questions, events, entries, passing, left } = batch;
    const first = replica.length;
    replica.confirm();
    options.putBack(left);
    for (let i = 0; i < commands.length; i++) release(commands[i] as Item, outcomes[i]);
    if (events.length > 0) options.onDurable(first, events, entries);
    if (passing.length > 0) options.onPassing(passing);
    // Last, when everything of the batch is known to everybody: who asks and then waits misses nothing.
    for (const item of questions) release(item, options.look(item.question));
    options.onSettled();
  }

  function beginDoubt(batch: Batch, cause: unknown): void {
    const { commands, outcomes, questions, left } = batch;
    let isAnswered = false;
    const answer: Doubt['answer'] = (refusal) => {
      if (isAnswered) return;
      isAnswered = true;
      cancel();
      doubt = null;
      for (const [i, item] of commands.entries()) release(item, refusal ?? outcomes[i]);
    };
    const cancel = clock.after(DOUBT_MS_MAX, () => answer(unknown()));
    const canTell = !(cause instanceof LogError && cause.code === 'log.unknown');
    doubt = { batch, first: replica.length, canTell, answer };
    refuseAll([...questions, ...left], unavailable());
  }

  /** What became of the batch, now that the log can be read again; who is told sees it. */
  async function resolveDoubt({ batch, first, canTell, answer }: Doubt): Promise<void> {
    const isStored = await startsWith(log, first, batch.entries);
    await replica.catchUp();
    answer(isStored ? null : canTell ? unavailable() : unknown());
  }

  function goDown(what: string, cause: unknown): void {
    if (status !== 'open') return;
    status = 'down';
    onTrouble(what, cause);
    // Not awaited: callers that arrive meanwhile are refused at once instead of waiting for us.
    void recover();
  }

  async function recover(): Promise<void> {
    let waitMs = RECOVER_MS_MIN;
    while (status === 'down') {
      try {
        await replica.rewind();
        if (doubt === null) await replica.catchUp();
        else await resolveDoubt(doubt);
        if (isClosed()) return;
        // Beats were refused meanwhile.
        replica.world.awakeFrom = clock.now();
        status = 'open';
        options.onSettled();
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

  function nobodySequences(): Refusal {
    return unavailable('no server sequences this space at the moment; nothing was changed');
  }

  function unavailable(why = 'the store did not take it; nothing was changed'): Refusal {
    const refusal = refuse('store.unavailable', `${why}, try again`);
    return { ...refusal, retryAt: clock.now() + RETRY_MS };
  }

  function unknown(): Refusal {
    const message =
      'the store failed while this was being stored: it may or may not have happened; look first, or repeat it with the same idempotency key';
    return { ...refuse('store.unknown', message), retryAt: clock.now() + RETRY_MS };
  }

  return {
    get isOpen() {
      return status === 'open';
    },
    get batches() {
      return batches;
    },
    commit,
    onNews: reading.onNews,
    async catchUp(enough) {
      try {
        await reading.readOn(enough);
        options.onSettled();
      } catch (cause) {
        goDown('what another writer stored cannot be read', cause);
      }
    },
    release,
    unavailable,
    close() {
      status = 'closed';
      stopWaiting?.();
      doubt?.answer(unknown());
    },
  };
}

/**
 * Whether the log goes on with these entries at a position. They carry who, what and when, so
 * that they are another writer's would need the same act in the same millisecond.
 */
async function startsWith(log: Log, first: number, entries: readonly string[]): Promise<boolean> {
  let count = 0;
  for await (const chunk of log.read(first)) {
    for (const entry of chunk.entries) {
      if (entry !== entries[count++]) return false;
      if (count === entries.length) return true;
    }
  }
  return false;
}
