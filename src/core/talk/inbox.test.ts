import { describe, expect, test, vi } from 'vitest';
import { createChance } from '../../testing/chance.ts';
import { codeOf, createPrincipal, createStory } from '../../testing/story.ts';
import { DELIVERIES_MAX, LEASED_PER_AGENT_MAX } from '../law/limits.ts';
import { nextFree } from './channel.ts';
import { owedTotal, peek } from './inbox.ts';
import { Positions } from './positions.ts';

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

  test('[N5] [A1] what was acked before it was drained is handed out once, and its ack stands', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const sent = story.send(ada, 'a');
    expect(codeOf(story.ack(bob, sent, 'done'))).toBeNull();
    expect(story.take(bob, leased)).toEqual([1]);
    for (let i = 0; i < DELIVERIES_MAX; i++) {
      story.pass(1000);
      expect(story.take(bob, leased)).toEqual([]);
    }
    expect(story.states(sent)).toEqual({ bob: 'acted' });
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
    // And one for what may lapse.
    expect(story.world.deadlines.size).toBe(2);
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

describe('over many channels', () => {
  test.each([1, 2, 3])('[N2] a drain takes the oldest of all that is owed (seed %i)', (seed) => {
    const chance = createChance(seed);
    const story = createStory();
    const admin = createPrincipal('root', { kind: 'admin' });
    const names = Array.from({ length: 12 }, (_, i) => `a:${i}`);
    const held: ReturnType<typeof story.send>[] = [];
    story.subscribe(bob, 'a:*');
    for (let step = 0; step < 600; step++) {
      const dice = chance.int(0, 100);
      if (dice < 50) story.send(ada, chance.pick(names));
      else if (dice < 60) held.push(story.send(eve, chance.pick(names)));
      else if (dice < 70 && held.length > 0) {
        story.review(admin, held.splice(chance.int(0, held.length - 1), 1)[0] as never, dice < 67);
      } else if (dice < 75) story.pass(1_000);
      else if (dice < 76) story.do(bob, { type: 'inbox.commit', through: chance.int(0, 1_000) });
      else story.drain(bob, { max: chance.int(1, 9), ...(dice < 90 && { leaseMs: 1_000 }) });
      const all: number[] = [];
      for (const { again, cursor, channel } of story.world.agents.get('bob')?.ready ?? []) {
        const { positions } = channel;
        all.push(...again.map((seq) => positions.at(seq)));
        for (let seq = nextFree(channel, cursor); seq <= positions.head; seq++) {
          if (!channel.held?.has(seq)) all.push(positions.at(seq));
        }
      }
      all.sort((a, b) => a - b);
      expect(all).toHaveLength(owedTotal(story.world.agents.get('bob')));
      for (const max of [1, 7, 1_000]) {
        const owed = peek(story.world, 'bob', null, max);
        if (!Array.isArray(owed)) expect.fail(owed.refused);
        expect(owed.map(({ position }) => position)).toEqual(all.slice(0, max));
      }
    }
  });

  test('[N10] a drain of 50 from 3,000 channels with mail looks at what it takes', () => {
    const story = createStory();
    story.subscribe(bob, 'a:*');
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 3_000; i++) story.send(ada, `a:${i}`);
    }
    using looks = vi.spyOn(Positions.prototype, 'at');
    expect(story.drain(bob, { max: 50 }).taken).toHaveLength(50);
    expect(looks.mock.calls.length).toBeLessThan(300);
  });
});
