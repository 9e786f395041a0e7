/** What can be taken away, by whom, what lapses by itself, and that a name used again is a new thing. */
import { describe, expect, test } from 'vitest';
import { portray } from '../../testing/compare.ts';
import { accepted, codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { isRefusal } from '../law/decider.ts';
import { decodeEvent } from '../law/entry.ts';
import { DAY_MS, LAPSES_PER_LOOK_MAX, SWEEP_EVERY_MS } from '../law/limits.ts';
import { freezeWorld, thawWorld } from '../law/snapshot.ts';
import { createWorld } from '../law/state.ts';
import { evolve } from '../law/world.ts';
import { TTL_MS_MIN } from '../work/claim/claim-limits.ts';
import { checkReplay } from './channel.ts';
import { peek } from './inbox.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const eve = createPrincipal('eve', { tier: 'untrusted' });
const mia = createPrincipal('mia', { kind: 'human' });
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });

const retire = (story: Story, by: typeof ada, channel: string, isForced = false) =>
  story.do(by, { type: 'channel.retire', channel, isForced });
const remove = (story: Story, agent: string, isForced = false, by = root) =>
  story.do(by, { type: 'agent.remove', agent, isForced });

/** The log and a snapshot must both tell of the very same world. */
function expectSame(story: Story): void {
  const rebuilt = createWorld();
  story.entries.forEach((entry, position) => {
    evolve(rebuilt, decodeEvent(entry), position);
  });
  expect(portray(rebuilt, 'durable')).toBe(portray(story.world, 'durable'));
  const thawed = thawWorld(freezeWorld(story.world));
  expect(thawed && portray(thawed)).toBe(portray(story.world));
}

describe('channels', () => {
  test('[GA1] a channel nobody counts on is retired by whoever may write there', () => {
    const story = createStory();
    story.subscribe(ada, 'a');
    story.send(bob, 'a');
    expect(codeOf(retire(story, ada, 'a'))).toBe('channel.in-use');
    story.take(ada);
    expect(codeOf(retire(story, bob, 'a'))).toBe('channel.in-use');
    expect(accepted(retire(story, ada, 'a'))).toEqual({ messages: 1 });
    expect(story.world.channels.has('a')).toBe(false);
    expect(story.world.agents.get('ada')?.patterns.size).toBe(0);
    expect(codeOf(retire(story, ada, 'a'))).toBe('channel.not-found');
    expectSame(story);
  });

  test('[GA1] what is owed, leased or held is given up only by a person who insists', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    story.send(ada, 'a');
    story.take(bob, { leaseMs: 60_000 });
    story.send(eve, 'a');
    expect(retire(story, mia, 'a')).toMatchObject({
      refused: 'channel.in-use',
      detail: { owed: 1, subscribers: 1, held: 1 },
    });
    expect(codeOf(retire(story, ada, 'a', true))).toBe('access.denied');
    accepted(retire(story, mia, 'a', true));
    expect(story.world.held.size).toBe(0);
    expect(story.world.agents.get('bob')).toMatchObject({ leasedCount: 0 });
    story.pass(120_000);
    expectSame(story);
  });

  test('[GA1] [GA3] a name used again is another channel: it counts from 1 and tells nothing of before', () => {
    const story = createStory();
    story.subscribe(bob, '*');
    const before = story.send(ada, 'a');
    story.take(bob);
    story.ack(bob, before, 'done');
    accepted(retire(story, ada, 'a'));
    expect(story.states(before)).toEqual({});
    const after = story.send(ada, 'a');
    expect(after.seq).toBe(1);
    expect(story.states(before)).toEqual({});
    expect(story.states(after)).toEqual({ bob: 'accepted' });
    expect(codeOf(story.ack(bob, before, 'nack'))).toBe('ack.not-recipient');
    expect(story.take(bob)).toEqual([1]);
    expectSame(story);
  });

  test('[GA3] a drain of what was peeked before takes nothing from the new channel', () => {
    const story = createStory();
    story.subscribe(bob, '*');
    story.send(ada, 'a');
    const owed = accepted(peek(story.world, 'bob', null, 10));
    accepted(retire(story, root, 'a', true));
    story.send(ada, 'a');
    const drain = { type: 'inbox.drain', owed, expired: new Set<number>(), leaseMs: null } as const;
    expect(accepted(story.do(bob, drain))).toMatchObject({ taken: [] });
    expect(story.take(bob)).toEqual([1]);
  });

  test('[GA1] what an administrator laid down for a channel ends with it only if a person insists', () => {
    const story = createStory();
    const change = { replayPolicy: 'admin_only' } as const;
    accepted(story.do(root, { type: 'channel.configure', channel: 'a', change }));
    story.subscribe(ada, 'a');
    const refused = { refused: 'channel.in-use', detail: { configured: true } };
    expect(retire(story, ada, 'a')).toMatchObject(refused);
    expect(story.world.channels.get('a')?.settings).toMatchObject(change);
    expect(retire(story, mia, 'a')).toMatchObject(refused);
    accepted(retire(story, mia, 'a', true));
  });

  test('[GA1] replay of a retired channel says so until its name is used again', () => {
    const story = createStory();
    story.send(ada, 'a');
    accepted(retire(story, ada, 'a'));
    expect(checkReplay(story.world, root, 'a')).toMatchObject({
      refused: 'channel.retired',
      detail: { by: 'ada' },
    });
    story.send(ada, 'a');
    expect(checkReplay(story.world, root, 'a')).toBeNull();
  });
});

