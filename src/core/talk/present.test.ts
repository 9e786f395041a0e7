import { expect, test } from 'vitest';
import { createPrincipal, createStory } from '../../testing/story.ts';
import { isWorthShowing } from './present.ts';

const [ada, bob] = ['ada', 'bob'].map((id) => createPrincipal(id)) as [never, never];

test('[R5] what a hook showed is presented, and nothing between that it did not show', () => {
  const story = createStory();
  story.subscribe(bob, 'a');
  const sent = [0, 1, 2, 3].map(() => story.send(ada, 'a'));
  const show = (...indexes: number[]) => {
    const shown = new Set(indexes.map((i) => sent[i]?.position as number));
    story.do(bob, { type: 'inbox.present', shown });
    return sent.map((one) => story.states(one).bob);
  };
  expect(show(0, 1)).toEqual(['presented', 'presented', 'accepted', 'accepted']);
  expect(show(0, 1, 3)).toEqual(['accepted', 'accepted', 'accepted', 'presented']);
  expect(show(0, 1, 2, 3)).toEqual(['presented', 'presented', 'presented', 'presented']);
  expect(story.take(bob)).toEqual([1, 2, 3, 4]);
});

test('[R5] an agent that is owed nothing is shown nothing, and is not made known by it', () => {
  const story = createStory();
  story.do(bob, { type: 'inbox.present', shown: new Set([1]) });
  expect(story.events).toEqual([]);
  expect(story.world.agents.size).toBe(0);
});

test('[R5] its own words and what has expired are not worth showing', () => {
  expect(isWorthShowing({ by: 'ada' }, 'bob', 5)).toBe(true);
  expect(isWorthShowing({ by: 'bob' }, 'bob', 5)).toBe(false);
  expect(isWorthShowing({ by: 'ada', expiresAt: 5 }, 'bob', 5)).toBe(false);
});
