import { describe, expect, test } from 'vitest';
import { codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import {
  BODY_BYTES_MAX,
  CHANNELS_MAX,
  HELD_MESSAGES_MAX,
  HELD_PER_CHANNEL_MAX,
  IDEMPOTENCY_KEYS_MAX,
  REPLIERS_PER_MESSAGE_MAX,
  RETRY_KEY_TTL_MS,
  RETRY_KEYS_MAX,
} from '../law/limits.ts';
import { roomBesidesOwner } from '../law/shares.ts';
import { messageId, parseMessageId } from './message-id.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const eve = createPrincipal('eve', { tier: 'untrusted' });
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });
const mia = createPrincipal('mia', { kind: 'human', tier: 'owner' });

describe('sending', () => {
  test('[M1] a channel counts its messages from 1 without gaps, each channel for itself', () => {
    const story = createStory();
    const seqs = ['a', 'a', 'b', 'a'].map((channel) => story.send(ada, channel).seq);
    expect(seqs).toEqual([1, 2, 1, 3]);
  });

  test('[M1] acks, drains and beats take no seq of a channel', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const first = story.send(ada, 'a');
    story.take(bob);
    story.ack(bob, first, 'done');
    story.do(ada, { type: 'presence.beat', status: 'online', ttlMs: null });
    expect(story.send(ada, 'a').seq).toBe(2);
  });

  test('[M2] an id names the place of a message in the log, and only a well-formed one is an id', () => {
    expect(parseMessageId(messageId(12))).toBe(12);
    for (const bad of ['12', 'm', 'm012', 'm-1', 'm1.5', 'm1e3', 'm99999999999999999']) {
      expect(parseMessageId(bad)).toBeNull();
    }
  });

  test('[M3] a sender that is subscribed gets its own message', () => {
    const story = createStory();
    story.subscribe(ada, 'a');
    story.send(ada, 'a');
    expect(story.take(ada)).toEqual([1]);
  });

  test('[M4] a repeated key gives the first message again and stores nothing', () => {
    const story = createStory();
    const first = story.send(ada, 'a', { key: 'k' });
    const again = story.send(ada, 'a', { key: 'k', body: '{"other":1}' });
    expect(again).toMatchObject({ position: first.position, seq: 1, at: first.at, isRepeat: true });
    expect(story.entries).toHaveLength(1);
  });

  test('[M4] the same key of another sender is another message', () => {
    const story = createStory();
    for (const key of ['k', 'retry:k']) {
      const first = story.send(ada, 'a', { key });
      expect(story.send(bob, 'a', { key }).seq).toBe(first.seq + 1);
    }
  });

  test('[M4] the same key on another channel is another message', () => {
    const story = createStory();
    story.send(ada, 'a', { key: 'k' });
    expect(story.send(ada, 'b', { key: 'k' }).position).toBe(1);
  });

  test('[M5] a key is forgotten after its time to live, to the millisecond', () => {
    const story = createStory();
    story.do(root, { type: 'space.configure', change: { idempotencyTtlMs: 100 } });
    story.send(ada, 'a', { key: 'k' });
    story.at += 99;
    expect(story.send(ada, 'a', { key: 'k' }).seq).toBe(1);
    story.at += 1;
    expect(story.send(ada, 'a', { key: 'k' }).seq).toBe(2);
    expect(story.world.keys.size).toBe(1);
  });

  test('[M10] a space that remembers as many keys as it may refuses a new one until one is old enough', () => {
    const story = createStory();
    for (let i = 0; i < IDEMPOTENCY_KEYS_MAX; i++) {
      story.world.keys.set(`a\u0000${i}`, { position: i, seq: i, at: story.at + i });
    }
    expect(codeOf(story.trySend(ada, 'a', { key: 'new' }))).toBe('limit.reached');
    expect(codeOf(story.trySend(ada, 'a'))).toBeNull();
    story.at += story.world.settings.idempotencyTtlMs;
    expect(codeOf(story.trySend(ada, 'a', { key: 'new' }))).toBeNull();
  });

  test('[M11] a retry key is remembered for ten minutes, and the oldest make room', () => {
    const story = createStory();
    const first = story.send(ada, 'a', { key: 'retry:1' });
    story.at += RETRY_KEY_TTL_MS - 1;
    expect(story.send(ada, 'a', { key: 'retry:1' }).seq).toBe(first.seq);
    for (let i = 0; i < RETRY_KEYS_MAX; i++) story.send(ada, 'a', { key: `retry:new-${i}` });
    expect(story.world.retries.size).toBeLessThanOrEqual(RETRY_KEYS_MAX);
    expect(story.send(ada, 'a', { key: 'retry:1' }).seq).toBe(RETRY_KEYS_MAX + 2);
    expect(story.world.keys.size).toBe(0);
  });

  test('[M7] a body stays in the log and never in memory', () => {
    const story = createStory();
    const body = JSON.stringify({ text: 'x'.repeat(BODY_BYTES_MAX / 2) });
    story.send(ada, 'a', { body });
    expect(story.entries[0]).toContain(body);
    expect(JSON.stringify([...story.world.channels.values()])).not.toContain('xxxx');
  });

  test('[M8] a channel more than there may be is refused, also by a dm or an invitation', () => {
    const story = createStory();
    story.do(ada, {
      type: 'group.create',
      group: 'group/g',
      displayName: null,
      replayPolicy: null,
    });
    for (let i = story.world.channels.size; i < CHANNELS_MAX; i++) {
      story.world.channels.set(`c${i}`, story.world.channels.get('group/g') as never);
    }
    expect(codeOf(story.trySend(ada, 'new'))).toBe('limit.reached');
    expect(codeOf(story.trySend(ada, 'dm/ada~bob'))).toBe('limit.reached');
    const invite = {
      type: 'group.invite',
      group: 'group/g',
      agent: 'bob',
      message: 'come',
    } as const;
    expect(codeOf(story.do(ada, invite))).toBe('limit.reached');
    expect(codeOf(story.do(ada, { ...invite, message: null }))).toBeNull();
  });

  test('[M9] of the replies to a message one per agent is remembered, and not more than a bound', () => {
    const story = createStory();
    const parent = story.send(ada, 'a');
    for (let i = 0; i < 3; i++) story.send(bob, 'a', { replyTo: parent.position });
    expect(story.world.replies.get(parent.position)?.size).toBe(1);
    for (let i = 0; i < REPLIERS_PER_MESSAGE_MAX + 5; i++) {
      story.send(createPrincipal(`agent${i}`), 'a', { replyTo: parent.position });
    }
    expect(story.world.replies.get(parent.position)?.size).toBe(REPLIERS_PER_MESSAGE_MAX);
  });
});