describe('groups', () => {
  const create = {
    type: 'group.create',
    group: 'group/g',
    displayName: null,
    replayPolicy: null,
  } as const;

  test('[GR8] its creator or an administrator dissolves a group, and nobody else', () => {
    const story = createStory();
    accepted(story.do(ada, create));
    accepted(
      story.do(ada, { type: 'group.invite', group: 'group/g', agent: 'bob', message: null }),
    );
    accepted(story.do(bob, { type: 'group.join', group: 'group/g' }));
    const dissolve = { type: 'group.remove', group: 'group/g' } as const;
    expect(codeOf(story.do(bob, dissolve))).toBe('access.denied');
    expect(codeOf(story.do(eve, dissolve))).toBe('group.not-member');
    expect(codeOf(retire(story, root, 'group/g', true))).toBe('channel.in-use');
    expect(accepted(story.do(ada, dissolve))).toEqual({ memberCount: 2 });
    expect(story.world.agents.get('bob')?.patterns.size).toBe(0);
    expectSame(story);
    accepted(story.do(bob, create));
    expect(codeOf(story.do(ada, { type: 'group.join', group: 'group/g' }))).toBe(
      'group.not-invited',
    );
    accepted(story.do(root, dissolve));
    expect(story.world.groups.size).toBe(0);
  });
});

describe('agents', () => {
  test('[GA2] an agent that is there, holds work or has a live token is removed by force alone', () => {
    const story = createStory();
    story.subscribe(bob, 'a', 'team/*');
    story.send(ada, 'dm/ada~bob');
    accepted(story.do(bob, { type: 'presence.beat', status: 'online', ttlMs: null }));
    accepted(
      story.do(bob, {
        type: 'claim.take',
        id: 't',
        epoch: null,
        scope: null,
        ttlMs: TTL_MS_MIN,
        note: null,
        git: null,
        idempotency: null,
      }),
    );
    accepted(
      story.do(root, {
        type: 'token.create',
        id: 'k1',
        agent: 'bob',
        kind: 'agent',
        tier: 'standard',
        hash: 'h',
        label: null,
        roles: [],
        expiresAt: null,
      }),
    );
    expect(codeOf(remove(story, 'bob', true, ada))).toBe('access.denied');
    expect(codeOf(remove(story, 'nobody'))).toBe('agent.not-found');
    const refusal = remove(story, 'bob');
    expect(isRefusal(refusal) && refusal.message).toMatch(/online.*claims.*1 of its tokens/);
    expect(accepted(remove(story, 'bob', true))).toEqual({
      subscriptions: 3,
      tokens: ['k1'],
      channels: 0,
    });
    expect(story.world.agents.has('bob')).toBe(false);
    expect(story.world.claims.claims.get('t')).toBeUndefined();
    expect(story.world.tokens.get('k1')?.revokedAt).toBe(story.at);
    expect(story.world.globs.size).toBe(0);
    story.pass(3_600_000);
    expect(story.world.agents.has('bob')).toBe(false);
    expectSame(story);
  });

  test('[GA2] with the last of two parties a dm goes too, and nothing of an agent is left', () => {
    const story = createStory();
    story.send(ada, 'dm/ada~bob');
    accepted(remove(story, 'bob'));
    expect(story.world.channels.has('dm/ada~bob')).toBe(true);
    accepted(remove(story, 'ada'));
    expect(story.world.channels.size + story.world.agents.size).toBe(0);
    expectSame(story);
  });
});

