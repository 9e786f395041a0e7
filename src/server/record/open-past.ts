/**
 * The hub's side of looking back [PA5]. Questions are answered in a thread of its own, one at a time, so
 * that the hub is not held up; each caller may have a few waiting and is refused more, and who was
 * answered last is answered after the others; one that takes too long is called off; the thread ends when nobody has looked back for a while.
 */
import type { Worker } from 'node:worker_threads';
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import type { Hub } from '../../hub/hub.ts';
import type { MessageHead } from '../../hub/message-store.ts';
import type { Signal } from '../../hub/watch.ts';
import type { Past, PastAnswer, PastCaller, Span } from '../desk/past.ts';
import { mayStillRead } from '../desk/past-rules.ts';
import { tookTooLong } from './past.ts';
import type { FromPast, ToPast } from './past-link.ts';

/** Of one caller, the one that is looked up with them; and of all callers together. */
const ASKED_MAX = 8;
const ASKED_BY_ALL_MAX = 64;
const DEADLINE_MS = 20_000;
/** How long a thread that was called off may take to notice. */
const GRACE_MS = 2_000;
const IDLE_MS = 60_000;

export interface OpenPastOptions {
  /** Starts the thread. */
  start(): Worker;
  hubOf(space: string): Hub | null;
  /** Where the log of a space lies; null when no other thread can open it. */
  urlOf(space: string): string | null;
  report(what: string, cause: unknown): Refusal;
  now(): number;
  readonly deadlineMs?: number;
  readonly graceMs?: number;
  readonly idleMs?: number;
}

export interface OpenPast extends Past {
  /** Lets go of a space that was removed. */
  forget(space: string): void;
  close(): Promise<void>;
}

type Said = PastAnswer | Span | Refusal;

interface Asking {
  readonly caller: PastCaller;
  readonly signal: Signal | null;
  /** Made when its turn has come: the log may have grown. */
  message(hub: Hub): ToPast;
  done(said: Said): void;
}

