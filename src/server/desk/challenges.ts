/**
 * What a passkey is to sign, in memory alone: each challenge is for one caller, one person and one purpose, is
 * good once and for five minutes [PK2]. Who begins without end pushes out its own.
 */
import type { Platform } from './platform.ts';

export const CHALLENGE_MS = 300_000;
const CHALLENGES_MAX = 1_000;
const CHALLENGES_OF_ONE_MAX = 16;

export type Purpose = 'add' | 'prove';

export interface Challenges {
  /** `whose` tells callers apart. */
  make(whose: string, purpose: Purpose, person: string): string;
  /** Spends it; the person it was made for, or null. */
  take(whose: string, purpose: Purpose, challenge: string): string | null;
}

interface Made {
  readonly whose: string;
  readonly purpose: Purpose;
  readonly person: string;
  readonly until: number;
}

export function createChallenges({ elapsedMs, newSecret, digest }: Platform): Challenges {
  const made = new Map<string, Made>();
  return {
    make(whose, purpose, person) {
      const challenge = newSecret();
      const until = elapsedMs() + CHALLENGE_MS;
      made.set(digest(challenge), { whose, purpose, person, until });
      forgetOldest(made, CHALLENGES_MAX, whose, CHALLENGES_OF_ONE_MAX);
      return challenge;
    },
    take(whose, purpose, challenge) {
      const id = digest(challenge);
      const found = made.get(id);
      made.delete(id);
      if (found === undefined || found.whose !== whose || found.purpose !== purpose) return null;
      return found.until > elapsedMs() ? found.person : null;
    },
  };
}

/** Keeps so many of all, and so many of this one, who put the newest in. */
export function forgetOldest(
  map: Map<string, { readonly whose: string }>,
  max: number,
  whose: string,
  ofOneMax: number,
): void {
  const own = [...map].flatMap(([key, one]) => (one.whose === whose ? [key] : []));
  const oldest = own.length > ofOneMax ? own[0] : map.keys().next().value;
  if (oldest !== undefined && (own.length > ofOneMax || map.size > max)) map.delete(oldest);
}
