import { describe, expect, test } from 'vitest';
import { accepted, codeOf, createPrincipal, createStory } from '../../testing/story.ts';
import { AGENTS_MAX, SUBSCRIPTIONS_PER_AGENT_MAX } from '../law/limits.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const spy = createPrincipal('spy', { kind: 'observer' });

describe('subscribing', () => {
  test('[S1] subscribing twice to the same pattern is once', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    story.subscribe(bob, 'a');
    expect(story.entries).toHaveLength(1);
    story.send(ada, 'a');
    expect(story.take(bob)).toEqual([1]);
  });

  test('[S1] the answer names the channels that exist and match, not the pattern', () => {
    const story = createStory();
    story.send(ada, 'team/one');
    story.send(ada, 'other');
    expect(story.do(bob, { type: 'subscription.add', pattern: 'team/*' })).toEqual({
      channels: ['team/one'],
    });
  });

  test('[S2] what was sent before is not owed', () => {
    const story = createStory();
    story.send(ada, 'a');
    story.subscribe(bob, 'a');
    story.send(ada, 'a');
    expect(story.take(bob)).toEqual([2]);
  });

  test('[S3] overlapping subscriptions deliver once', () => {
    const story = createStory();
    story.subscribe(bob, 'a*', 'ab', '*');
    story.send(ada, 'ab');
    expect(story.take(bob)).toEqual([1]);
    expect(story.take(bob)).toEqual([]);
  });

  test('[S3] a glob reaches channels that come later', () => {
    const story = createStory();
    story.subscribe(bob, 'ticket:*');
    story.send(ada, 'ticket:1');
    expect(story.take(bob)).toEqual([1]);
  });

  test('[S4] leaving discards only what no remaining subscription matches', () => {
    const story = createStory();
    story.subscribe(bob, 'team/*', 'team/one');
    story.send(ada, 'team/one');
    story.send(ada, 'team/two');
    expect(story.do(bob, { type: 'subscription.remove', patterns: ['team/*'] })).toEqual({
      patterns: ['team/*', 'team/one'],
      cleared: 2,
    });
    story.subscribe(bob, 'team/*', 'team/one');
    story.send(ada, 'team/one');
    story.send(ada, 'team/two');
    expect(story.do(bob, { type: 'subscription.remove', patterns: ['team/one'] })).toEqual({
      patterns: ['team/one'],
      cleared: 0,
    });
    expect(story.drain(bob).taken.map(({ channel }) => channel)).toEqual(['team/one', 'team/two']);
  });

  test('[S5] leaving what one is not subscribed to changes nothing', () => {
    const story = createStory();
    expect(story.do(bob, { type: 'subscription.remove', patterns: ['a'] })).toEqual({
      patterns: [],
      cleared: 0,
    });
    expect(story.entries).toEqual([]);
  });

  test('[C4] unsubscribing by glob leaves dm and group subscriptions alone', () => {
    const story = createStory();
    story.send(ada, 'dm/ada~bob');
    story.subscribe(bob, 'a');
    expect(story.do(bob, { type: 'subscription.remove', patterns: ['*'] })).toEqual({
      patterns: ['a'],
      cleared: 0,
    });
    expect(story.take(bob)).toEqual([1]);
  });

  test('[S6] an observer has no inbox', () => {
    const story = createStory();
    expect(codeOf(story.do(spy, { type: 'subscription.add', pattern: 'a' }))).toBe('access.denied');
  });

  test('[S7] an agent has a bounded number of subscriptions, and a space of agents', () => {
    const story = createStory();
    for (let i = 0; i < SUBSCRIPTIONS_PER_AGENT_MAX; i++) story.subscribe(bob, `c${i}`);
    const more = { type: 'subscription.add', pattern: 'more' } as const;
    expect(codeOf(story.do(bob, more))).toBe('limit.reached');
    expect(codeOf(story.do(bob, { ...more, pattern: 'c0' }))).toBeNull();
    for (let i = story.world.agents.size; i < AGENTS_MAX; i++) {
      story.world.agents.set(`agent${i}`, story.world.agents.get('bob') as never);
    }
    expect(codeOf(story.do(ada, more))).toBe('limit.reached');
    expect(codeOf(story.trySend(bob, 'dm/bob~zoe'))).toBe('limit.reached');
  });
});

test('[S7] what one agent’s globs cost when a channel comes is bounded, and ordinary ones are not kept out', () => {
  const story = createStory();
  const glob = (start: string, i: number): string => `${start}*${'a'.repeat(200)}b${i}`;
  const tries = Array.from({ length: 100 }, (_, i) =>
    story.do(ada, { type: 'subscription.add', pattern: glob(i % 2 === 0 ? '' : 'x', i) }),
  );
  const refused = tries.filter((one) => codeOf(one) === 'limit.reached');
  expect(refused.length).toBeGreaterThan(55);
  const [pattern = ''] = story.world.agents.get('ada')?.patterns ?? [];
  story.do(ada, { type: 'subscription.remove', patterns: [pattern] });
  expect(codeOf(story.do(ada, { type: 'subscription.add', pattern: glob('', 0) }))).toBe(null);
  for (let i = 0; i < SUBSCRIPTIONS_PER_AGENT_MAX; i++) {
    accepted(story.do(bob, { type: 'subscription.add', pattern: `team/${i}/*` }));
  }
});