export function openPast(options: OpenPastOptions): OpenPast {
  const { deadlineMs = DEADLINE_MS, graceMs = GRACE_MS, idleMs = IDLE_MS } = options;
  let waiting: Asking[] = [];
  let current: Asking | null = null;
  /** When each caller had its last turn, counted, while anybody waits. */
  const turns = new Map<string, number>();
  let turnCount = 0;
  let worker: Worker | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function ask<T>(
    caller: PastCaller,
    signal: Signal | null,
    message: (hub: Hub) => ToPast,
  ): Promise<T | Refusal> {
    const asked = current === null ? waiting : [current, ...waiting];
    const key = keyOf(caller);
    const mine = asked.filter((one) => keyOf(one.caller) === key).length;
    if (isClosed || mine >= ASKED_MAX || asked.length >= ASKED_BY_ALL_MAX) {
      return Promise.resolve(busy(options.now(), mine));
    }
    return new Promise((resolve) => {
      waiting.push({ caller, signal, message, done: (said) => resolve(said as T | Refusal) });
      if (current === null) next();
    });
  }

  function takeNext(): Asking | null {
    const [first, ...others] = waiting;
    if (first === undefined) {
      turns.clear();
      return null;
    }
    const turnOf = ({ caller }: Asking): number => turns.get(keyOf(caller)) ?? 0;
    const chosen = others.reduce((best, one) => (turnOf(one) < turnOf(best) ? one : best), first);
    waiting = waiting.filter((one) => one !== chosen);
    turns.set(keyOf(chosen.caller), ++turnCount);
    return chosen;
  }

  function next(): void {
    clearTimeout(timer);
    current = takeNext();
    if (current === null) {
      timer = setTimeout(() => void end(), idleMs).unref();
      return;
    }
    const hub = options.hubOf(current.caller.space);
    // Whoever has gone is not looked up for.
    if (hub === null || current.signal?.aborted) return settle(unavailable());
    worker ??= begin();
    worker.postMessage(current.message(hub));
    timer = setTimeout(callOff, deadlineMs).unref();
  }

  /** A replay notices and keeps how far it came; a thread that does not notice is ended. */
  function callOff(): void {
    worker?.postMessage({ callOff: true } satisfies ToPast);
    timer = setTimeout(() => void end().then(() => settle(tookTooLong())), graceMs).unref();
  }

  function settle(said: Said): void {
    const asked = current;
    current = null;
    next();
    asked?.done(said);
  }

  function begin(): Worker {
    const fresh = options.start();
    // It keeps no process alive, and who waits for it has a connection that does.
    fresh.unref();
    const lost = (cause: unknown): void => {
      if (worker !== fresh) return;
      worker = null;
      if (current !== null) settle(options.report('looking back failed', cause));
    };
    fresh.on('error', lost);
    fresh.on('exit', (code) => lost(new Error(`the thread ended with ${code}`)));
    fresh.on('message', (message: FromPast) => {
      if (worker === fresh) hear(fresh, message);
    });
    return fresh;
  }

  function hear(from: Worker, message: FromPast): void {
    if ('said' in message) return settle(message.said);
    if ('failed' in message) {
      const { message: why, isStore } = message.failed;
      const refusal = options.report('looking back failed', why);
      return settle(isStore ? unavailable() : refusal);
    }
    const asked = current;
    const hub = asked === null ? null : options.hubOf(asked.caller.space);
    if (asked === null || hub === null) return void from.postMessage({ entries: [] });
    if ('read' in message) {
      const { from: first, bytesMax } = message.read;
      hub.entries(first, bytesMax).then(
        (entries) => from.postMessage({ entries }),
        (cause) => settle(options.report('looking back failed', cause)),
      );
    } else
      void screen(hub, asked.caller, message.screen).then((shown) => from.postMessage({ shown }));
  }

  async function end(): Promise<void> {
    const ended = worker;
    worker = null;
    await ended?.terminate();
  }

  return {
    at: (caller, moment, { operation, input }, signal) =>
      ask<PastAnswer>(caller, signal, ({ stats: { entries: length } }) => {
        const question = { caller, moment, operation, input, length, now: options.now() };
        return { ask: { ...placeOf(caller.space), at: question } };
      }),
    span: (caller, asked, signal) =>
      ask<Span>(caller, signal, ({ stats: { entries: length } }) => ({
        ask: { ...placeOf(caller.space), span: { asked, length } },
      })),
    forget(space) {
      // One log is open at a time: while another space is looked into, it is not this one.
      if (current !== null && current.caller.space !== space) return;
      void end();
      if (current !== null) settle(unavailable());
    },
    async close() {
      isClosed = true;
      const left = waiting;
      waiting = [];
      for (const { done } of left) done(unavailable());
      if (current !== null) settle(unavailable());
      clearTimeout(timer);
      await end();
    },
  };

  function placeOf(space: string): { space: string; url: string | null } {
    return { space, url: options.urlOf(space) };
  }
}

/** By the rules of now; when they cannot be asked, nothing is shown. */
async function screen(
  hub: Hub,
  { principal }: PastCaller,
  heads: readonly MessageHead[],
): Promise<readonly boolean[]> {
  const shown = await hub.ask((world) => heads.map((one) => mayStillRead(world, principal, one)));
  return isRefusal(shown) ? heads.map(() => false) : shown;
}

function keyOf({ space, principal }: PastCaller): string {
  return `${space}/${principal.id}`;
}

function busy(now: number, mine: number): Refusal {
  const message =
    mine >= ASKED_MAX
      ? `${mine} questions about the past wait for you already; wait for an answer first`
      : 'too many look back at once; ask again in a second';
  return refuse('record.busy', message, {}, now + 1_000);
}

function unavailable(): Refusal {
  return refuse('store.unavailable', 'the log cannot be looked into now; ask again');
}
