/** Threads and marks as the law has them: old logs, dropped bodies, channels that go, and bounds. */
import { expect, test } from 'vitest';
import { portray } from '../../testing/compare.ts';
import { codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { createDropper } from '../law/drop-body.ts';
import { decodeEvent } from '../law/entry.ts';
import { freezeWorld, thawWorld } from '../law/snapshot.ts';
import { createWorld, type World } from '../law/state.ts';
import { evolve } from '../law/world.ts';
import type { Mark } from './mark.ts';
import { PINS_PER_AGENT_MAX } from './thread-limits.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const hana = createPrincipal('hana', { kind: 'human' });

const mark = (story: Story, by: typeof ada, position: number, what: Mark, channel = 'a') => {
  const seq = story.world.channels.get(channel)?.positions.lastAtOrBefore(position) || 1;
  const root = { position, channel, seq, sender: 'ada', owners: [] };
  const command = {
    type: 'thread.mark',
    root,
    mark: what,
    note: 'n',
    expectedVersion: null,
  } as const;
  return story.do(by, command);
};

function told(entries: readonly string[]): World {
  const world = createWorld();
  for (const [position, entry] of entries.entries()) evolve(world, decodeEvent(entry), position);
  return world;
}

function tellSome(): Story {
  const story = createStory();
  const root = story.send(ada, 'a');
  const first = story.send(bob, 'a', { replyTo: root.position });
  story.send(ada, 'b', { replyTo: first.position, isQuote: true });
  story.send(ada, 'a', { replyTo: first.position });
  mark(story, ada, root.position, 'close');
  return story;
}

test('[TM12] [L6] a log from before threads has the same threads by its replies', () => {
  const { world, entries } = tellSome();
  const old = entries.map((entry) => {
    const { root: _, quote: __, ...event } = JSON.parse(entry) as Record<string, unknown>;
    return JSON.stringify(event);
  });
  expect(portray(told(old), 'durable')).toBe(portray(world, 'durable'));
  expect(world.channels.get('a')?.threads?.countOf(1)).toBe(2);
  expect(world.channels.get('b')?.threads).toBeNull();
});

test('[TM12] [RT1] a dropped body leaves its message where it is in its thread', () => {
  const { world, entries, at } = tellSome();
  const drop = createDropper(world, at + 1_000, 1);
  const compacted = entries.map((entry, position) => drop(entry, position) ?? entry);
  expect(compacted.filter((entry) => entry.includes('"dropped":true'))).toHaveLength(4);
  expect(portray(told(compacted), 'durable')).toBe(portray(world, 'durable'));
});

test('[TM12] [GA3] with its channel a thread is gone, and the name again begins without any', () => {
  const story = tellSome();
  story.do(hana, { type: 'channel.retire', channel: 'a', isForced: true });
  expect(codeOf(mark(story, ada, 0, 'reopen'))).toBe('channel.retired');
  expect(codeOf(story.trySend(bob, 'a', { replyTo: 0 }))).toBe('reply.elsewhere');
  story.send(bob, 'a');
  expect(story.world.channels.get('a')?.threads).toBeNull();
  expect(codeOf(mark(story, ada, 0, 'reopen'))).toBe('channel.retired');
});

test('[TM4] a repeated key is answered as before, though the thread was closed since', () => {
  const story = createStory();
  const root = story.send(ada, 'a');
  const reply = { replyTo: root.position, key: 'k' };
  const first = story.send(bob, 'a', reply);
  mark(story, ada, root.position, 'close');
  expect(story.send(bob, 'a', reply)).toMatchObject({ position: first.position, isRepeat: true });
});

test('[TM3] one agent pins so many of a channel, and a person more', () => {
  const story = createStory();
  const roots = Array.from({ length: PINS_PER_AGENT_MAX + 1 }, () => story.send(ada, 'a').position);
  const last = roots.pop() as number;
  for (const root of roots) mark(story, ada, root, 'pin');
  expect(codeOf(mark(story, ada, last, 'pin'))).toBe('limit.reached');
  expect(codeOf(mark(story, hana, last, 'pin'))).toBeNull();
  mark(story, ada, last, 'unpin');
  mark(story, ada, roots[0] as number, 'unpin');
  expect(codeOf(mark(story, ada, last, 'pin'))).toBeNull();
  expect(portray(thawWorld(freezeWorld(story.world)) as World)).toBe(portray(story.world));
});

test('[TM7] who may mark opens a closed thread with a reply; both are stored together', () => {
  const story = tellSome();
  const reopens = { position: 0, channel: 'a', seq: 1, sender: 'ada', owners: ['cyd'] };
  const reply = { replyTo: 1, reopens };
  const before = story.entries.length;
  expect(codeOf(story.trySend(bob, 'a', { replyTo: 1 }))).toBe('thread.closed');
  expect(codeOf(story.trySend(bob, 'a', reply))).toBe('mark.not-author');
  const eve = createPrincipal('eve', { tier: 'untrusted' });
  const own = { ...reply, reopens: { ...reopens, owners: ['eve'] } };
  expect(codeOf(story.trySend(eve, 'a', own))).toBe('access.denied');
  expect(story.entries.length).toBe(before);
  const sent = story.send(createPrincipal('cyd'), 'a', reply);
  expect(sent.position).toBe(before);
  expect(story.entries.slice(before).map((entry) => decodeEvent(entry).type)).toEqual([
    ...['message.sent', 'thread.marked'],
  ]);
  // One that is open is simply replied to.
  story.send(createPrincipal('cyd'), 'a', reply);
  expect(story.entries.length).toBe(before + 3);
});

test('[TM9] a standing channel stays, one that is only described lapses like others', () => {
  const story = createStory();
  const describe = (channel: string, isStanding: boolean) =>
    story.do(ada, { type: 'channel.describe', channel, change: { title: 't', isStanding } });
  describe('stands', true);
  describe('passes', false);
  story.pass(3 * 3_600_000);
  expect([...story.world.channels.keys()]).toEqual(['stands', 'passes']);
  story.pass(3 * 86_400_000);
  expect([...story.world.channels.keys()]).toEqual(['stands']);
});
