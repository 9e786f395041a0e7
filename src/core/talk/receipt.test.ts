import { describe, expect, test } from 'vitest';
import { codeOf, createPrincipal, createStory } from '../../testing/story.ts';
import { FATES_REMEMBERED_MAX, READERS_NAMED_MAX } from '../law/limits.ts';
import type { Channel } from '../law/state.ts';
import { evolve } from '../law/world.ts';
import { drainedBy, rememberFate } from './receipt.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const cat = createPrincipal('cat');
const eve = createPrincipal('eve', { tier: 'untrusted' });
const mia = createPrincipal('mia', { kind: 'human' });

describe('receipts', () => {
  test('[R1] each recipient has its own: accepted, then consumed, then acted', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    story.subscribe(cat, 'a');
    const sent = story.send(ada, 'a');
    expect(story.states(sent)).toEqual({ bob: 'accepted', cat: 'accepted' });
    story.take(bob);
    expect(story.states(sent)).toEqual({ bob: 'consumed', cat: 'accepted' });
    story.ack(bob, sent, 'processing');
    expect(story.receipts(sent)[0]).toMatchObject({ state: 'consumed', reason: 'ack processing' });
    story.ack(bob, sent, 'done');
    expect(story.states(sent)).toEqual({ bob: 'acted', cat: 'accepted' });
  });

  test('[R1] who was not subscribed when it was sent has no receipt', () => {
    const story = createStory();
    const sent = story.send(ada, 'a');
    story.subscribe(bob, 'a');
    expect(story.receipts(sent)).toEqual([]);
  });

  test('[R2] a reply is an act; a nack is a refusal with its reason', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    story.subscribe(cat, 'a');
    const sent = story.send(ada, 'a');
    story.send(bob, 'a', { replyTo: sent.position });
    story.ack(cat, sent, 'nack', 'busy');
    expect(story.receipts(sent)).toMatchObject([
      { agent: 'bob', state: 'acted', reason: 'replied' },
      { agent: 'cat', state: 'refused', reason: 'busy' },
    ]);
  });

  test('[R1] a message out on lease is presented and not consumed', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const sent = story.send(ada, 'a');
    story.take(bob, { leaseMs: 1000 });
    expect(story.states(sent)).toEqual({ bob: 'presented' });
    story.pass(1000);
    expect(story.receipts(sent)).toMatchObject([
      { state: 'accepted', reason: 'a lease lapsed; owed again' },
    ]);
  });

  test('[R4] who left before reading never shows as a reader', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const read = story.send(ada, 'a');
    story.take(bob);
    const unread = story.send(ada, 'a');
    story.do(bob, { type: 'subscription.remove', patterns: ['a'] });
    expect(story.states(read)).toEqual({ bob: 'consumed' });
    expect(story.states(unread)).toEqual({ bob: 'expired' });
  });

  test('[R4] a held message that was passed by is never shown as read by who left, released or refused', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const held = [story.send(eve, 'a'), story.send(eve, 'a')] as const;
    story.send(ada, 'a');
    story.take(bob);
    story.do(bob, { type: 'subscription.remove', patterns: ['a'] });
    story.review(mia, held[0], true);
    story.review(mia, held[1], false, 'spam');
    expect(held.map((one) => story.states(one))).toEqual([{ bob: 'expired' }, { bob: 'refused' }]);
    const channel = story.world.channels.get('a') as Channel;
    expect([1, 2, 3].map((seq) => drainedBy(channel, seq))).toEqual([[], [], ['bob']]);
  });

  test('[R4] leaving a second time without having been owed anything forgets nothing', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const sent = story.send(ada, 'a');
    story.take(bob);
    for (let i = 0; i < 2; i++) {
      story.do(bob, { type: 'subscription.remove', patterns: ['a'] });
      story.subscribe(bob, 'a');
    }
    expect(story.states(sent)).toEqual({ bob: 'consumed' });
  });

  test('[R4] an ack outlives the memory of the interval it belongs to', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const sent = story.send(ada, 'a');
    story.take(bob);
    story.ack(bob, sent, 'done');
    story.do(bob, { type: 'subscription.remove', patterns: ['a'] });
    story.subscribe(bob, 'a');
    story.send(ada, 'a');
    story.do(bob, { type: 'subscription.remove', patterns: ['a'] });
    expect(story.states(sent)).toEqual({ bob: 'acted' });
  });

  test('[R5] what a feed showed is presented; of two ranges apart only the newer is claimed', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const sent = [1, 2, 3, 4].map(() => story.send(ada, 'a'));
    const show = (from: number, to: number) => {
      const [first, last] = [sent[from], sent[to]].map((one) => one?.position ?? 0) as [
        number,
        number,
      ];
      evolveShown(story, first, last);
      return sent.map((one) => story.states(one).bob);
    };
    expect(show(0, 0)).toEqual(['presented', 'accepted', 'accepted', 'accepted']);
    expect(show(1, 1)).toEqual(['presented', 'presented', 'accepted', 'accepted']);
    expect(show(3, 3)).toEqual(['accepted', 'accepted', 'accepted', 'presented']);
    expect(show(0, 0)).toEqual(['accepted', 'accepted', 'accepted', 'presented']);
  });

  test('[R5] a message released within a range that was shown was not shown with it', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    story.send(ada, 'a');
    const held = story.send(eve, 'a');
    story.send(ada, 'a');
    evolveShown(story, 1, 3);
    expect(story.states(held)).toEqual({ bob: 'held' });
    story.review(mia, held, true);
    expect(story.states(held)).toEqual({ bob: 'accepted' });
  });

  test('[R10] a message is unread and expired once its time has passed, to the millisecond', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const sent = story.send(ada, 'a', { ttlMs: 10 });
    const expiresAt = sent.at + 10;
    story.at += 9;
    expect(story.receipts(sent, expiresAt)).toMatchObject([{ state: 'accepted' }]);
    story.at += 1;
    expect(story.receipts(sent, expiresAt)).toMatchObject([{ state: 'expired' }]);
  });

  test('[R11] fates are forgotten oldest first, and a receipt older than that says so', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const sent = story.send(ada, 'a');
    story.take(bob, { expired: [sent.position] });
    expect(story.states(sent)).toEqual({ bob: 'expired' });
    for (let i = 0; i < FATES_REMEMBERED_MAX; i++) {
      rememberFate(story.world, 1000 + i, 'bob', { state: 'done', reason: null, at: 0 });
    }
    expect(story.world.fates.size).toBeLessThanOrEqual(FATES_REMEMBERED_MAX);
    expect(story.receipts(sent)[0]?.reason).toMatch(/forgotten/);
    expect(codeOf(story.ack(bob, sent, 'done'))).toBe('ack.forgotten');
  });

  test('[R12] delivered_to names who was handed it, not who passed it over', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    story.subscribe(cat, 'a');
    const sent = story.send(ada, 'a');
    story.take(bob, { expired: [sent.position] });
    story.take(cat);
    const channel = story.world.channels.get('a') as Channel;
    expect(drainedBy(channel, 1, story.world.fates.get(sent.position))).toEqual(['cat']);
  });

  test('[R12] of more than a hundred who were handed it a hundred are named', () => {
    const story = createStory();
    const readers = Array.from({ length: READERS_NAMED_MAX + 20 }, (_, n) => ({
      ...bob,
      id: `reader-${n}`,
    }));
    for (const reader of readers) story.subscribe(reader, 'a');
    story.send(ada, 'a');
    for (const reader of readers) story.take(reader);
    const channel = story.world.channels.get('a') as Channel;
    const named = drainedBy(channel, 1);
    expect(named).toHaveLength(READERS_NAMED_MAX);
  });
});

function evolveShown(story: ReturnType<typeof createStory>, from: number, to: number): void {
  evolve(story.world, { type: 'inbox.presented', at: story.at, by: 'bob', from, to }, -1);
}
