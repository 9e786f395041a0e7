import { expect, test } from 'vitest';
import { codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { OFFLINE_AFTER_MS, STALE_AFTER_MS } from '../law/limits.ts';

const ada = createPrincipal('ada');
const spy = createPrincipal('spy', { kind: 'observer' });

const beat = (
  story: Story,
  status: 'online' | 'busy' | 'offline' = 'online',
  ttlMs: number | null = null,
) => story.do(ada, { type: 'presence.beat', status, ttlMs });
const told = (story: Story): string[] =>
  story.events.flatMap((event) =>
    event.type === 'message.sent' && event.channel === 'sox/presence'
      ? [(JSON.parse(event.body) as { event: string }).event]
      : [],
  );

test('[PR1] only a change of state is an event on sox/presence, the first beat included', () => {
  const story = createStory();
  beat(story);
  beat(story);
  beat(story, 'busy');
  beat(story, 'busy');
  beat(story, 'offline');
  expect(told(story)).toEqual(['agent_online', 'agent_busy', 'agent_offline']);
});

test('[PR1] a beat that changes nothing is not history', () => {
  const story = createStory();
  beat(story);
  const length = story.entries.length;
  for (let i = 0; i < 10; i++) beat(story);
  expect(story.entries).toHaveLength(length);
});

test('[PR2] silence makes an agent stale and then offline, by deadline', () => {
  const story = createStory();
  expect(beat(story)).toEqual({ expiresAt: story.at + STALE_AFTER_MS });
  story.pass(STALE_AFTER_MS - 1);
  expect(told(story)).toEqual(['agent_online']);
  story.pass(1);
  expect(told(story)).toEqual(['agent_online', 'agent_stale']);
  story.pass(OFFLINE_AFTER_MS - STALE_AFTER_MS);
  expect(told(story)).toEqual(['agent_online', 'agent_stale', 'agent_offline']);
  // What is left is the look for what may lapse.
  expect(story.world.deadlines).toMatchObject({ size: 1, next: { kind: 'sweep' } });
});

test('[PR2] a beat puts the silence off, and a shorter one brings it forward', () => {
  const story = createStory();
  beat(story);
  story.pass(STALE_AFTER_MS - 1);
  beat(story);
  story.pass(STALE_AFTER_MS - 1);
  expect(told(story)).toEqual(['agent_online']);
  beat(story, 'online', 1000);
  story.pass(1000);
  expect(told(story)).toEqual(['agent_online', 'agent_stale']);
});

test('[PR3] with a time to live of its own an agent is offline after three times that', () => {
  const story = createStory();
  beat(story, 'online', 1000);
  story.pass(2999);
  expect(story.world.agents.get('ada')?.presence.state).toBe('stale');
  story.pass(1);
  expect(story.world.agents.get('ada')?.presence.state).toBe('offline');
});

test('[PR2] a clock that jumps tells both transitions', () => {
  const story = createStory();
  beat(story);
  story.at += 10 * OFFLINE_AFTER_MS;
  story.pass(0);
  expect(told(story)).toEqual(['agent_online', 'agent_stale', 'agent_offline']);
});

test('[PR4] an agent that reports offline is not looked for any more', () => {
  const story = createStory();
  beat(story);
  beat(story, 'offline');
  story.pass(OFFLINE_AFTER_MS * 2);
  expect(told(story)).toEqual(['agent_online', 'agent_offline']);
});

test('[PR4] however an agent beats, one deadline waits for it', () => {
  const story = createStory();
  for (let i = 0; i < 100; i++) beat(story, i % 2 ? 'busy' : 'online', 1000 * (200 - i));
  // And one for what may lapse.
  expect(story.world.deadlines.size).toBe(2);
});

test('[PR5] an observer has no presence', () => {
  expect(
    codeOf(createStory().do(spy, { type: 'presence.beat', status: 'online', ttlMs: null })),
  ).toBe('access.denied');
});

test('[PR6] a hub that has just started gives an agent its time before silence counts', () => {
  const story = createStory();
  story.do(ada, { type: 'presence.beat', status: 'online', ttlMs: null });
  story.at += 3_600_000;
  story.world.awakeFrom = story.at;
  story.pass(29_999);
  expect(story.world.agents.get('ada')?.presence.state).toBe('online');
  story.pass(1);
  expect(story.world.agents.get('ada')?.presence.state).toBe('stale');
});
