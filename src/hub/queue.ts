/**
 * What waits to be done, in order, and how much of it makes one batch. Questions
 * stand in the same queue as commands, so that each is answered in its turn.
 */
import type { WorldView } from '../core/law/state.ts';
import type { Command } from '../core/law/world.ts';

/** Commands waiting to be decided; the next one is refused with `hub.busy` [H4]. */
export const QUEUE_MAX = 100_000;
/** One append carries the outcome of at most this many commands. */
const BATCH_MAX = 2_048;
const BATCH_CHARS_MAX: number = 8 * 1024 * 1024;
/** What came together is answered together, and is asked again together: it is waited for while fewer than so many wait. */
interface Worth {
  readonly items: number;
  /** And for so many turns, each of which brought more. */
  readonly turns: number;
}

const NEAR: Worth = { items: 32, turns: 4 };
/** Where an append goes to several machines it takes all of them together as long as a hundred commands do. */
export const FAR: Worth = { items: 512, turns: 16 };

export interface CommandItem {
  readonly command: Command;
  readonly done: (outcome: unknown) => void;
}

export interface QuestionItem {
  readonly question: (world: WorldView) => unknown;
  readonly done: (outcome: unknown) => void;
}

export type Item = CommandItem | QuestionItem;

export interface Queue {
  readonly length: number;
  /** False when there is no room. */
  push(item: Item): boolean;
  take(): Item[];
  /** Asked once a turn: more came with this one, and fewer wait than an append is worth. One alone never waits. */
  isFilling(): boolean;
  /** What was taken and has to wait is next again; it had its room already. */
  putBack(taken: readonly Item[]): void;
}

export function createQueue(max: number, worth: Worth = NEAR): Queue {
  let items: Item[] = [];
  let lastTaken = 0;
  let turns = 0;
  let seen = 0;

  /** Large bodies make short batches, so that one append stays a bounded piece of work. */
  function batchSize(): number {
    const limit = Math.min(items.length, BATCH_MAX);
    let chars = 0;
    for (let i = 0; i < limit; i++) {
      const item = items[i] as Item;
      if (!('command' in item) || item.command.type !== 'message.send') continue;
      chars += item.command.body.length;
      if (chars > BATCH_CHARS_MAX && i > 0) return i;
    }
    return limit;
  }

  return {
    get length() {
      return items.length;
    },
    push(item) {
      if (items.length >= max) return false;
      items.push(item);
      return true;
    },
    take() {
      const size = batchSize();
      const batch = size === items.length ? items : items.slice(0, size);
      items = size === items.length ? [] : items.slice(size);
      [lastTaken, turns, seen] = [size, 0, 0];
      return batch;
    },
    isFilling() {
      const isFull = items.length >= Math.min(lastTaken > 1 ? lastTaken * 2 : 0, worth.items);
      if (isFull || items.length <= seen || turns >= worth.turns) return false;
      seen = items.length;
      turns++;
      return true;
    },
    putBack(taken) {
      if (taken.length > 0) items = [...taken, ...items];
    },
  };
}
