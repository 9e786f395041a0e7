/** Making room: whoever has the most gives up its oldest, and nobody else loses anything. */
import { expect, test } from 'vitest';
import { createPrincipal, createStory } from '../../testing/story.ts';
import { rememberFate } from '../talk/receipt.ts';
import { FifoMap } from './fifo-map.ts';
import { FATES_REMEMBERED_MAX, RETRY_KEYS_MAX } from './limits.ts';
import { makeRoom, quotas } from './make-room.ts';

const ada = createPrincipal('ada');
const eve = createPrincipal('eve');

test.each([
  [{ eve: 90, ada: 10 }, { eve: 10 }],
  [
    { eve: 48, ada: 47, bob: 5 },
    { eve: 6, ada: 5 },
  ],
  [
    { a: 25, b: 25, c: 25, d: 25 },
    { a: 3, b: 3, c: 3, d: 3 },
  ],
  [{ a: 100 }, { a: 10 }],
])('[SH4] of %j those give up who have the most: %j', (counts, given) => {
  expect(Object.fromEntries(quotas(new Map(Object.entries(counts)), 100))).toEqual(given);
});

test('[SH4] one that fills a bound pushes out its own oldest alone', () => {
  const map = new FifoMap<string, number>();
  for (let i = 0; i < 10; i++) map.set(`ada ${i}`, i);
  for (let i = 0; i < 1_000; i++) {
    map.set(`eve ${i}`, i);
    makeRoom(map, 100, (key) => key.slice(0, 3));
  }
  expect(map.size).toBeLessThanOrEqual(100);
  expect([...map.keys()].filter((key) => key.startsWith('ada'))).toHaveLength(10);
  expect([map.has('eve 999'), map.has('eve 0'), map.oldest]).toEqual([true, false, 'ada 0']);
});

test('[SH4] [M11] [R11] a flood of retry keys or acks takes neither from another', () => {
  const story = createStory();
  story.subscribe(ada, 'a');
  const sent = story.send(eve, 'a', { key: 'retry:e' });
  story.take(ada);
  story.ack(ada, sent, 'done');
  const first = story.send(ada, 'a', { key: 'retry:1' });
  for (let i = 0; i < RETRY_KEYS_MAX + 10; i++) story.send(eve, 'b', { key: `retry:${i}` });
  expect(story.send(ada, 'a', { key: 'retry:1' }).seq).toBe(first.seq);
  for (let i = 0; i <= FATES_REMEMBERED_MAX; i++) {
    rememberFate(story.world, 1_000 + i, 'eve', { state: 'done', reason: null, at: 0 });
  }
  expect(story.world.fates.size).toBeLessThanOrEqual(FATES_REMEMBERED_MAX);
  expect(story.receipts(sent)).toMatchObject([{ agent: 'ada', state: 'acted' }]);
});
