import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codeOf, createPrincipal } from '../../testing/story.ts';
import { isRefusal } from '../law/decider.ts';
import { roomBesidesOwner } from '../law/shares.ts';
import { parseObjectText, utf8Bytes } from '../law/text.ts';
import {
  createOffers,
  decideOffer,
  evolveOffer,
  freezeOffers,
  type MakeOffer,
  offerDeadline,
  offerKey,
  offersDue,
  offersPage,
  thawOffers,
} from './offer.ts';
import {
  META_BYTES_MAX,
  OFFER_TTL_MS,
  OFFER_TTL_MS_MAX,
  OFFERS_MAX,
  OFFERS_PER_AGENT_MAX,
} from './work-limits.ts';

const ada = createPrincipal('ada');
const context = { doesHoldUntrusted: true, offersPerAgent: null };

function createMarket() {
  const book = createOffers();
  const market = {
    book,
    at: 1000,
    run(command: Parameters<typeof decideOffer>[1]) {
      const decision = decideOffer(book, command, context);
      if (!isRefusal(decision)) for (const event of decision.events) evolveOffer(book, event);
      return decision;
    },
    offer(name: string, wishes: Partial<MakeOffer> = {}) {
      const { at } = market;
      const offer = {
        type: 'offer.make',
        by: ada,
        at,
        kind: 'llm',
        capacity: 1,
        meta: null,
      } as const;
      return market.run({ ...offer, ttlMs: null, name, ...wishes });
    },
    typesOf(decision: ReturnType<typeof decideOffer>) {
      return isRefusal(decision) ? [decision.refused] : decision.events.map((event) => event.type);
    },
  };
  return market;
}

