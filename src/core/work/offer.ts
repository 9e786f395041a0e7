/**
 * Offers: a resource an agent puts at the disposal of others, until it stops saying
 * so. Capacity is information: nothing is reserved or matched by the hub [OF1]. An
 * offer lapses at its time to live and that is an event [OF3].
 */

import { assert, unreachable } from '../law/assert.ts';
import { type Asked, type Decision, type Refusal, refuse } from '../law/decider.ts';
import { fieldsOf } from '../law/fields.ts';
import { type Page, type PageBounds, takePage } from '../law/page.ts';
import { checkShare } from '../law/shares.ts';
import { isPrintable, parseObjectText } from '../law/text.ts';
import type { View } from '../law/view.ts';
import { checkWriter, invalid, type WriteContext } from '../law/writer.ts';
import {
  META_BYTES_MAX,
  OFFER_CAPACITY_MAX,
  OFFER_NAME_CHARS_MAX,
  OFFER_TTL_MS,
  OFFER_TTL_MS_MAX,
  OFFER_TTL_MS_MIN,
} from './work-limits.ts';

export interface Offer {
  readonly agent: string;
  /** Free-form: llm, compute, fs, memory… */
  readonly kind: string;
  readonly name: string;
  readonly capacity: number;
  /** JSON text of an object, or null. */
  readonly meta: string | null;
  readonly offeredAt: number;
  readonly expiresAt: number;
}

export interface OfferBook {
  /** By agent, then by `placeOf`. */
  readonly agents: Map<string, Map<string, Offer>>;
  count: number;
}

export interface MakeOffer extends Asked {
  readonly type: 'offer.make';
  readonly kind: string;
  readonly name: string;
  readonly capacity: number;
  readonly meta: string | null;
  readonly ttlMs: number | null;
}

export interface WithdrawOffer extends Asked {
  readonly type: 'offer.withdraw';
  readonly kind: string;
  readonly name: string;
}

export interface OfferMade {
  readonly type: 'offer.made';
  readonly at: number;
  readonly offer: Offer;
}

/** Memory only: the same offer, for longer. After a crash it lapses sooner, and is made again. */
export interface OfferRefreshed {
  readonly type: 'offer.refreshed';
  readonly at: number;
  readonly agent: string;
  readonly kind: string;
  readonly name: string;
  readonly expiresAt: number;
}

export interface OfferEnded {
  readonly type: 'offer.expired' | 'offer.withdrawn';
  readonly at: number;
  readonly agent: string;
  readonly kind: string;
  readonly name: string;
}

export type OfferEvent = OfferMade | OfferRefreshed | OfferEnded;

