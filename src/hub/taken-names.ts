/**
 * Names that one connection bears at all servers together, taken over [SQ19]. Two who take one at two servers in the same
 * moment know nothing of each other, and each would make way for the other: the later turn stays, of two that are the same
 * turn the one whose server's name comes first, and it says so again, so that the other hears of it in any case.
 */
import type { Clock } from './clock.ts';
import type { NameTaken } from './whisper.ts';

/** So long a takeover is remembered: a word about it that comes later is news. */
const CROSSED_MS = 10_000;
const NAMES_MAX = 10_000;

export interface TakenNames {
  /** Somebody here took the name over. */
  take(name: string): void;
  /** True when whoever bears the name here has to give it up. */
  hear(word: NameTaken): boolean;
  /** What was taken here a moment ago, and is borne yet, is said again: somebody asks who knew nothing of us by then. */
  repeat(isBorne: (name: string) => boolean): void;
  /** How many words wait to be said. */
  readonly size: number;
  drain(hasRoom: () => boolean): Generator<NameTaken>;
}

export function createTakenNames(server: () => string, clock: Pick<Clock, 'now'>): TakenNames {
  const latest = new Map<string, { readonly word: NameTaken; readonly at: number }>();
  const waiting = new Map<string, NameTaken>();

  function latestOf(name: string): NameTaken | null {
    const since = clock.now() - CROSSED_MS;
    for (const [one, { at }] of latest) {
      if (at > since && latest.size <= NAMES_MAX) break;
      latest.delete(one);
    }
    return latest.get(name)?.word ?? null;
  }

  function remember(word: NameTaken): void {
    latest.delete(word.name);
    latest.set(word.name, { word, at: clock.now() });
  }

  return {
    take(name) {
      const turn = (latestOf(name)?.turn ?? 0) + 1;
      const word: NameTaken = { type: 'name.taken', name, turn, by: server() };
      remember(word);
      waiting.set(name, word);
    },
    hear(word) {
      const known = latestOf(word.name);
      if (known === null || isAfter(word, known)) {
        remember(word);
        waiting.delete(word.name);
        return true;
      }
      if (known.by === server() && isAfter(known, word)) waiting.set(word.name, known);
      return false;
    },
    repeat(isBorne) {
      const since = clock.now() - CROSSED_MS;
      for (const [name, { word, at }] of latest)
        if (at > since && word.by === server() && isBorne(name)) waiting.set(name, word);
    },
    get size() {
      return waiting.size;
    },
    *drain(hasRoom) {
      for (const [name, word] of waiting) {
        if (!hasRoom()) return;
        waiting.delete(name);
        yield word;
      }
    },
  };
}

function isAfter(one: NameTaken, other: NameTaken): boolean {
  return one.turn > other.turn || (one.turn === other.turn && one.by < other.by);
}