describe('offers', () => {
  test('[OF1] an offer says what there is; a change of it is an event, saying it again is not history', () => {
    const market = createMarket();
    const first = market.offer(' gpt ', { capacity: 2, meta: '{ "b": [1, 2.5] }' });
    expect(first).toMatchObject({
      answer: {
        agent: 'ada',
        kind: 'llm',
        name: 'gpt',
        capacity: 2,
        meta: '{"b":[1,2.5]}',
        offeredAt: 1000,
        expiresAt: 1000 + OFFER_TTL_MS,
      },
    });
    market.at += 500;
    expect(market.typesOf(market.offer('gpt', { capacity: 2, meta: '{"b":[1,2.5]}' }))).toEqual([
      'offer.refreshed',
    ]);
    expect(offerDeadline(market.book, 'ada')).toBe(1500 + OFFER_TTL_MS);
    expect(market.typesOf(market.offer('gpt', { capacity: 3 }))).toEqual(['offer.made']);
    expect(market.book.count).toBe(1);
  });

  test('[OF2] capacity, time to live, names and meta are what they should be, or refused', () => {
    const market = createMarket();
    const bad: Partial<MakeOffer>[] = [
      ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60].map((capacity) => ({
        capacity,
      })),
      ...[0, -5, Number.NaN, Number.POSITIVE_INFINITY, OFFER_TTL_MS_MAX + 1].map((ttlMs) => ({
        ttlMs,
      })),
      ...['[1]', '"x"', 'null', '{', '', '{"a":1e999}'].map((meta) => ({ meta })),
      { meta: JSON.stringify({ a: 'é'.repeat(META_BYTES_MAX / 2) }) },
      { meta: `{"a":${'['.repeat(200)}${']'.repeat(200)}}` },
      { kind: '' },
      { kind: 'a\tb' },
      { name: ' ' },
    ];
    for (const wishes of bad) expect(codeOf(market.offer('x', wishes))).toBe('input.invalid');
    expect(market.book).toEqual(createOffers());
  });

  test('[OF2] an observer and an untrusted agent offer nothing', () => {
    const market = createMarket();
    const eye = createPrincipal('eye', { kind: 'observer' });
    const eve = createPrincipal('eve', { tier: 'untrusted' });
    expect(codeOf(market.offer('x', { by: eye }))).toBe('access.denied');
    expect(codeOf(market.offer('x', { by: eve }))).toBe('access.denied');
  });

  test('[OF3] an offer that is not refreshed expires, and that is an event', () => {
    const market = createMarket();
    market.offer('short', { ttlMs: 1000 });
    market.offer('long');
    expect(offerDeadline(market.book, 'ada')).toBe(2000);
    expect(offersDue(market.book, 'ada', 1999)).toEqual([]);
    const due = offersDue(market.book, 'ada', 2000);
    expect(due).toEqual([
      { type: 'offer.expired', at: 2000, agent: 'ada', kind: 'llm', name: 'short' },
    ]);
    for (const event of [...due, ...offersDue(market.book, 'ada', 1e9)]) {
      evolveOffer(market.book, event);
    }
    expect(market.book).toEqual(createOffers());
    expect(offerDeadline(market.book, 'ada')).toBeNull();
  });

  test('[OF4] an agent withdraws its own offer and no other', () => {
    const market = createMarket();
    market.offer('x');
    const withdraw = (by: typeof ada) =>
      codeOf(market.run({ type: 'offer.withdraw', by, at: 1, kind: 'llm', name: 'x' }));
    expect(withdraw(createPrincipal('bob'))).toBe('offer.not-found');
    expect(withdraw(ada)).toBeNull();
    expect(withdraw(ada)).toBe('offer.not-found');
    expect(market.book.count).toBe(0);
  });

  test('[OF5] the offers of an agent and of a space are bounded, and refreshing is always possible', () => {
    const market = createMarket();
    const room = roomBesidesOwner(OFFERS_MAX);
    for (let i = 0; i < room; i++) {
      const by = createPrincipal(`a${Math.floor(i / OFFERS_PER_AGENT_MAX)}`);
      market.offer(`n${i}`, { by });
    }
    const by = createPrincipal('a0');
    expect(market.offer('more', { by })).toMatchObject({
      detail: { limit: 'OFFERS_PER_AGENT_MAX' },
    });
    expect(market.offer('more')).toMatchObject({ detail: { limit: 'OFFERS_MAX' } });
    expect(codeOf(market.offer('n0', { by, capacity: 9 }))).toBeNull();
    expect(market.book.count).toBe(room);
  });

  test('[OF6] offers are listed by agent, kind and name, in pages; names with a colon stay apart', () => {
    const market = createMarket();
    market.offer('c:d', { by: createPrincipal('a'), kind: 'b' });
    market.offer('d', { by: createPrincipal('a:b'), kind: 'c' });
    market.offer('z', { by: createPrincipal('a'), kind: 'a' });
    const first = offersPage(market.book, { limit: 2 });
    expect(first.rows.map(offerKey)).toEqual(['a:a:z', 'a:b:c:d']);
    const rest = offersPage(market.book, { after: first.next ?? '' });
    expect(rest).toMatchObject({ rows: [{ agent: 'a:b', kind: 'c', name: 'd' }], next: null });
    expect(offersPage(market.book, { kind: 'c' }).rows).toHaveLength(1);
    expect(offersPage(market.book, { agent: 'a' }).rows).toHaveLength(2);
    expect(market.book.count).toBe(3);
  });

  test('[OF7] frozen and thawed, the offers are the same', () => {
    const name = fc.constantFrom('x', 'y', 'z');
    const step = fc.record({ by: name, kind: name, name, isGone: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const market = createMarket();
        for (const { by: id, kind, name: what, isGone } of steps) {
          const by = createPrincipal(id);
          market.at++;
          if (isGone) market.run({ type: 'offer.withdraw', by, at: market.at, kind, name: what });
          else market.offer(what, { by, kind });
        }
        const { book } = market;
        expect(thawOffers(JSON.parse(JSON.stringify(freezeOffers(book))))).toEqual(book);
        expect(book.count).toBe(offersPage(book, {}).rows.length);
      }),
      { numRuns: 100 },
    );
  });
});

test('[OF2] bytes are counted as UTF-8 has them, and an object comes out as it went in', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.dictionary(fc.string(), fc.jsonValue()),
      (text, value) => {
        expect(utf8Bytes(text)).toBe(Buffer.byteLength(text));
        const written = JSON.stringify(value);
        expect(parseObjectText(written, 100_000)).toBe(JSON.stringify(JSON.parse(written)));
      },
    ),
    { numRuns: 300 },
  );
  expect(utf8Bytes('\ud800x\udc00')).toBe(Buffer.byteLength('\ud800x\udc00'));
});
