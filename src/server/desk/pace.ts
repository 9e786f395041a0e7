/**
 * The pace of those who speak to very many. While what an agent said is still being written to them, its own next
 * requests wait, in order; nobody else's do [F9]. Without it, who asks again as soon as it is answered would say more
 * than can be written, and readers who read would fall behind.
 */
import type { Caller } from './caller.ts';
import type { Desk } from './desk.ts';

export interface Pace {
  /** What this agent asks from now on waits until the answer is called. */
  hold(space: string, agent: string): () => void;
  /** The same desk, for those who are not held. */
  paced(desk: Desk): Desk;
}

interface Held {
  count: number;
  readonly waiting: (() => void)[];
}

export function createPace(): Pace {
  const held = new Map<string, Held>();

  function hold(space: string, agent: string): () => void {
    const key = keyOf(space, agent);
    const one = held.get(key) ?? { count: 0, waiting: [] };
    one.count++;
    held.set(key, one);
    return () => {
      if (--one.count > 0) return;
      held.delete(key);
      for (const run of one.waiting) run();
    };
  }

  /** Null when it need not wait, which costs nothing while nobody is held. */
  function lineOf({ space, principal }: Caller): (() => void)[] | null {
    if (held.size === 0) return null;
    return held.get(keyOf(space, principal.id))?.waiting ?? null;
  }

  function inTurn<T>(caller: Caller, run: () => Promise<T>): Promise<T> {
    const line = lineOf(caller);
    if (line === null) return run();
    return new Promise((resolve, reject) => line.push(() => void run().then(resolve, reject)));
  }

  return {
    hold,
    paced: (desk) => ({
      ...desk,
      call: (caller, operation, input, options) =>
        inTurn(caller, () => desk.call(caller, operation, input, options)),
      callAs: (caller, operation, input, run, signal) =>
        inTurn(caller, () => desk.callAs(caller, operation, input, run, signal)),
      callThen(caller, operation, input, done, options) {
        const line = lineOf(caller);
        if (line === null) desk.callThen(caller, operation, input, done, options);
        else line.push(() => desk.callThen(caller, operation, input, done, options));
      },
    }),
  };
}

/** No name has a line break. */
function keyOf(space: string, agent: string): string {
  return `${space}\n${agent}`;
}
