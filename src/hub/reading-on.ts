/**
 * What others stored, taken in: as far as it is known, or as far as who sequences has come. Where others were met
 * lately, the log is read before the next batch is decided: what they store meanwhile costs a world.
 */
import type { Log } from '../log/log.ts';
import type { Clock } from './clock.ts';
import type { Replica } from './replica.ts';

/** A copy that a server reads from may be behind the one that took the write. */
const CATCH_UPS_MAX = 50;
/** So many batches after another writer was met, the log is read before the next is decided. */
const WARY_BATCHES = 64;
/** What is stored is told to every server; one that was not told by then asks. */
const NEWS_MS = 100;

export interface ReadingOn {
  /** Others write too: what they stored is to be known first. */
  readonly isWary: boolean;
  /** Another writer was first. */
  beWary(): void;
  /** To the end of the log; where `enough` entries of it are known, to the end of what is known. */
  readOn(enough?: number): Promise<void>;
  /** Whether our copy has come so far, after it was waited for and asked for. */
  reach(length: number): Promise<boolean>;
  /** The log knows of more than before. */
  onNews(): void;
}

export function createReadingOn(log: Log, clock: Clock, replica: Replica): ReadingOn {
  let wary = 0;
  let heardNews = (): void => {};

  async function readOn(enough = Number.POSITIVE_INFINITY): Promise<void> {
    const before = replica.length;
    wary = Math.max(0, wary - 1);
    await replica.catchUp(enough);
    if (replica.length > before) wary = WARY_BATCHES;
  }

  /** Until the log knows of so many entries; if no news comes, somebody has to ask. */
  function news(length: number): Promise<void> {
    if (log.length >= length) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = clock.after(NEWS_MS, resolve);
      heardNews = () => {
        if (log.length < length) return;
        cancel();
        resolve();
      };
    });
  }

  return {
    get isWary() {
      return wary > 0;
    },
    beWary() {
      wary = WARY_BATCHES;
    },
    readOn,
    async reach(length) {
      if (replica.length < length) await news(length);
      for (let tries = 0; replica.length < length && tries < CATCH_UPS_MAX; tries++) {
        await readOn(length);
      }
      return replica.length >= length;
    },
    onNews: () => heardNews(),
  };
}
