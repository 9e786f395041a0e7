/**
 * Turns for work that can wait, such as showing history: one piece at a time with the event loop in
 * between, so that whoever else asks is served first. Agents take turns, so that one that wants much
 * delays the others by one piece each. What is little goes on at once; that it has become much is known
 * by what all of them have spent since the last turn.
 */
import type { Signal } from './watch.ts';

export interface Turns {
  /** Settles when it is this agent's turn. */
  take(agent: string): Promise<void>;
  /** Null where little was spent since the last turn: go on; else as `take`. */
  giveWay(agent: string): Promise<void> | null;
  /**
   * Settles when no other page of this agent is made or held; the answer ends it. So what one agent has in memory is
   * a page or two, however many it asks for at once. Null when who asked has left: nothing is to be made for it.
   */
  page(agent: string, signal?: Signal | null): Promise<(() => void) | null>;
  /** What this agent was given is not taken yet: its next page waits until the answer is called. */
  hold(agent: string): () => void;
  /** So much was read, in bytes; a step that is small has its own cost. Less than was thought is given back. */
  spend(bytes: number): void;
}

/** What is spent in one turn of the event loop before the next piece waits for another. */
export const SPENT_IN_TURN_MAX: number = 256 * 1024;
/** What one lookup costs beside its bytes: of small ones 64 are a piece. */
export const LOOKUP_COST: number = SPENT_IN_TURN_MAX / 64;

/** Where nobody else is to be let in between. */
export const NO_TURNS: Turns = {
  ...{ take: async () => {}, giveWay: () => null, spend() {} },
  ...{ page: async () => () => {}, hold: () => () => {} },
};

/** The pages of one agent: how many are made or held, and who waits for them. */
interface Pages {
  count: number;
  readonly waiting: Set<() => void>;
}

export function createTurns(soon: (run: () => void) => void): Turns {
  const lines = new Map<string, (() => void)[]>();
  const pages = new Map<string, Pages>();
  let isScheduled = false;
  let spent = 0;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    soon(next);
  }

  function next(): void {
    isScheduled = false;
    spent = 0;
    for (const [agent, line] of lines) {
      // Out and in again: behind all others that wait.
      lines.delete(agent);
      const begin = line.shift();
      if (line.length > 0) lines.set(agent, line);
      begin?.();
      break;
    }
    if (lines.size > 0) schedule();
  }

  function take(agent: string): Promise<void> {
    return new Promise((resolve) => {
      const line = lines.get(agent);
      if (line === undefined) lines.set(agent, [resolve]);
      else line.push(resolve);
      schedule();
    });
  }

  function enter(agent: string, one: Pages): () => void {
    one.count++;
    let isOver = false;
    const leave = (): void => {
      if (--one.count > 0) return;
      const [begin] = one.waiting;
      if (begin === undefined) pages.delete(agent);
      else begin();
    };
    return () => {
      if (isOver) return;
      isOver = true;
      // What was read is handed over first: it may have to be held.
      if (one.waiting.size > 0) soon(leave);
      else leave();
    };
  }

  function pagesOf(agent: string): Pages {
    const known = pages.get(agent);
    if (known !== undefined) return known;
    const fresh = { count: 0, waiting: new Set<() => void>() };
    pages.set(agent, fresh);
    return fresh;
  }

  return {
    take,
    page(agent, signal = null) {
      if (signal?.aborted) return Promise.resolve(null);
      const one = pagesOf(agent);
      if (one.count === 0) return Promise.resolve(enter(agent, one));
      return new Promise((resolve) => {
        const leave = (): void => {
          one.waiting.delete(begin);
          signal?.removeEventListener('abort', giveUp);
        };
        const begin = (): void => {
          leave();
          resolve(enter(agent, one));
        };
        // Who stays in line behind those who left would wait for pages that nobody takes.
        const giveUp = (): void => {
          leave();
          resolve(null);
        };
        one.waiting.add(begin);
        signal?.addEventListener('abort', giveUp);
      });
    },
    hold: (agent) => enter(agent, pagesOf(agent)),
    giveWay: (agent) => (spent < SPENT_IN_TURN_MAX ? null : take(agent)),
    spend(bytes) {
      spent = Math.max(0, spent + bytes);
      if (spent >= SPENT_IN_TURN_MAX) schedule();
    },
  };
}
