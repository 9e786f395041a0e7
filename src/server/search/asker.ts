/**
 * Asks the thread of the indexes, one question at a time. Searches go before the work of keeping up, and
 * among searches those of the agent that used the thread least: one that asks much waits for itself
 * [FT4]. A thread that does not come back is ended and another begun; the question it had is answered
 * with null.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Answers, Question, Reply } from './thread.ts';

/** A thread that is silent for so long hangs: a search ends itself long before. */
const SILENT_MS_MAX = 30_000;
export const SEARCHES_PER_AGENT_MAX = 4;
export const SEARCHES_MAX = 256;
/** What an agent used is forgotten by half in this time. */
const HALF_LIFE_MS = 2_000;

type AnswerOf<Q extends Question> = Answers[Q['kind']];
export type Asked<Q extends Question> =
  | { readonly ok: AnswerOf<Q> }
  | { readonly failed: string; readonly isDamaged: boolean };

interface Waiting {
  readonly question: Question;
  readonly by: string | null;
  readonly done: (reply: Reply | null) => void;
}

export interface Asker {
  /** Null when the thread was lost over it, or is closed. */
  ask<Q extends Question>(question: Q): Promise<Asked<Q> | null>;
  /** For an agent; `busy` when it, or all together, have too many questions waiting. */
  askFor<Q extends Question>(by: string, question: Q): Promise<Asked<Q> | null | 'busy'>;
  /** Tells when the thread was lost: what it had open is closed. */
  onLost(listener: () => void): void;
  /** Ends the thread, unless it has something to do; the next question begins another. */
  rest(): void;
  close(): Promise<void>;
}

export function createAsker(silentMs: number = SILENT_MS_MAX): Asker {
  const chores: Waiting[] = [];
  /** By agent; those who wait, each with its questions in order. */
  const searches = new Map<string, Waiting[]>();
  /** Milliseconds of the thread, by agent, at a time. */
  const used = new Map<string, { ms: number; at: number }>();
  const listeners: (() => void)[] = [];
  let count = 0;
  let worker: Worker | null = null;
  let current: Waiting | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  function usedBy(agent: string): number {
    const known = used.get(agent);
    if (known === undefined) return 0;
    return known.ms * 2 ** (-(performance.now() - known.at) / HALF_LIFE_MS);
  }

  function charge(agent: string, ms: number): void {
    // Those who used little stand as those who used nothing.
    if (used.size > SEARCHES_MAX) {
      for (const one of used.keys()) if (usedBy(one) < 1) used.delete(one);
    }
    used.set(agent, { ms: usedBy(agent) + ms, at: performance.now() });
  }

  function next(): Waiting | undefined {
    let least: string | null = null;
    for (const agent of searches.keys()) {
      if (least === null || usedBy(agent) < usedBy(least)) least = agent;
    }
    if (least === null) return chores.shift();
    const own = searches.get(least) as Waiting[];
    const first = own.shift();
    if (own.length === 0) searches.delete(least);
    count--;
    return first;
  }

  function run(): void {
    if (current !== null || isClosed) return;
    const waiting = next();
    if (waiting === undefined) {
      worker?.unref();
      return;
    }
    current = waiting;
    const from = performance.now();
    worker ??= open();
    worker.ref();
    timer = setTimeout(lose, silentMs);
    onReply = (reply) => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      current = null;
      if (waiting.by !== null) charge(waiting.by, performance.now() - from);
      waiting.done(reply);
      run();
    };
    worker.postMessage(waiting.question);
  }

  let onReply: (reply: Reply | null) => void = () => {};

  function open(): Worker {
    const file = `./thread${extname(import.meta.url)}`;
    const fresh = new Worker(new URL(file, import.meta.url), { execArgv: [] });
    fresh.on('message', (reply: Reply) => {
      if (worker === fresh) onReply(reply);
    });
    const gone = (): void => {
      if (worker === fresh) lose();
    };
    fresh.on('error', gone);
    fresh.on('exit', gone);
    return fresh;
  }

  function lose(): void {
    const lost = worker;
    worker = null;
    void lost?.terminate();
    for (const listener of listeners) listener();
    if (current !== null) onReply(null);
  }

  return {
    ask: (question) =>
      new Promise((resolve) => {
        if (isClosed) return resolve(null);
        chores.push({ question, by: null, done: resolve as Waiting['done'] });
        run();
      }),
    askFor(by, question) {
      const own = searches.get(by) ?? [];
      if (own.length >= SEARCHES_PER_AGENT_MAX || count >= SEARCHES_MAX) {
        return Promise.resolve('busy');
      }
      return new Promise((resolve) => {
        if (isClosed) return resolve(null);
        own.push({ question, by, done: resolve as Waiting['done'] });
        searches.set(by, own);
        count++;
        run();
      });
    },
    onLost: (listener) => void listeners.push(listener),
    rest() {
      if (current !== null || chores.length > 0 || searches.size > 0) return;
      const idle = worker;
      worker = null;
      void idle?.terminate();
    },
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      const lost = worker;
      worker = null;
      onReply = () => {};
      const all = [...(current === null ? [] : [current]), ...chores.splice(0)];
      for (const own of searches.values()) all.push(...own);
      searches.clear();
      for (const { done } of all) done(null);
      await lost?.terminate();
    },
  };
}
