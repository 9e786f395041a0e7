/**
 * A token bucket per key (an agent, a host): so many calls a second, with some seconds' worth of burst.
 * Whoever came with a token is always limited, an untrusted one more; the owner's own agents only
 * where it is configured [O3].
 */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import type { Caller } from './caller.ts';

const BUCKETS_MAX = 100_000;
/** Of the burst: when so much was used, other servers are told at once. */
const MUCH = 0.1;

export interface RateLimit {
  readonly name: string;
  /** So much at once is much of it. */
  readonly much: number;
  /** Takes so much, one unless told; nothing asks whether there is any left. */
  check(key: string, cost?: number): Refusal | null;
  /** Takes what was not known before; what is not there is owed. */
  charge(key: string, cost: number): void;
}

interface RateLimitOptions {
  readonly burstSeconds?: number;
  readonly what?: string;
  /** By which several servers know it. */
  readonly name?: string;
}

interface Bucket {
  level: number;
  at: number;
}

export function createRateLimit(
  perSecond: number | null,
  now: () => number,
  { burstSeconds = 1, what = 'calls', name = what }: RateLimitOptions = {},
): RateLimit {
  if (perSecond === null)
    return { name, much: Number.POSITIVE_INFINITY, check: () => null, charge() {} };
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
    name,
    much: burst * MUCH,
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

export interface CallLimits {
  /** Which limit holds for a caller, if any. */
  of(caller: Pick<Caller, 'tokenId' | 'principal'>): RateLimit | null;
  /** Another server let an agent do so much under one of them: it is owed here [SQ16]. */
  charge(name: string, key: string, cost: number): void;
}

export function createCallLimits(perSecond: number | null, now: () => number): CallLimits {
  const burst = { burstSeconds: TOKEN_BURST_SECONDS };
  const all = createRateLimit(perSecond, now, { name: 'all' });
  const known = createRateLimit(TOKEN_CALLS_PER_SECOND, now, { ...burst, name: 'known' });
  const untrusted = createRateLimit(UNTRUSTED_CALLS_PER_SECOND, now, {
    ...{ ...burst, name: 'untrusted' },
  });
  return {
    of({ tokenId, principal: { tier } }) {
      if (perSecond !== null) return all;
      if (tokenId === null) return null;
      return tier === 'untrusted' ? untrusted : known;
    },
    charge(name, key, cost) {
      [all, known, untrusted].find((limit) => limit.name === name)?.charge(key, cost);
    },
  };
}
