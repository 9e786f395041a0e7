/**
 * Cards: what an agent says it can do, in the fields of an A2A agent card and a few
 * of our own. One a agent [CA1]; it lives as long as the agent is there and goes with
 * it [CA3], so nobody has to repeat it. The manifest is all of them, by agent.
 */

import { type Asked, type Decision, type Refusal, refuse } from '../law/decider.ts';
import { fieldsOf, mapBy, whole } from '../law/fields.ts';
import { type Page, type PageBounds, takePage } from '../law/page.ts';
import { checkShare } from '../law/shares.ts';
import type { View } from '../law/view.ts';
import { checkWriter, type WriteContext } from '../law/writer.ts';
import type { CardFields } from './card-fields.ts';
import { cleanCard } from './card-fields.ts';

export interface Card extends CardFields {
  readonly agent: string;
  readonly advertisedAt: number;
}

export interface CardBook {
  readonly cards: Map<string, Card>;
}

export interface AdvertiseCard extends Asked {
  readonly type: 'card.advertise';
  readonly card: CardFields;
}

export interface WithdrawCard extends Asked {
  readonly type: 'card.withdraw';
}

export interface CardAdvertised {
  readonly type: 'card.advertised';
  readonly at: number;
  readonly agent: string;
  readonly card: CardFields;
}

export interface CardDropped {
  readonly type: 'card.dropped';
  readonly at: number;
  readonly agent: string;
  readonly reason: 'withdrawn' | 'gone';
}

export type CardEvent = CardAdvertised | CardDropped;

const BOOK = whole(fieldsOf<CardBook>()({ cards: mapBy<Card>(({ agent }) => agent) }));

export function createCards(): CardBook {
  return { cards: new Map() };
}

export function decideCard(
  book: View<CardBook>,
  command: AdvertiseCard | WithdrawCard,
  context: WriteContext,
): Decision<CardEvent, Card> {
  const forbidden = checkWriter(command.by, context);
  if (forbidden !== null) return forbidden;
  const { by, at } = command;
  const known = book.cards.get(by.id);
  if (command.type === 'card.withdraw') {
    if (known === undefined) return notFound(by.id);
    return { events: dropCard(book, by.id, at, 'withdrawn'), answer: known };
  }
  const card = cleanCard(command.card);
  if ('refused' in card) return card;
  const full = known === undefined ? checkShare('CARDS_MAX', by, book.cards.size, 0) : null;
  if (full !== null) return full;
  if (known !== undefined && isSame(known, card)) return { events: [], answer: known };
  return {
    events: [{ type: 'card.advertised', at, agent: by.id, card }],
    answer: { ...card, agent: by.id, advertisedAt: at },
  };
}

/** The card goes with its agent; nothing when there is none. */
export function dropCard(
  book: View<CardBook>,
  agent: string,
  at: number,
  reason: CardDropped['reason'] = 'gone',
): CardDropped[] {
  return book.cards.has(agent) ? [{ type: 'card.dropped', at, agent, reason }] : [];
}

export function evolveCard(book: CardBook, event: CardEvent): void {
  const { at, agent } = event;
  if (event.type === 'card.dropped') book.cards.delete(agent);
  else book.cards.set(agent, { ...event.card, agent, advertisedAt: at });
}

export function manifestPage(
  book: View<CardBook>,
  query: PageBounds & { readonly after?: string | undefined },
): Page<Card, string> {
  const { after = '' } = query;
  const rows = [...book.cards.values()]
    .filter((card) => card.agent > after)
    .sort((a, b) => (a.agent < b.agent ? -1 : 1));
  return takePage(rows, (card) => card.agent, query);
}

export function freezeCards(book: CardBook): unknown {
  return BOOK.freeze(book);
}

export function thawCards(frozen: unknown): CardBook {
  return BOOK.thaw(frozen);
}

function isSame(known: Card, card: CardFields): boolean {
  const { agent: _, advertisedAt: __, ...fields } = known;
  return JSON.stringify(fields) === JSON.stringify(card);
}

function notFound(agent: string): Refusal {
  return refuse('card.not-found', `${agent} has no card; cards.advertise makes one`);
}