describe('what lapses', () => {
  test('[GA4] a held message no person decided on expires, with a receipt, and makes room', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const held = story.send(eve, 'a');
    accepted(story.do(root, { type: 'space.configure', change: { heldTtlMs: DAY_MS } }));
    story.pass(DAY_MS - 1);
    expect(story.states(held)).toEqual({ bob: 'held' });
    story.pass(1);
    expect(story.states(held)).toEqual({ bob: 'expired' });
    expect(story.world.held.size).toBe(0);
    expect(codeOf(story.review(mia, held, true))).toBe('message.not-held');
    story.send(ada, 'a');
    expect(story.take(bob)).toEqual([2]);
    expectSame(story);
  });

  test('[GA5] a channel without subscribers, messages or settings lapses at the next look', () => {
    const story = createStory();
    story.subscribe(ada, 'typo', 'a');
    accepted(story.do(ada, { type: 'subscription.remove', patterns: ['typo'] }));
    story.send(ada, 'spoken');
    story.pass(SWEEP_EVERY_MS);
    expect([...story.world.channels.keys()].sort()).toEqual(['a', 'spoken']);
    expectSame(story);
  });

  test('[GA5] one that was spoken on lapses when none of its messages is to be kept', () => {
    const story = createStory();
    accepted(
      story.do(root, { type: 'space.configure', change: { messageRetentionMs: 7 * DAY_MS } }),
    );
    story.send(ada, 'spoken');
    story.send(eve, 'waiting');
    story.pass(7 * DAY_MS - 1);
    expect(story.world.channels.has('spoken')).toBe(true);
    story.pass(SWEEP_EVERY_MS + 1);
    expect([...story.world.channels.keys()]).toEqual(['waiting']);
  });

  test('[GA5] a group nobody is left in lapses', () => {
    const story = createStory();
    const group = 'group/g';
    accepted(story.do(ada, { type: 'group.create', group, displayName: null, replayPolicy: null }));
    story.pass(SWEEP_EVERY_MS);
    expect(story.world.groups.size).toBe(1);
    accepted(story.do(ada, { type: 'group.leave', group }));
    story.pass(SWEEP_EVERY_MS);
    expect(story.world.groups.size + story.world.channels.size).toBe(0);
    expectSame(story);
  });

  test('[GA5] an agent that stays away is forgotten, unless it is owed something', () => {
    const story = createStory();
    story.subscribe(ada, 'a');
    story.subscribe(bob, 'b');
    story.send(ada, 'b');
    story.pass(30 * DAY_MS - 1);
    expect([...story.world.agents.keys()]).toEqual(['ada', 'bob']);
    story.pass(SWEEP_EVERY_MS + 1);
    expect([...story.world.agents.keys()]).toEqual(['bob']);
    expectSame(story);
  });

  test('[GA5] a hub that slept hears its agents before it forgets any', () => {
    const story = createStory();
    story.subscribe(ada, 'a');
    story.subscribe(bob, 'b');
    // Nothing fell due on the way: the hub was not there.
    const asleep = createStory(story.world, story.at + 40 * DAY_MS);
    asleep.pass(0);
    expect([...story.world.agents.keys()]).toEqual(['ada', 'bob']);
    accepted(asleep.do(ada, { type: 'agent.see' }));
    asleep.pass(SWEEP_EVERY_MS);
    expect([...story.world.agents.keys()]).toEqual(['ada']);
  });

  test('[GA6] one that only looks is seen once a day, and is not forgotten', () => {
    const story = createStory();
    story.subscribe(ada, 'a');
    const before = story.entries.length;
    for (let hour = 0; hour < 40 * 24; hour++) {
      accepted(story.do(ada, { type: 'agent.see' }));
      story.pass(3_600_000);
    }
    expect(story.world.agents.has('ada')).toBe(true);
    expect(story.entries.length - before).toBe(39);
    accepted(story.do(bob, { type: 'agent.see' }));
    expect(story.world.agents.has('bob')).toBe(false);
  });

  test('[GA5] one look takes a bounded number, and the next goes on', () => {
    const story = createStory();
    const count = LAPSES_PER_LOOK_MAX + 10;
    for (let i = 0; i < count; i++) {
      story.subscribe(ada, `c${i}`);
      accepted(story.do(ada, { type: 'subscription.remove', patterns: [`c${i}`] }));
    }
    story.pass(SWEEP_EVERY_MS);
    expect(story.world.channels.size).toBe(10);
    story.pass(SWEEP_EVERY_MS);
    expect(story.world.channels.size).toBe(0);
  });
});

test('[GA2] [SH1] on request what the agent made goes with it, but for what others follow by name', () => {
  const story = createStory();
  story.subscribe(ada, '*');
  for (let i = 0; i < 5; i++) story.send(bob, `flood/${i}`);
  story.subscribe(ada, 'flood/0');
  story.send(ada, 'work');
  const group = { displayName: null, replayPolicy: null };
  story.do(bob, { type: 'group.create', group: 'group/alone', ...group });
  story.do(bob, { type: 'group.create', group: 'group/shared', ...group });
  story.do(bob, { type: 'group.invite', group: 'group/shared', agent: 'ada', message: null });
  story.do(ada, { type: 'group.join', group: 'group/shared' });
  story.do(root, { type: 'channel.configure', channel: 'flood/1', change: { queueLimit: 5 } });
  const answer = story.do(root, {
    ...{ type: 'agent.remove', agent: 'bob', isForced: true, takesMade: true },
  });
  expect(answer).toMatchObject({ channels: 4 });
  expect([...story.world.channels.keys()].sort()).toEqual([
    ...['flood/0', 'flood/1', 'group/shared', 'work'],
  ]);
  expect([...story.world.groups.keys()]).toEqual(['group/shared']);
  expect(story.world.made.channels.get('bob')).toBe(3);
  expectSame(story);
});
