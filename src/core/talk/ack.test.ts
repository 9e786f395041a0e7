import { expect, test } from 'vitest';
import { codeOf, createPrincipal, createStory } from '../../testing/story.ts';
import type { Agent } from '../law/state.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const cat = createPrincipal('cat');

test('[A1] an ack moves forward only, one record per message and agent', () => {
  const story = createStory();
  story.subscribe(bob, 'a');
  story.subscribe(cat, 'a');
  const sent = story.send(ada, 'a');
  for (const status of ['received', 'processing', 'done'] as const) {
    expect(codeOf(story.ack(bob, sent, status))).toBeNull();
  }
  expect(codeOf(story.ack(bob, sent, 'processing'))).toBe('ack.backward');
  expect(codeOf(story.ack(bob, sent, 'nack'))).toBe('ack.backward');
  expect(codeOf(story.ack(cat, sent, 'nack', 'no'))).toBeNull();
  expect(story.states(sent)).toEqual({ bob: 'acted', cat: 'refused' });
});

test('[A1] the same ack again answers with the time of the first and stores nothing', () => {
  const story = createStory();
  story.subscribe(bob, 'a');
  const sent = story.send(ada, 'a');
  const first = story.ack(bob, sent, 'done');
  story.at += 1000;
  expect(story.ack(bob, sent, 'done')).toEqual(first);
  expect(story.events.filter(({ type }) => type === 'ack.recorded')).toHaveLength(1);
});

test('[A2] an ack is no message on its channel', () => {
  const story = createStory();
  story.subscribe(bob, 'a');
  const sent = story.send(ada, 'a');
  story.ack(bob, sent, 'done');
  expect(story.world.channels.get('a')?.positions.head).toBe(1);
});

test('[A2] whoever follows sox/acks hears of acks on plain channels, never of private ones', () => {
  const story = createStory();
  story.subscribe(cat, 'sox/acks');
  story.subscribe(bob, 'a');
  story.ack(bob, story.send(ada, 'a'), 'done');
  story.ack(bob, story.send(ada, 'dm/ada~bob'), 'done');
  expect(story.take(cat)).toEqual([1]);
  expect(
    JSON.parse(story.entries.find((entry) => entry.includes('sox/acks","seq')) ?? '{}').body,
  ).toEqual({
    message_id: 'm2',
    agent_id: 'bob',
    status: 'done',
    reason: null,
    acked_at: story.at / 1000,
  });
});

test('[A3] only who was owed a message acks it', () => {
  const story = createStory();
  const sent = story.send(ada, 'a');
  story.subscribe(bob, 'a');
  expect(codeOf(story.ack(bob, sent, 'done'))).toBe('ack.not-recipient');
});

test('[A4] what is too old to be remembered cannot be acked', () => {
  const story = createStory();
  story.subscribe(bob, 'a');
  const sent = story.send(ada, 'a');
  (story.world.agents.get('bob') as Agent).fatesFrom = sent.position + 1;
  expect(codeOf(story.ack(bob, sent, 'done'))).toBe('ack.forgotten');
});
