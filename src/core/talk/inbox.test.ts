import { describe, expect, test } from 'vitest';
import { codeOf, createPrincipal, createStory } from '../../testing/story.ts';
import { DELIVERIES_MAX, LEASED_PER_AGENT_MAX } from '../law/limits.ts';
import { owedTotal, peek } from './inbox.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const eve = createPrincipal('eve', { tier: 'untrusted' });

describe('draining', () => {
  test('[N1] an inbox holds what was sent while subscribed and not drained yet', () => {
    const story = createStory();
    expect(story.take(bob)).toEqual([]);
    story.subscribe(bob, 'a', 'b');
    story.send(ada, 'a');
    story.send(ada, 'b');
    story.send(ada, 'c');
    expect(owedTotal(story.world.agents.get('bob'))).toBe(2);
    expect(story.drain(bob).taken.map(({ channel }) => channel)).toEqual(['a', 'b']);
  });

  test('[N2] a drain hands each message out once, in channel order, and stops at its maximum', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    for (let i = 0; i < 5; i++) story.send(ada, 'a');
    expect([story.take(bob, { max: 2 }), story.take(bob, { max: 2 }), story.take(bob)]).toEqual([
      [1, 2],
      [3, 4],
      [5],
    ]);
    expect(story.take(bob)).toEqual([]);
  });

  test('[N2] one agent draining takes nothing from another', () => {
    const story = createStory();
    story.subscribe(ada, 'a');
    story.subscribe(bob, 'a');
    story.send(ada, 'a');
    expect([story.take(ada), story.take(bob)]).toEqual([[1], [1]]);
  });

  test('[N3] naming channels drains those and leaves the others queued; one not subscribed to is refused', () => {
    const story = createStory();
    story.subscribe(bob, 'a', 'b');
    story.send(ada, 'a');
    story.send(ada, 'b');
    expect(story.drain(bob, { channels: ['b', 'b'] }).taken).toMatchObject([{ channel: 'b' }]);
    expect(story.drain(bob).taken).toMatchObject([{ channel: 'a' }]);
    expect(codeOf(peek(story.world, 'bob', ['c'], 9))).toBe('subscription.not-found');
  });

  test('[N2] of two drains that saw the same messages only the first gets them', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    story.send(ada, 'a');
    const owed = peek(story.world, 'bob', null, 9);
    const drain = { type: 'inbox.drain', owed, expired: new Set<number>(), leaseMs: null } as never;
    expect(story.do(bob, drain)).toMatchObject({ taken: [{ seq: 1 }] });
    expect(story.do(bob, drain)).toMatchObject({ taken: [] });
    expect(story.events.filter(({ type }) => type === 'inbox.drained')).toHaveLength(1);
  });

  test('[N4] a message whose time to live has passed is passed over and told as expired', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const late = story.send(ada, 'a', { ttlMs: 10 });
    story.send(ada, 'a');
    expect(story.take(bob, { expired: [late.position] })).toEqual([2]);
    expect(story.states(late)).toEqual({ bob: 'expired' });
    expect(story.take(bob)).toEqual([]);
  });

  test('[N6] a commit counts everything owed up to a position as read', () => {
    const story = createStory();
    story.subscribe(bob, 'a', 'b');
    story.send(ada, 'a');
    const second = story.send(ada, 'b');
    story.send(ada, 'a');
    const commit = { type: 'inbox.commit', through: second.position } as const;
    expect(story.do(bob, commit)).toEqual({ count: 2 });
    expect(story.do(bob, commit)).toEqual({ count: 0 });
    expect(story.take(bob)).toEqual([2]);
  });

  test('[N6] a commit leaves alone what is owed again', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const sent = story.send(ada, 'a');
    story.drain(bob, { leaseMs: 1_000 });
    story.pass(1_000);
    expect(story.do(bob, { type: 'inbox.commit', through: sent.position })).toEqual({ count: 0 });
    expect(story.take(bob)).toEqual([1]);
  });

  test('[N6] a commit over a held message reads it as little as a drain does', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const held = story.send(eve, 'a');
    const last = story.send(ada, 'a');
    expect(story.do(bob, { type: 'inbox.commit', through: last.position })).toEqual({ count: 1 });
    story.review(createPrincipal('mia', { kind: 'human' }), held, true);
    expect(story.take(bob)).toEqual([1]);
  });
});

describe('leases', () => {
  const leased = { leaseMs: 1000 };

  test('[N5] under a lease a message comes back unless it is acked in time', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const first = story.send(ada, 'a');
    story.send(ada, 'a');
    expect(story.take(bob, leased)).toEqual([1, 2]);
    story.ack(bob, first, 'done');
    story.pass(999);
    expect(story.take(bob)).toEqual([]);
    story.pass(1);
    expect(story.take(bob)).toEqual([2]);
    story.pass(10_000);
    expect(story.take(bob)).toEqual([]);
  });

  test('[N5] what comes back stands before what is new', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    story.send(ada, 'a');
    story.take(bob, leased);
    story.send(ada, 'a');
    story.pass(1000);
    expect(story.take(bob, leased)).toEqual([1, 2]);
  });

  test('[N5] after so many hand-outs without an ack a message is dead', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const sent = story.send(ada, 'a');
    for (let i = 0; i < DELIVERIES_MAX; i++) {
      expect(story.take(bob, leased)).toEqual([1]);
      story.pass(1000);
    }
    expect(story.take(bob, leased)).toEqual([]);
    expect(story.states(sent)).toEqual({ bob: 'dead' });
    expect(codeOf(story.ack(bob, sent, 'done'))).toBeNull();
    expect(story.states(sent)).toEqual({ bob: 'acted' });
  });

  test('[N7] an ack of what has come back settles it: it is not owed once more', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const sent = story.send(ada, 'a');
    story.take(bob, leased);
    story.pass(1000);
    story.ack(bob, sent, 'done');
    expect(story.take(bob)).toEqual([]);
  });

  test('[N8] messages out on lease are bounded per agent, and a settled one makes room', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const sent = story.send(ada, 'a');
    story.take(bob, leased);
    story.send(ada, 'a');
    const agent = story.world.agents.get('bob');
    if (agent !== undefined) agent.leasedCount = LEASED_PER_AGENT_MAX;
    expect(() => story.take(bob, leased)).toThrow('limit.reached');
    story.ack(bob, sent, 'received');
    expect(story.take(bob, leased)).toEqual([2]);
  });

  test('[N8] however often an agent leases and acks, one deadline waits for it', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    for (let i = 0; i < 50; i++) {
      const sent = story.send(ada, 'a');
      story.take(bob, { leaseMs: 3_600_000 - i });
      story.ack(bob, sent, 'done');
      story.at += 10;
    }
    expect(story.world.deadlines.size).toBe(1);
  });

  test('[N5] a lease taken later and shorter runs out first', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    story.send(ada, 'a');
    story.take(bob, { leaseMs: 60_000 });
    story.send(ada, 'a');
    story.take(bob, leased);
    story.pass(1000);
    expect(story.take(bob)).toEqual([2]);
    story.pass(59_000);
    expect(story.take(bob)).toEqual([1]);
  });

  test('[S4] leaving a channel ends its leases', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const sent = story.send(ada, 'a');
    story.take(bob, leased);
    story.do(bob, { type: 'subscription.remove', patterns: ['a'] });
    story.pass(5000);
    expect(story.world.agents.get('bob')?.leasedCount).toBe(0);
    expect(story.states(sent)).toEqual({ bob: 'expired' });
  });
});