describe('held messages', () => {
  test('[R6] what an untrusted agent says waits for a person, and readers pass it by', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const held = story.send(eve, 'a');
    story.send(ada, 'a');
    expect(story.states(held)).toEqual({ bob: 'held' });
    expect(story.take(bob)).toEqual([2]);
  });

  test('[R6] nobody is owed a held message: the inbox is empty and not ready', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    story.send(eve, 'a');
    const agent = story.world.agents.get('bob');
    expect(agent?.ready.size).toBe(0);
    expect(story.do(bob, { type: 'subscription.remove', patterns: ['a'] })).toMatchObject({
      cleared: 0,
    });
  });

  test('[R7] a person releases it: who read on is owed it again, who did not meets it in order', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    story.subscribe(ada, 'a');
    const held = story.send(eve, 'a');
    story.send(ada, 'a');
    story.take(bob);
    expect(story.review(mia, held, true)).toBeNull();
    expect(story.take(bob)).toEqual([1]);
    expect(story.take(ada)).toEqual([1, 2]);
    expect(story.states(held)).toEqual({ bob: 'consumed', ada: 'consumed' });
  });

  test('[R7] only a person or an administrator decides, and only once', () => {
    const story = createStory();
    const held = story.send(eve, 'a');
    expect(codeOf(story.review(ada, held, true))).toBe('access.denied');
    expect(codeOf(story.review(eve, held, true))).toBe('access.denied');
    expect(codeOf(story.review(mia, held, false))).toBeNull();
    expect(codeOf(story.review(mia, held, true))).toBe('message.not-held');
  });

  test('[R8] a refused message is handed to nobody, is told as refused, and blocks no queue', () => {
    const story = createStory();
    story.do(root, {
      type: 'space.configure',
      change: { backpressureMode: 'enforced', queueLimit: 1 },
    });
    story.subscribe(bob, 'a');
    const held = story.send(eve, 'a');
    expect(codeOf(story.trySend(ada, 'a'))).toBe('backpressure.over');
    story.review(mia, held, false, 'spam');
    expect(story.receipts(held)).toMatchObject([
      { agent: 'bob', state: 'refused', reason: 'spam' },
    ]);
    expect(story.send(ada, 'a').seq).toBe(2);
    expect(story.take(bob)).toEqual([2]);
  });

  test('[R8] a message refused before its reader came to it is passed with the one before', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    story.send(ada, 'a');
    story.review(mia, story.send(eve, 'a'), false);
    story.take(bob);
    expect(story.send(ada, 'a').depth).toBe(0);
  });

  test('[R8] refusing also frees the room that waiting messages share', () => {
    const story = createStory();
    const held = story.send(eve, 'a');
    fillHeld(story);
    expect(codeOf(story.trySend(eve, 'a'))).toBe('limit.reached');
    story.review(mia, held, false);
    expect(codeOf(story.trySend(eve, 'a'))).toBeNull();
  });

  test('[R9] nobody acks a message that is held or refused', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    const held = story.send(eve, 'a');
    expect(codeOf(story.ack(bob, held, 'done'))).toBe('ack.not-recipient');
    story.review(mia, held, false);
    expect(codeOf(story.ack(bob, held, 'done'))).toBe('ack.not-recipient');
  });

  test('[R6] a space may decide to hold nothing; then no bound on held messages applies', () => {
    const story = createStory();
    story.subscribe(bob, 'a');
    story.do(root, { type: 'space.configure', change: { doesHoldUntrusted: false } });
    fillHeld(story);
    story.send(eve, 'a');
    expect(story.take(bob)).toEqual([1]);
  });
});

test('[R8] [GA7] what was refused fills a channel for untrusted senders alone, in the end', () => {
  const story = createStory();
  story.send(eve, 'a');
  const held = story.world.channels.get('a')?.held;
  const refused = { reason: 'no', since: story.at, isRefused: true };
  for (let i = 0; i < HELD_PER_CHANNEL_MAX; i++) held?.set(-i, refused);
  expect(story.trySend(eve, 'a')).toMatchObject({ detail: { limit: 'HELD_PER_CHANNEL_MAX' } });
  expect(codeOf(story.trySend(eve, 'b'))).toBeNull();
  expect(codeOf(story.trySend(ada, 'a'))).toBeNull();
});

/** As many as may wait, all but the one that does. */
function fillHeld({ world, at }: Story): void {
  for (let i = world.held.size; i < roomBesidesOwner(HELD_MESSAGES_MAX); i++) {
    world.held.set(1_000_000 + i, { by: 'x', channel: 'elsewhere', seq: i, since: at });
  }
}
