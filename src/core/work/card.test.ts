import { describe, expect, test } from 'vitest';
import { codeOf, createPrincipal } from '../../testing/story.ts';
import { isRefusal } from '../law/decider.ts';
import {
  type CardBook,
  createCards,
  decideCard,
  dropCard,
  evolveCard,
  freezeCards,
  manifestPage,
  thawCards,
} from './card.ts';
import type { CardFields, Skill } from './card-fields.ts';
import { CARD_LIST_MAX, CARD_SKILLS_MAX, CARDS_MAX } from './work-limits.ts';

const context = { doesHoldUntrusted: true };

const skill = (id: string, tags: readonly string[] = []): Skill => ({
  id,
  name: id,
  description: '',
  tags,
  examples: [],
  inputModes: [],
  outputModes: [],
});

const card = (wishes: Partial<CardFields> = {}): CardFields => ({
  name: 'Ada',
  description: 'writes proofs',
  version: '1',
  supportedInterfaces: [],
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extendedAgentCard: false,
    extensions: [],
  },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  provider: null,
  documentationUrl: null,
  iconUrl: null,
  taskClasses: [],
  model: null,
  meta: null,
  ...wishes,
});

function advertise(book: CardBook, agent: string, wishes: Partial<CardFields> = {}, at = 5) {
  const by = createPrincipal(agent);
  const decision = decideCard(
    book,
    { type: 'card.advertise', by, at, card: card(wishes) },
    context,
  );
  if (!isRefusal(decision)) for (const event of decision.events) evolveCard(book, event);
  return decision;
}

describe('cards', () => {
  test('[CA1] an agent has one card, and advertising the same again is no event', () => {
    const book = createCards();
    advertise(book, 'ada', { model: ' m ' });
    expect(advertise(book, 'ada', { model: 'm' }, 9)).toMatchObject({
      events: [],
      answer: { advertisedAt: 5 },
    });
    advertise(book, 'ada', { model: 'n' }, 9);
    expect([...book.cards.values()]).toMatchObject([{ agent: 'ada', model: 'n', advertisedAt: 9 }]);
  });

  test('[CA2] tags are trimmed and each is there once; the fields are those of an A2A card', () => {
    const book = createCards();
    advertise(book, 'ada', { skills: [skill(' rust ', [' a', 'a', '', 'b'])], meta: '{ "x": 1 }' });
    expect(book.cards.get('ada')).toEqual({
      ...card(),
      skills: [{ ...skill('rust'), tags: ['a', 'b'] }],
      meta: '{"x":1}',
      agent: 'ada',
      advertisedAt: 5,
    });
  });

  test('[CA2] a card of the wrong words or size is refused', () => {
    const book = createCards();
    const long = Array.from({ length: CARD_LIST_MAX + 1 }, (_, i) => `w${i}`);
    const bad: Partial<CardFields>[] = [
      { name: ' ' },
      { description: 'x\0' },
      { meta: '[1]' },
      { iconUrl: 'javascript:alert(1)' },
      { provider: { organization: 'x', url: 'ftp://x' } },
      { skills: [skill('')] },
      { skills: [skill('a'), skill('a ')] },
      { taskClasses: ['two\nlines'] },
      {
        supportedInterfaces: [
          { url: 'file:///etc', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: null },
        ],
      },
    ];
    for (const wishes of bad) expect(codeOf(advertise(book, 'ada', wishes))).toBe('input.invalid');
    const big: Partial<CardFields>[] = [
      { taskClasses: long },
      { skills: Array.from({ length: CARD_SKILLS_MAX + 1 }, (_, i) => skill(`s${i}`)) },
      { description: 'x'.repeat(40_000) },
    ];
    for (const wishes of big) expect(codeOf(advertise(book, 'ada', wishes))).toBe('limit.reached');
    expect(book).toEqual(createCards());
  });

  test('[CA3] a card goes with its agent, or when the agent takes it back', () => {
    const book = createCards();
    advertise(book, 'ada');
    for (const event of dropCard(book, 'ada', 9)) evolveCard(book, event);
    expect(book).toEqual(createCards());
    expect(dropCard(book, 'ada', 9)).toEqual([]);
    const by = createPrincipal('ada');
    expect(codeOf(decideCard(book, { type: 'card.withdraw', by, at: 1 }, context))).toBe(
      'card.not-found',
    );
    advertise(book, 'ada');
    expect(decideCard(book, { type: 'card.withdraw', by, at: 1 }, context)).toMatchObject({
      events: [{ type: 'card.dropped', agent: 'ada', reason: 'withdrawn' }],
    });
  });

  test('[CA6] the manifest is sorted by agent and pages; the number of cards is bounded', () => {
    const book = createCards();
    for (let i = 0; i < CARDS_MAX; i++) advertise(book, `a${(i * 7) % CARDS_MAX}`);
    expect(codeOf(advertise(book, 'more'))).toBe('limit.reached');
    expect(codeOf(advertise(book, 'a1', { model: 'x' }))).toBeNull();
    const seen: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const page = manifestPage(book, { after });
      seen.push(...page.rows.map((one) => one.agent));
      after = page.next;
    }
    expect(seen).toEqual([...book.cards.keys()].sort());
    expect(thawCards(JSON.parse(JSON.stringify(freezeCards(book))))).toEqual(book);
  });
});