export interface OfferQuery extends PageBounds {
  readonly agent?: string | undefined;
  readonly kind?: string | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

const BOOK = fieldsOf<OfferBook>()({ agents: 'linked', count: 'derived' });

export function createOffers(): OfferBook {
  return { agents: new Map(), count: 0 };
}

/** What an offer is called on the wire. */
export function offerKey({ agent, kind, name }: Pick<Offer, 'agent' | 'kind' | 'name'>): string {
  return `${agent}:${kind}:${name}`;
}

export function decideOffer(
  book: View<OfferBook>,
  command: MakeOffer | WithdrawOffer,
  context: WriteContext & { readonly offersPerAgent: number | null },
): Decision<OfferEvent, Offer> {
  const forbidden = checkWriter(command.by, context);
  if (forbidden !== null) return forbidden;
  const { by, at } = command;
  const agent = by.id;
  const kind = command.kind.trim();
  const name = command.name.trim();
  const mine = book.agents.get(agent);
  const known = mine?.get(placeOf(kind, name));
  if (command.type === 'offer.withdraw') {
    if (known === undefined) return notFound(agent, kind, name);
    return { events: [{ type: 'offer.withdrawn', at, agent, kind, name }], answer: known };
  }
  for (const word of [kind, name]) {
    if (isPrintable(word, OFFER_NAME_CHARS_MAX)) continue;
    return invalid(`kind and name have 1 to ${OFFER_NAME_CHARS_MAX} printable characters`);
  }
  const { capacity } = command;
  if (!Number.isSafeInteger(capacity) || capacity < 1 || capacity > OFFER_CAPACITY_MAX) {
    return invalid(`capacity is a whole number from 1 to ${OFFER_CAPACITY_MAX}`);
  }
  const ttlMs = command.ttlMs ?? OFFER_TTL_MS;
  if (!(ttlMs >= OFFER_TTL_MS_MIN && ttlMs <= OFFER_TTL_MS_MAX)) {
    return invalid(`an offer lives ${OFFER_TTL_MS_MIN} to ${OFFER_TTL_MS_MAX} ms`);
  }
  const meta = command.meta === null ? null : parseObjectText(command.meta, META_BYTES_MAX);
  if (command.meta !== null && meta === null) {
    return invalid(`meta is a JSON object of at most ${META_BYTES_MAX} bytes with finite numbers`);
  }
  const expiresAt = at + Math.floor(ttlMs);
  const offer: Offer = { agent, kind, name, capacity, meta, offeredAt: at, expiresAt };
  if (known !== undefined && known.capacity === capacity && known.meta === meta) {
    return {
      events: [{ type: 'offer.refreshed', at, agent, kind, name, expiresAt }],
      answer: { ...known, expiresAt },
    };
  }
  if (known === undefined) {
    const full = checkShare(
      'OFFERS_MAX',
      by,
      book.count,
      mine?.size ?? 0,
      1,
      context.offersPerAgent,
    );
    if (full !== null) return full;
  }
  return { events: [{ type: 'offer.made', at, offer }], answer: offer };
}

export function evolveOffer(book: OfferBook, event: OfferEvent): void {
  switch (event.type) {
    case 'offer.made':
      return put(book, event.offer);
    case 'offer.refreshed': {
      const known = book.agents.get(event.agent)?.get(placeOf(event.kind, event.name));
      if (known !== undefined) put(book, { ...known, expiresAt: event.expiresAt });
      return;
    }
    case 'offer.expired':
    case 'offer.withdrawn': {
      const mine = book.agents.get(event.agent);
      if (mine?.delete(placeOf(event.kind, event.name))) book.count--;
      assert(book.count >= 0, 'no offer is counted off twice');
      if (mine?.size === 0) book.agents.delete(event.agent);
      return;
    }
    default:
      return unreachable(event);
  }
}

/** When the first offer of the agent lapses; null when it has none. */
export function offerDeadline(book: View<OfferBook>, agent: string): number | null {
  let soonest: number | null = null;
  for (const { expiresAt } of book.agents.get(agent)?.values() ?? []) {
    soonest = Math.min(soonest ?? expiresAt, expiresAt);
  }
  return soonest;
}

/** The offers of the agent that have lapsed by `at`. */
export function offersDue(book: View<OfferBook>, agent: string, at: number): OfferEnded[] {
  return [...(book.agents.get(agent)?.values() ?? [])]
    .filter((offer) => offer.expiresAt <= at)
    .map(({ kind, name }) => ({ type: 'offer.expired', at, agent, kind, name }));
}

/** An agent that is forgotten takes its offers with it. */
export function withdrawAll(book: View<OfferBook>, agent: string, at: number): OfferEnded[] {
  return [...(book.agents.get(agent)?.values() ?? [])].map(({ kind, name }) => ({
    type: 'offer.withdrawn',
    at,
    agent,
    kind,
    name,
  }));
}

/** By agent, kind, name. */
export function offersPage(book: View<OfferBook>, query: OfferQuery): Page<Offer, string> {
  const { agent, kind, after = '' } = query;
  const maps = agent === undefined ? [...book.agents.values()] : [book.agents.get(agent)];
  const rows = maps
    .flatMap((mine) => [...(mine?.values() ?? [])])
    .filter((offer) => (kind === undefined || offer.kind === kind) && cursorOf(offer) > after)
    .sort((a, b) => (cursorOf(a) < cursorOf(b) ? -1 : 1));
  return takePage(rows, cursorOf, query);
}

export function freezeOffers(book: OfferBook): object {
  return BOOK.freeze(book, {
    agents: [...book.agents.values()].flatMap((mine) => [...mine.values()]),
  });
}

export function thawOffers(frozen: unknown): OfferBook {
  const book = BOOK.thaw(frozen, createOffers());
  for (const offer of (frozen as { readonly agents: readonly Offer[] }).agents) put(book, offer);
  return book;
}

function put(book: OfferBook, offer: Offer): void {
  let mine = book.agents.get(offer.agent);
  if (mine === undefined) {
    mine = new Map();
    book.agents.set(offer.agent, mine);
  }
  const place = placeOf(offer.kind, offer.name);
  if (!mine.has(place)) book.count++;
  mine.set(place, offer);
}

// Names may hold a colon, so the key for people could mean two offers; a tab is in no name
// and sorts before all that is.
function placeOf(kind: string, name: string): string {
  return `${kind}\t${name}`;
}

function cursorOf(offer: Offer): string {
  return `${offer.agent}\t${placeOf(offer.kind, offer.name)}`;
}

function notFound(agent: string, kind: string, name: string): Refusal {
  const key = offerKey({ agent, kind, name }).slice(0, 512);
  return refuse('offer.not-found', `there is no offer ${key}; offers.list shows yours`);
}
