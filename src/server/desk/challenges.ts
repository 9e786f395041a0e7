/**
 * What a passkey is to sign, in memory alone: each challenge is for one caller, one person and one purpose, is
 * good once and for five minutes [PK2].
 */
import type { Platform } from './platform.ts';

export const CHALLENGE_MS = 300_000;
const CHALLENGES_MAX = 1_000;

export type Purpose = 'add' | 'prove';

export interface Challenges {
  /** `whose` tells callers apart. */
  make(whose: string, purpose: Purpose, person: string): string;
  /** Spends it; the person it was made for, or null. */
  take(whose: string, purpose: Purpose, challenge: string): string | null;
}

export function createChallenges({ elapsedMs, newSecret, digest }: Platform): Challenges {
  const made = new Map<string, { readonly key: string; readonly person: string; until: number }>();
  const keyOf = (whose: string, purpose: Purpose): string => `${purpose} ${whose}`;
  return {
    make(whose, purpose, person) {
      const challenge = newSecret();
      const until = elapsedMs() + CHALLENGE_MS;
      made.set(digest(challenge), { key: keyOf(whose, purpose), person, until });
      const oldest = made.keys().next().value;
      if (made.size > CHALLENGES_MAX && oldest !== undefined) made.delete(oldest);
      return challenge;
    },
    take(whose, purpose, challenge) {
      const id = digest(challenge);
      const found = made.get(id);
      made.delete(id);
      if (found === undefined || found.key !== keyOf(whose, purpose)) return null;
      return found.until > elapsedMs() ? found.person : null;
    },
  };
}
