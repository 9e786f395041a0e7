/**
 * Who has proved to be a person, in memory alone: a proof dies with the hub, after a while by a clock
 * that nobody sets back, and is good only for the caller that made it [GT3]. Wrong passphrases are slowed
 * by the credential that tries them, one at a time, so that guessing costs more than it gains.
 */

import { OWNER_CREDENTIAL } from '../../core/gates/decider.ts';
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import type { Caller } from './caller.ts';
import { type Challenges, createChallenges, forgetOldest } from './challenges.ts';
import type { Platform } from './platform.ts';

const PROOFS_MAX = 1_000;
/** Of one caller: those of its page and its terminals. */
const PROOFS_OF_ONE_MAX = 64;
const TRIERS_MAX = 1_000;
const SLOW_FIRST_MS = 1_000;
const SLOW_MOST_MS = 60_000;

export type How = 'passphrase' | 'passkey';

interface Proved {
  readonly space: string;
  readonly person: string;
  readonly how: How;
  readonly whose: string;
  /** By the clock that only goes forward. */
  readonly until: number;
}

interface Trier {
  wrong: number;
  until: number;
  isBusy: boolean;
}

export interface Proofs {
  /** The person a proof stands for, if this caller made it and it still holds. */
  personOf(caller: Caller, proof: string | null | undefined): string | null;
  /** How it was proved. */
  howOf(proof: string | null | undefined): How | null;
  /** Has it checked, unless this credential has to wait; true makes a proof. */
  prove(
    caller: Caller,
    person: string,
    lastsMs: number,
    how: How,
    check: () => Promise<boolean | Refusal>,
  ): Promise<string | Refusal>;
  /** What passkeys are to sign. */
  readonly challenges: Challenges;
  /** A credential was wrong at another server: it waits here too [SQ16]. */
  slow(space: string, credential: string): void;
  /** Who is removed has proved nothing, also when the name is given anew. */
  forget(space: string, person: string): void;
}

/** What a caller came with, as the law tells callers apart. */
export function credentialOf({ isOwner, tokenId, principal }: Caller): string {
  if (isOwner) return OWNER_CREDENTIAL;
  return tokenId === null ? `word ${principal.id}` : `token ${tokenId}`;
}

export function createProofs(
  platform: Platform,
  /** Told of a credential that was wrong. */
  onWrong: (space: string, credential: string) => void = () => {},
): Proofs {
  const { elapsedMs, newSecret, digest, now } = platform;
  const proofs = new Map<string, Proved>();
  const triers = new Map<string, Trier>();

  function trierOf(space: string, credential: string): Trier {
    const key = `${space} ${credential}`;
    const trier = triers.get(key) ?? { wrong: 0, until: 0, isBusy: false };
    triers.delete(key);
    triers.set(key, trier);
    const oldest = triers.keys().next().value;
    if (triers.size > TRIERS_MAX && oldest !== undefined) triers.delete(oldest);
    return trier;
  }

  function slow(trier: Trier): number {
    const slowMs = Math.min(SLOW_MOST_MS, SLOW_FIRST_MS * 2 ** trier.wrong);
    trier.wrong++;
    trier.until = elapsedMs() + slowMs;
    return slowMs;
  }

  return {
    personOf(caller, proof) {
      const found = proof == null ? undefined : proofs.get(digest(proof));
      if (found === undefined || found.whose !== whoseOf(caller)) return null;
      return found.until > elapsedMs() ? found.person : null;
    },
    challenges: createChallenges(platform),
    howOf: (proof) => (proof == null ? null : (proofs.get(digest(proof))?.how ?? null)),
    async prove(caller, person, lastsMs, how, check) {
      const credential = credentialOf(caller);
      const trier = trierOf(caller.space, credential);
      const waitMs = Math.ceil(trier.until - elapsedMs());
      if (trier.isBusy || waitMs > 0) return tooSoon(now(), Math.max(waitMs, SLOW_FIRST_MS));
      trier.isBusy = true;
      const isRight = await check().finally(() => {
        trier.isBusy = false;
      });
      if (isRight !== true) {
        const slowMs = slow(trier);
        onWrong(caller.space, credential);
        if (isRefusal(isRight)) return isRight;
        const message = `that is not the ${how} of a person ${person} here; try again in ${Math.ceil(slowMs / 1000)} s`;
        return refuse('proof.wrong', message, { wrong: trier.wrong }, now() + slowMs);
      }
      trier.wrong = 0;
      const proof = `syp_${newSecret()}`;
      const until = elapsedMs() + lastsMs;
      const { space } = caller;
      const whose = whoseOf(caller);
      proofs.set(digest(proof), { space, person, how, whose, until });
      forgetOldest(proofs, PROOFS_MAX, whose, PROOFS_OF_ONE_MAX);
      return proof;
    },
    slow: (space, credential) => void slow(trierOf(space, credential)),
    forget(space, person) {
      for (const [key, one] of proofs) {
        if (one.space === space && one.person === person) proofs.delete(key);
      }
    },
  };
}

/** What a proof or a challenge is bound to. */
export function whoseOf(caller: Caller): string {
  return JSON.stringify([caller.space, caller.principal.id, credentialOf(caller)]);
}

function tooSoon(now: number, waitMs: number): Refusal {
  const message = `a passphrase was wrong or is being checked; wait ${Math.ceil(waitMs / 1000)} s`;
  return refuse('rate.limited', message, {}, now + waitMs);
}
