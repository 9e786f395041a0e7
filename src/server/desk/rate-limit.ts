/**
 * A token bucket per key (an agent, a host): so many calls a second, with some seconds' worth of burst.
 * Whoever came with a token is always limited, an untrusted one more; the owner's own agents only
 * where it is configured [O3].
 */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import type { Caller } from './caller.ts';

const BUCKETS_MAX = 100_000;

export interface RateLimit {
  /** Takes so much, one unless told; nothing asks whether there is any left. */
  check(key: string, cost?: number): Refusal | null;
  /** Takes what was not known before; what is not there is owed. */
  charge(key: string, cost: number): void;
}

interface Bucket {
  level: number;
  at: number;
}

export function createRateLimit(
  perSecond: number | null,
  now: () => number,
  { burstSeconds = 1, what = 'calls' }: { burstSeconds?: number; what?: string } = {},
): RateLimit {
  if (perSecond === null) return { check: () => null, charge() {} };
  const rate = perSecond;
  const burst = rate * burstSeconds;
  const buckets = new Map<string, Bucket>();

  function bucketOf(key: string, at: number): Bucket {
    const bucket = buckets.get(key) ?? { level: burst, at };
    bucket.level = Math.min(burst, bucket.level + ((at - bucket.at) / 1000) * rate);
    bucket.at = at;
    // Re-inserting keeps the least recently used key first, where the bound removes it.
    if (buckets.size > BUCKETS_MAX / 2) buckets.delete(key);
    buckets.set(key, bucket);
    const oldest = buckets.keys().next().value;
    if (buckets.size > BUCKETS_MAX && oldest !== undefined) buckets.delete(oldest);
    return bucket;
  }

  return {
    charge(key, cost) {
      bucketOf(key, now()).level -= cost;
    },
    check(key, cost = 1) {
      const at = now();
      const bucket = bucketOf(key, at);
      if (bucket.level >= cost) {
        bucket.level -= cost;
        return null;
      }
      const waitMs = Math.ceil(((Math.max(cost, 1) - bucket.level) / perSecond) * 1000);
      return {
        ...refuse('rate.limited', `more than ${perSecond} ${what} a second; wait ${waitMs} ms`, {
          per_second: perSecond,
        }),
        retryAt: at + waitMs,
      };
    },
  };
}

export const TOKEN_CALLS_PER_SECOND = 1_000;
export const UNTRUSTED_CALLS_PER_SECOND = 100;
const TOKEN_BURST_SECONDS = 5;

/** Which limit holds for a caller, if any. */
export function createCallLimits(
  perSecond: number | null,
  now: () => number,
): (caller: Pick<Caller, 'tokenId' | 'principal'>) => RateLimit | null {
  if (perSecond !== null) {
    const all = createRateLimit(perSecond, now);
    return () => all;
  }
  const options = { burstSeconds: TOKEN_BURST_SECONDS };
  const known = createRateLimit(TOKEN_CALLS_PER_SECOND, now, options);
  const untrusted = createRateLimit(UNTRUSTED_CALLS_PER_SECOND, now, options);
  return ({ tokenId, principal: { tier } }) => {
    if (tokenId === null) return null;
    return tier === 'untrusted' ? untrusted : known;
  };
}
