/**
 * Writing to many, in turns [F9]. What is pushed is written at once to as many sockets as most channels have; where
 * there are more, the rest stands in a line, and some of it is written in every turn of the event loop: whoever else
 * asks is served in between, and who is one of few is written to before it. A socket that stands in the line gathers
 * what else it is owed, in order, and is written to once. Who spoke to so many goes on when the last of them has
 * been written to; should more wait than may, all of it is written before anything else is done.
 */
import type { Bundle } from '../../hub/feed.ts';
import type { Pace } from '../desk/pace.ts';

export interface Recipient {
  /** Writes what waits for it; there may be nothing any more. */
  flush(): void;
  /** Kept by the line: it was pushed something in this turn, and it stands in the line. */
  isTouched: boolean;
  isQueued: boolean;
}

export interface FanOut {
  /** Something waits for it. */
  add(recipient: Recipient): void;
  /** What is pushed in this turn was said by these, and is so large. */
  spoken(space: string, agents: Iterable<string>, bytes: number): void;
  /** Runs in a later turn, when all that is pushed until then has been written. */
  afterAll(run: () => void): void;
  /** The parts as one; for the next that has the same parts it is the same buffer. */
  join(parts: readonly Buffer[]): Buffer;
}

/** So many are written to at once, and in one turn. */
export const AT_ONCE = 128;
/** Unless it takes longer. */
const AT_ONCE_MS = 0.5;
const SLICE_MS = 0.5;
/** What may stand in the line, each message counted once however many get it. */
const LAG_BYTES_MAX: number = 16 * 1024 * 1024;

type Place = Recipient | (() => void);

const NONE: readonly Buffer[] = [];

export function createFanOut(pace: Pick<Pace, 'hold'>): FanOut {
  let touched: Recipient[] = [];
  let speakers = new Map<string, { readonly space: string; readonly agent: string }>();
  let bytes = 0;
  let isBegun = false;

  let line: Place[] = [];
  let at = 0;
  let lag = 0;
  let isGoingOn = false;

  let lastParts: readonly Buffer[] = NONE;
  let lastJoined: Buffer | null = null;

  function begin(): void {
    isBegun = false;
    const all = touched;
    touched = [];
    for (const one of all) one.isTouched = false;
    let written = 0;
    if (all.length <= AT_ONCE) {
      for (const one of all) one.flush();
      written = all.length;
    } else if (at === line.length) {
      const until = performance.now() + AT_ONCE_MS;
      while (written < AT_ONCE && performance.now() < until) (all[written++] as Recipient).flush();
    }
    if (written < all.length) enqueue(all, written);
    else if (at === line.length) forgetJoined();
    speakers = new Map();
    bytes = 0;
  }

  function enqueue(all: readonly Recipient[], from: number): void {
    for (let i = from; i < all.length; i++) {
      const one = all[i] as Recipient;
      if (one.isQueued) continue;
      one.isQueued = true;
      line.push(one);
    }
    // Behind all who are owed it, also those who stood in the line before.
    const size = bytes;
    lag += size;
    const releases = [...speakers.values()].map(({ space, agent }) => pace.hold(space, agent));
    line.push(() => {
      lag -= size;
      for (const release of releases) release();
    });
    goOn();
  }

  function goOn(): void {
    if (isGoingOn) return;
    isGoingOn = true;
    setImmediate(slice);
  }

  function slice(): void {
    isGoingOn = false;
    const until = performance.now() + SLICE_MS;
    for (let written = 0; at < line.length && written < AT_ONCE; ) {
      const place = line[at++] as Place;
      if (typeof place === 'function') place();
      else {
        place.isQueued = false;
        place.flush();
        written = lag > LAG_BYTES_MAX ? 0 : written + 1;
        if (performance.now() > until && written > 0) break;
      }
    }
    if (at === line.length) {
      line = [];
      at = 0;
      forgetJoined();
      return;
    }
    if (at > line.length / 2) {
      line = line.slice(at);
      at = 0;
    }
    goOn();
  }

  function forgetJoined(): void {
    lastParts = NONE;
    lastJoined = null;
  }

  return {
    add(recipient) {
      if (recipient.isTouched) return;
      recipient.isTouched = true;
      touched.push(recipient);
      if (isBegun) return;
      isBegun = true;
      // All answers and pushes of a batch are released in one turn; this follows them.
      queueMicrotask(begin);
    },
    spoken(space, agents, size) {
      for (const agent of agents) speakers.set(`${space}\n${agent}`, { space, agent });
      bytes += size;
    },
    afterAll(run) {
      setImmediate(() => {
        if (at === line.length) run();
        else line.push(run);
      });
    },
    join(parts) {
      const isSame =
        parts.length === lastParts.length && parts.every((part, i) => part === lastParts[i]);
      if (!isSame || lastJoined === null) {
        lastParts = parts;
        lastJoined = Buffer.concat(parts);
      }
      return lastJoined;
    },
  };
}

/** Who said what is in a bundle, each once. */
export function speakersOf({ messages }: Bundle): Set<string> {
  return new Set(messages.map(({ event }) => event.by));
}
