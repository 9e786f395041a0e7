/**
 * What other servers of the space have said of their doors: who is there, and how much an agent has open. One that is
 * not heard of for a while is gone, and everybody who was there with it [SQ14].
 */
import type { Clock } from './clock.ts';
import { type Held, type Seen, shiftSeen, type Whisper } from './whisper.ts';

/** Without a word for so long a server is gone; it says one every second. */
export const LOST_MS = 4_000;
/** Clocks that differ by less are taken for the same. */
const SAME_CLOCK_MS = 2_000;
/** Agents that are remembered of one server. */
const AGENTS_MAX = 100_000;
const SERVERS_MAX = 64;
/** What somebody has open is said again with every round; what was not for so long is not open any more. */
const HELD_MS = 35_000;

export interface Others {
  /** True when the server was not known: it has to say again who is there. */
  hear(from: string, word: Whisper): boolean;
  /** What each of the others sees of the agent. */
  seen(agent: string): readonly Seen[];
  /** Everybody whom others see. */
  names(): Iterable<string>;
  holds(agent: string, what: Held): number;
  /** Forgets who was not heard of. */
  sweep(): void;
  readonly size: number;
}

interface Other {
  heardAt: number;
  readonly seen: Map<string, Seen>;
  readonly holds: Map<string, { readonly count: number; readonly at: number }>;
}

export function createOthers(clock: Clock): Others {
  const others = new Map<string, Other>();

  function knownAs(from: string): Other {
    const known = others.get(from);
    if (known !== undefined) return known;
    const fresh: Other = { heardAt: 0, seen: new Map(), holds: new Map() };
    others.set(from, fresh);
    keep(others, SERVERS_MAX);
    return fresh;
  }

  return {
    hear(from, word) {
      if (word.type === 'server.left') {
        others.delete(from);
        return false;
      }
      const isNew = !others.has(from);
      const other = knownAs(from);
      const now = clock.now();
      other.heardAt = now;
      if (word.type === 'agent.seen') {
        const skew = now - word.at;
        const seen = Math.abs(skew) < SAME_CLOCK_MS ? word.seen : shiftSeen(word.seen, skew);
        other.seen.delete(word.agent);
        other.seen.set(word.agent, seen);
        keep(other.seen, AGENTS_MAX);
      } else if (word.type === 'agent.holds') {
        const key = `${word.what} ${word.agent}`;
        other.holds.delete(key);
        if (word.count > 0) other.holds.set(key, { count: word.count, at: now });
        keep(other.holds, AGENTS_MAX);
      }
      return isNew && word.type !== 'server.hello';
    },
    seen(agent) {
      if (others.size === 0) return [];
      return [...others.values()].flatMap(({ seen }) => seen.get(agent) ?? []);
    },
    *names() {
      for (const { seen } of others.values()) yield* seen.keys();
    },
    holds(agent, what) {
      let count = 0;
      for (const { holds } of others.values()) {
        const held = holds.get(`${what} ${agent}`);
        if (held !== undefined && clock.now() - held.at < HELD_MS) count += held.count;
      }
      return count;
    },
    sweep() {
      const now = clock.now();
      for (const [from, { heardAt }] of others) {
        if (now - heardAt > LOST_MS) others.delete(from);
      }
    },
    get size() {
      return others.size;
    },
  };
}

/** The oldest go first. */
function keep(map: Map<string, unknown>, max: number): void {
  const oldest = map.size > max ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
