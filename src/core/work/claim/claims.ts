/**
 * The law of claims as a whole: every command comes in here, and so does time [CM9]. A command sent
 * again under its key is answered again and done once [CM12], also one that is not about claims.
 */
import { unreachable } from '../../law/assert.ts';
import { type Asked, type Decision, type Refusal, refuse } from '../../law/decider.ts';
import { SERVER } from '../../law/principal.ts';
import {
  type ClaimContext,
  decideCheckpoint,
  decideRelease,
  decideRenew,
  decideTake,
  decideUpdate,
} from './claim.ts';
import type {
  ClaimCommand,
  ClaimEvent,
  ClaimExpired,
  ClaimKeyed,
  ClaimOffered,
  WaitEnded,
  WaitReserved,
} from './claim-events.ts';
import { keyName } from './claim-evolve.ts';
import { CLAIM_KEY_CHARS_MAX, LAPSES_AT_ONCE_MAX } from './claim-limits.ts';
import type { BookView, Claim, KeptAnswer, Wait } from './claim-state.ts';
import { decideUnwait, decideWait, endOf, passOn } from './claim-wait.ts';
import { decideAccept, decideHandOff, offeredTo } from './hand-off.ts';
import { decideForget } from './inheritance.ts';

export interface ClaimAnswers {
  'claim.take': ReturnType<typeof decideTake>;
  'claim.renew': ReturnType<typeof decideRenew>;
  'claim.update': ReturnType<typeof decideUpdate>;
  'claim.checkpoint': ReturnType<typeof decideCheckpoint>;
  'claim.hand-off': ReturnType<typeof decideHandOff>;
  'claim.release': ReturnType<typeof decideRelease>;
  'claim.wait': ReturnType<typeof decideWait>;
  'claim.unwait': ReturnType<typeof decideUnwait>;
  'claim.forget': ReturnType<typeof decideForget>;
}

/** When the next claim, wait or reservation lapses. */
export function nextExpiry(book: BookView): number | null {
  return book.due.first?.dueAt ?? null;
}

/** What has lapsed by `at`, in order and so much at once, and whose turn that makes it. */
export function expireClaims(book: BookView, at: number): LapseEvent[] {
  return lapse(
    book,
    book.due.firsts(({ dueAt }) => dueAt <= at, LAPSES_AT_ONCE_MAX),
    at,
  );
}

/** What an agent that is forgotten held and waited for lapses at once. */
export function abandonClaims(book: BookView, agent: string, at: number): LapseEvent[] {
  const claims = [...book.claims.values()];
  const held = claims.filter(({ owner }) => owner === agent);
  // Another of that name is not meant by what was offered to this one.
  const offers = claims
    .filter(({ offer }) => offer?.to === agent)
    .map(({ id }): ClaimOffered => ({ type: 'claim.offered', at, by: SERVER.id, id, to: null }));
  return [...offers, ...lapse(book, [...held, ...(book.waitsByAgent.get(agent) ?? [])], at)];
}

type LapseEvent = ClaimExpired | ClaimOffered | WaitEnded | WaitReserved;

function lapse(book: BookView, items: readonly (Claim | Wait)[], at: number): LapseEvent[] {
  const events: (ClaimExpired | WaitEnded)[] = [];
  const gone = new Set<Claim>();
  const ended = new Set<Wait>();
  for (const item of items) {
    if (item.kind === 'claim') {
      const { id, owner, epoch } = item;
      gone.add(item);
      events.push({ type: 'claim.expired', at, id, owner, epoch });
    } else {
      ended.add(item);
      events.push(endOf(item, at, item.isReserved ? 'unused' : 'lapsed'));
    }
  }
  const freed = [...gone, ...[...ended].filter((wait) => wait.isReserved)];
  return [...events, ...passOn(book, { gone, ended }, freed, at)];
}

export function decideClaim(
  book: BookView,
  command: ClaimCommand,
  context: ClaimContext,
): Decision<ClaimEvent, unknown> {
  return decideOnce(book, command, () => decideLive(book, command, context));
}

/** Under a key a command is decided once, and answered again as often as it is sent [CM12]. */
export function decideOnce<Event>(
  book: BookView,
  { by, at, type, idempotency }: Asked & { readonly type: string },
  decideLive: () => Decision<Event, unknown>,
): Decision<Event | ClaimKeyed, unknown> {
  if (idempotency == null) return decideLive();
  const { key, digest } = idempotency;
  const known = book.keys.get(keyName(by.id, type, key));
  const refused = checkKey(key, digest, known);
  if (refused !== null) return refused;
  if (known !== undefined) return { events: [], answer: known.answer };
  const decision = decideLive();
  if ('refused' in decision) return decision;
  const { answer } = decision;
  const keyed: ClaimKeyed = {
    type: 'claim.keyed',
    at,
    by: by.id,
    command: type,
    key,
    digest,
    answer,
  };
  return { events: [...decision.events, keyed], answer };
}

function checkKey(key: string, digest: string, known: KeptAnswer | undefined): Refusal | null {
  if (key === '' || key.length > CLAIM_KEY_CHARS_MAX || digest.length > CLAIM_KEY_CHARS_MAX) {
    const max = CLAIM_KEY_CHARS_MAX;
    return refuse('claim.text-too-long', `an idempotency key has 1 to ${max} characters`, {
      field: 'idempotency_key',
      max,
    });
  }
  if (known === undefined || known.digest === digest) return null;
  return refuse(
    'claim.key-reused',
    `the idempotency key ${key} was used for another request; use a new key for a new request`,
    { key },
  );
}

function decideLive(
  book: BookView,
  command: ClaimCommand,
  context: ClaimContext,
): Decision<ClaimEvent, unknown> {
  switch (command.type) {
    case 'claim.take': {
      const offered = offeredTo(book, command);
      return offered === null
        ? decideTake(book, command, context)
        : decideAccept(book, offered, command, context);
    }
    case 'claim.renew':
      return decideRenew(book, command);
    case 'claim.update':
      return decideUpdate(book, command);
    case 'claim.checkpoint':
      return decideCheckpoint(book, command);
    case 'claim.hand-off':
      return decideHandOff(book, command, context);
    case 'claim.release':
      return decideRelease(book, command);
    case 'claim.wait':
      return decideWait(book, command);
    case 'claim.unwait':
      return decideUnwait(book, command);
    case 'claim.forget':
      return decideForget(book, command);
    default:
      return unreachable(command);
  }
}
