/** Whose body may go, and that the world is the same without it. */
import { expect, test } from 'vitest';
import { portray } from '../../testing/compare.ts';
import { accepted, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { createDropper } from './drop-body.ts';
import { decodeEvent, decodeMessage } from './entry.ts';
import { DAY_MS } from './limits.ts';
import { createWorld } from './state.ts';
import { evolve } from './world.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const eve = createPrincipal('eve', { tier: 'untrusted' });
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });

/** Positions whose bodies would go. */
function dropped(story: Story, olderThanMs: number | null = null): number[] {
  const drop = createDropper(story.world, story.at, olderThanMs);
  return story.entries.flatMap((entry, position) =>
    drop(entry, position) === null ? [] : [position],
  );
}

const body = '{"secret":1}';

test('[RT1] without a retention nothing goes, unless the one who compacts gives an age', () => {
  const story = createStory();
  story.send(ada, 'a', { body });
  story.at += 2 * DAY_MS;
  story.send(ada, 'a', { body });
  expect(dropped(story)).toEqual([]);
  expect(dropped(story, DAY_MS)).toEqual([0]);
});

test('[RT1] a channel’s retention goes before the space’s, and that before the age given', () => {
  const story = createStory();
  story.send(ada, 'short', { body });
  story.send(ada, 'long', { body });
  story.send(ada, 'plain', { body });
  accepted(story.do(root, { type: 'space.configure', change: { messageRetentionMs: 2 * DAY_MS } }));
  const configure = (channel: string, messageRetentionMs: number) =>
    accepted(
      story.do(root, { type: 'channel.configure', channel, change: { messageRetentionMs } }),
    );
  configure('short', DAY_MS);
  configure('long', 10 * DAY_MS);
  story.at += DAY_MS;
  expect(dropped(story, 1)).toEqual([0]);
  story.at += DAY_MS;
  expect(dropped(story, 1)).toEqual([0, 2]);
});

test('[RT1] what somebody is owed, has on lease, or a person must decide on stays', () => {
  const story = createStory();
  story.subscribe(bob, 'a', 'b', 'c');
  story.send(ada, 'a', { body });
  story.send(ada, 'b', { body });
  story.send(eve, 'c', { body });
  story.send(ada, 'd', { body });
  story.take(bob, { channels: ['b'], leaseMs: 60_000 });
  story.at += 10;
  expect(dropped(story, 1)).toEqual([6]);
  story.take(bob, { channels: ['a'] });
  expect(dropped(story, 1)).toEqual([3, 6]);
});

test('[RT1] what stays says that it was dropped, keeps all but the body, and makes the same world', () => {
  const story = createStory();
  story.subscribe(bob, 'a');
  story.send(ada, 'a', { body, key: 'k', correlationId: 'c' });
  story.take(bob);
  story.send(bob, 'a', { body, replyTo: 1 });
  story.take(bob);
  story.at += 10;
  const drop = createDropper(story.world, story.at, 1);
  const kept = story.entries.map((entry, position) => drop(entry, position) ?? entry);
  expect(kept.join()).not.toContain('secret');
  expect(decodeMessage(kept[1] as string)).toMatchObject({
    by: 'ada',
    channel: 'a',
    seq: 1,
    key: 'k',
    correlationId: 'c',
    dropped: true,
    body: {},
  });
  const world = createWorld();
  kept.forEach((entry, position) => {
    evolve(world, decodeEvent(entry), position);
  });
  expect(portray(world, 'durable')).toBe(portray(story.world, 'durable'));
  expect(kept.map((entry, position) => drop(entry, position)).every((one) => one === null)).toBe(
    true,
  );
});

test('[FI7] words of findings and recalls go by the space’s memory retention alone, once', () => {
  const story = createStory();
  const recall = { queryText: 'q', returnedIds: ['1'], wasUsed: true, hasAbstained: null };
  story.do(ada, { type: 'recall.log', ...recall });
  const change = { memoryRetentionMs: 2 * DAY_MS };
  story.at += DAY_MS;
  expect(dropped(story, 1)).toEqual([]);
  accepted(story.do(root, { type: 'space.configure', change }));
  expect(dropped(story)).toEqual([]);
  story.at += 2 * DAY_MS;
  expect(dropped(story)).toEqual([0]);
  const drop = createDropper(story.world, story.at, null);
  const stays = drop(story.entries[0] ?? '', 0) ?? '';
  expect(decodeEvent(stays)).toMatchObject({ by: 'ada', queryText: '', dropped: true });
  expect(drop(stays, 0)).toBeNull();
});

test('[CX10] an old value of context goes when its key holds another, and the world is the same', () => {
  const story = createStory();
  const set = { type: 'context.set', ns: 'plan', ifVersion: null, ttlMs: null } as const;
  story.do(ada, { ...set, key: 'goal', value: 'first' });
  story.do(ada, { ...set, key: 'stays', value: 'held' });
  story.do(ada, { ...set, key: 'goal', value: 'second' });
  story.do(ada, { type: 'context.delete', ns: 'plan', key: 'x', prefix: null, ifVersion: null });
  story.at += 3 * DAY_MS;
  expect(dropped(story, 1)).toEqual([]);
  accepted(story.do(root, { type: 'space.configure', change: { memoryRetentionMs: 2 * DAY_MS } }));
  story.do(ada, { ...set, key: 'goal', value: 'third' });
  expect(dropped(story)).toEqual([0, 2]);
  const drop = createDropper(story.world, story.at, null);
  const world = createWorld();
  story.entries.forEach((entry, position) => {
    const left = drop(entry, position) ?? entry;
    expect(drop(left, position)).toBe(left === entry ? drop(entry, position) : null);
    evolve(world, decodeEvent(left), position);
  });
  expect(portray(world, 'durable')).toBe(portray(story.world, 'durable'));
  expect(decodeEvent(drop(story.entries[0] ?? '', 0) ?? '')).toMatchObject({
    ...{ value: null, dropped: true, was: 0, prior: 0, bytes: 7 },
  });
});
