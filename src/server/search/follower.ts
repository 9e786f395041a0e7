/**
 * Keeps the index of one space up with its log. It reads what is durable, a page at a time, and hands it to
 * the thread; nothing waits for it, so no send is slower or fails for it. An index that is missing,
 * damaged or of another log is begun anew [FT5]. While nobody searches it only sees to it that the next
 * search has little to wait for.
 */
import { createHash } from 'node:crypto';
import { readJson } from '../../core/law/json.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Asker } from './asker.ts';
import type { Entries } from './store.ts';
import type { Standing } from './thread.ts';

const PAGE_BYTES = 128 * 1024;
/** Entries are gathered this long, so that a busy hub costs few pages; a search does not wait for it. */
const GATHER_MS = 1_000;
/** While the hub is busy, and nobody searches, the index takes a fifth of a processor and no more. */
const REST_TIMES = 4;
/** An index that nobody has asked for lets a busy hub go first altogether, until it pauses or for so long. */
const GIVE_WAY_MS = 30_000;
const BUSY_PER_MS = 0.05;
/** As much work as an append of its own: a server that follows others appends nothing, and is busy all the same. */
const BUSY_ENTRIES = 20;
/** Searches that wait for the index to come up; the others take it as it is. */
const WAITERS_MAX = 1_000;
const START_MS_MAX = 20_000;
const NEAR = 5_000;
/** Entries that a search takes in while it waits; more are taken in before anybody asks. */
export const FAR = 10_000;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;
const RELEASES = /^\{"type":"message\.reviewed".*"isReleased":true/;

export interface Follower {
  /** The index has all that is stored now, or the time is up; null when it cannot be kept. */
  reach(waitMs: number): Promise<{ isComplete: boolean; guarded: readonly string[] } | null>;
  /** Begins to follow, unless it did. */
  start(): void;
  readonly isRunning: boolean;
  /** Closes what is open in the thread until it is needed. */
  sleep(): Promise<void>;
  /** What was open in the thread is closed. */
  lose(): void;
  /** The index turned out to be damaged: it is built again. */
  rebuild(): void;
  close(): void;
}

export interface FollowerOptions {
  readonly hub: Hub;
  readonly path: string;
  readonly asker: Asker;
  onTrouble(what: string, cause: unknown): void;
  /** Everything is taken in. */
  onIdle(): void;
}

export function createFollower(options: FollowerOptions): Follower {
  const { hub, path, asker, onTrouble, onIdle } = options;
  const { space } = hub;
  let standing: Standing | null = null;
  /** Where it stood when it was last seen. */
  let reached = 0;
  let isAnew = false;
  let isRunning = false;
  let isClosed = false;
  let failures = 0;
  let timer: NodeJS.Timeout | null = null;
  let stopListening: (() => void) | null = null;
  const waiters = new Set<() => void>();
  /** Somebody has searched since it was last put to sleep. */
  let isAsked = false;
  let wakeUp: (() => void) | null = null;
  /** From then on it gives way no longer; put off whenever the hub pauses. */
  let firmAt = 0;

  const tell = (): void => {
    for (const waiter of [...waiters]) waiter();
  };

  /** Throws when the index cannot be kept now. */
  async function told<T>(
    asked: Promise<{ ok: T } | { failed: string; isDamaged: boolean } | null>,
  ): Promise<T | null> {
    const answer = await asked;
    // The thread was lost: what it had open is opened again.
    if (answer === null) standing = null;
    if (answer === null || 'ok' in answer) return answer === null ? null : answer.ok;
    standing = null;
    if (!answer.isDamaged || isAnew) throw new Error(answer.failed);
    isAnew = true;
    return null;
  }

  async function open(): Promise<void> {
    const fresh = await told(asker.ask({ kind: 'open', space, path, isAnew }));
    if (fresh === null) return;
    if (isAnew || (await isOfThisLog(hub, fresh))) {
      isAnew = false;
      standing = fresh;
    } else isAnew = true;
  }

  async function takeIn(from: Standing): Promise<void> {
    const before = workOf(hub);
    const begun = performance.now();
    standing = await told(asker.ask({ kind: 'add', space, page: await pageOf(hub, from) }));
    const tookMs = performance.now() - begun;
    const isBusy = workOf(hub) - before > tookMs * BUSY_PER_MS;
    if (isBusy && waiters.size === 0) await rest(tookMs * REST_TIMES);
    if (isBusy) await giveWay();
  }

  /** Ends when the hub has paused, has been busy for long, or somebody searches. */
  async function giveWay(): Promise<void> {
    while (!isClosed && !isAsked && performance.now() < firmAt) {
      const before = workOf(hub);
      await rest(GATHER_MS);
      if (workOf(hub) - before > GATHER_MS * BUSY_PER_MS) continue;
      firmAt = performance.now() + GIVE_WAY_MS;
      return;
    }
  }

  /** Ends early when somebody searches. */
  function rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(pause);
        wakeUp = null;
        resolve();
      };
      const pause = setTimeout(done, ms).unref();
      wakeUp = done;
    });
  }

  async function run(): Promise<void> {
    if (isRunning || isClosed) return;
    isRunning = true;
    firmAt = performance.now() + GIVE_WAY_MS;
    try {
      await giveWay();
      while (!isClosed && (standing === null || standing.position < hub.stats.entries)) {
        if (standing === null) await open();
        else await takeIn(standing);
        reached = standing?.position ?? reached;
        tell();
      }
      failures = 0;
      while (!isClosed && standing !== null && standing.position >= hub.stats.entries) {
        if (!(await told(asker.ask({ kind: 'tidy', space })))) break;
      }
    } catch (cause) {
      if (isClosed) return;
      if (failures++ === 0) onTrouble(`the search index ${path} cannot be kept; trying on`, cause);
      later(Math.min(RETRY_MS_MIN * 2 ** Math.min(failures - 1, 10), RETRY_MS_MAX));
    } finally {
      isRunning = false;
      tell();
    }
    const isBehind = standing === null || standing.position < hub.stats.entries;
    if (failures === 0 && isBehind) later(GATHER_MS);
    else if (!isBehind) onIdle();
  }

  const isFar = (): boolean => hub.stats.entries - reached > FAR;

  function later(ms: number): void {
    if (timer !== null || isClosed) return;
    timer = setTimeout(() => {
      timer = null;
      void run();
    }, ms);
    timer.unref();
  }

  function start(): void {
    stopListening ??= hub.watch.events(
      () => {
        if (!isRunning && (standing !== null || isFar())) later(GATHER_MS);
      },
      { isOfEveryHub: true },
    );
    if (isFar()) void run();
  }

  return {
    start,
    get isRunning() {
      return isRunning;
    },
    async sleep() {
      isAsked = false;
      if (standing === null) return;
      standing = null;
      await asker.ask({ kind: 'close', space });
    },
    async reach(waitMs) {
      isAsked = true;
      start();
      const length = hub.stats.entries;
      const isThere = (): boolean => standing !== null && standing.position >= length;
      if (!isThere() && waiters.size < WAITERS_MAX) {
        void run();
        await new Promise<void>((resolve) => {
          const done = (): void => {
            clearTimeout(late);
            clearTimeout(patience);
            waiters.delete(look);
            resolve();
          };
          const look = (): void => {
            if (isThere() || isClosed || (failures > 0 && !isRunning)) done();
            else if (isLate && standing !== null && length - standing.position > NEAR) done();
          };
          // A thread that starts has nothing to answer from yet; what is near is worth waiting for.
          let isLate = false;
          const late = setTimeout(() => {
            isLate = true;
            look();
          }, waitMs).unref();
          const patience = setTimeout(done, waitMs + START_MS_MAX).unref();
          waiters.add(look);
          wakeUp?.();
          look();
        });
      }
      if (standing === null) return null;
      return { isComplete: isThere(), guarded: standing.guarded };
    },
    lose() {
      standing = null;
      if (stopListening !== null) later(GATHER_MS);
    },
    rebuild() {
      standing = null;
      isAnew = true;
      void run();
    },
    close() {
      isClosed = true;
      stopListening?.();
      if (timer !== null) clearTimeout(timer);
      wakeUp?.();
      tell();
      if (standing !== null || isRunning) void asker.ask({ kind: 'close', space });
    },
  };
}

/** Of a hub so far, in appends. */
function workOf({ stats }: Hub): number {
  return stats.batches + stats.entries / BUSY_ENTRIES;
}

async function pageOf(hub: Hub, { position }: Standing): Promise<Entries> {
  const entries = await hub.entries(position, PAGE_BYTES);
  const released: Record<number, string> = {};
  for (const entry of entries) {
    if (!RELEASES.test(entry)) continue;
    const held = (readJson(entry) as { position: number }).position;
    const [text] = await hub.entries(held, 1);
    if (text !== undefined) released[held] = text;
  }
  return { first: position, entries, released };
}

/** Its last entry is ours, and nothing was dropped from what it has taken in. */
async function isOfThisLog(hub: Hub, { position, last }: Standing): Promise<boolean> {
  if (position === 0) return true;
  if (position > hub.stats.entries) return false;
  if (hub.compactedAt !== null && position <= hub.compactedAt) return false;
  const [entry = ''] = await hub.entries(position - 1, 1);
  return createHash('sha256').update(entry).digest('hex') === last;
}
