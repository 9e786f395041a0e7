import { describe, expect, test } from 'vitest';
import { codeOf, createPrincipal, createStory } from '../../testing/story.ts';
import { compareBytes, dmName, groupName } from '../law/name.ts';
import { isAgentName } from '../law/principal.ts';
import { checkRead, checkReplay } from './channel.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const eve = createPrincipal('eve');
const spy = createPrincipal('spy', { kind: 'observer' });
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });

describe('names', () => {
  test('[C1] a channel name has 1 to 256 characters and no control characters', () => {
    const story = createStory();
    for (const bad of ['', 'x'.repeat(257), 'a\nb', 'a\u0000']) {
      expect(codeOf(story.trySend(ada, bad))).toBe('channel.name-invalid');
      expect(codeOf(story.do(ada, { type: 'subscription.add', pattern: bad }))).toBe(
        'channel.name-invalid',
      );
    }
    expect(story.send(ada, 'x'.repeat(256)).seq).toBe(1);
  });

  test('[C2] a channel comes to be by its first message or subscription', () => {
    const story = createStory();
    story.send(ada, 'a');
    story.subscribe(ada, 'b');
    expect([...story.world.channels.keys()]).toEqual(['a', 'b']);
  });

  test('[C4] no glob sees dm/, group/ or sox/ channels', () => {
    const story = createStory();
    story.subscribe(eve, '*');
    story.do(ada, {
      type: 'group.create',
      group: 'group/g',
      displayName: null,
      replayPolicy: null,
    });
    story.send(ada, 'group/g');
    story.send(ada, 'dm/ada~bob');
    story.do(ada, { type: 'presence.beat', status: 'online', ttlMs: null });
    expect(story.take(eve)).toEqual([]);
    for (const pattern of ['dm/*', 'group/*', 'sox/*', 'dm/eve~?']) {
      expect(codeOf(story.do(eve, { type: 'subscription.add', pattern }))).toBe('pattern.reserved');
    }
  });

  test('[D1] two agents share one dm name: in byte order, also beyond the basic plane', () => {
    expect(dmName('b', 'a')).toBe('dm/a~b');
    // U+FF5E sorts before U+1F600 by byte, after it by UTF-16 unit.
    expect(dmName('\u{1F600}', '\uFF5E')).toBe('dm/\uFF5E~\u{1F600}');
    expect(compareBytes('a', 'ab')).toBeLessThan(0);
  });

  test('[GR2] a bare group id and the full name mean the same group', () => {
    expect(groupName('g')).toBe('group/g');
    expect(groupName('group/g')).toBe('group/g');
  });

  test('[I2] an agent name is 1–128 visible characters without ~, glob signs or a leading __', () => {
    for (const good of ['ada', 'a', 'Ada-1.x', 'é', 'x'.repeat(128)])
      expect(isAgentName(good)).toBe(true);
    for (const bad of ['', 'a b', 'a~b', 'a*', 'a?', 'a[b', '__server__', 'a\n', 'x'.repeat(129)]) {
      expect(isAgentName(bad)).toBe(false);
    }
  });
});

describe('access', () => {
  test('[C5] only the two parties write, read and replay a dm', () => {
    const story = createStory();
    story.send(ada, 'dm/ada~bob');
    expect(codeOf(story.trySend(eve, 'dm/ada~bob'))).toBe('dm.not-party');
    expect(codeOf(story.do(eve, { type: 'subscription.add', pattern: 'dm/ada~bob' }))).toBe(
      'dm.not-party',
    );
    expect(codeOf(checkReplay(story.world, eve, 'dm/ada~bob'))).toBe('dm.not-party');
    expect(codeOf(checkReplay(story.world, root, 'dm/ada~bob'))).toBe('dm.not-party');
    expect(checkReplay(story.world, bob, 'dm/ada~bob')).toBeNull();
  });

  test('[D2] a dm name in the wrong order, or with a name nobody can have, is no channel', () => {
    const story = createStory();
    for (const name of [
      'dm/bob~ada',
      'dm/ada',
      'dm/ada~',
      'dm/ada~b~c',
      'dm/__server__~ada',
      'dm/a b~ada',
    ]) {
      expect(codeOf(story.trySend(ada, name))).toBe('dm.not-canonical');
    }
    expect(story.world.agents.size).toBe(0);
  });

  test('[D3] the first dm arrives without anyone having prepared for it; the sender is owed the answer', () => {
    const story = createStory();
    story.send(ada, 'dm/ada~bob');
    expect(story.take(ada)).toEqual([]);
    expect(story.take(bob)).toEqual([1]);
    story.send(bob, 'dm/ada~bob');
    expect(story.take(ada)).toEqual([2]);
  });

  test('[C5] nobody but the hub writes under sox/, and three of its channels are for everybody', () => {
    const story = createStory();
    for (const name of ['sox/presence', 'sox/acks', 'sox/claims', 'sox/other']) {
      expect(codeOf(story.trySend(root, name))).toBe('channel.reserved');
    }
    for (const name of ['sox/presence', 'sox/acks', 'sox/claims']) {
      expect(checkRead(story.world, ada, name)).toBeNull();
    }
    expect(codeOf(checkRead(story.world, ada, 'sox/other'))).toBe('channel.reserved');
  });

  test('[C5] an observer writes nowhere', () => {
    expect(codeOf(createStory().trySend(spy, 'a'))).toBe('access.denied');
  });

  test('[I1] the sender of a message is the principal of the command, whatever the body says', () => {
    const story = createStory();
    story.send(ada, 'a', { body: '{"sender":"root","by":"root"}' });
    expect(story.events[0]).toMatchObject({ by: 'ada' });
  });

  test('[RP3] replay follows the policy of the channel: subscribers, administrators, or a list', () => {
    const story = createStory();
    story.subscribe(ada, 'a');
    const replay = (by: typeof ada) => codeOf(checkReplay(story.world, by, 'a'));
    const configure = (change: object) =>
      story.do(root, { type: 'channel.configure', channel: 'a', change });
    expect([replay(ada), replay(bob), replay(root)]).toEqual([
      null,
      'subscription.not-found',
      null,
    ]);
    const mia = createPrincipal('mia', { kind: 'human' });
    // Who reads without subscribing, by its kind, is kept out by what an administrator decided alone.
    expect([replay(spy), replay(mia)]).toEqual([null, null]);
    configure({ replayPolicy: 'admin_only' });
    expect([replay(ada), replay(root)]).toEqual(['replay.forbidden', null]);
    expect([replay(spy), replay(mia)]).toEqual(['replay.forbidden', 'replay.forbidden']);
    configure({ replayPolicy: 'custom', replayAllow: ['b*', 's*'] });
    expect([replay(ada), replay(bob)]).toEqual(['replay.forbidden', null]);
    expect([replay(spy), replay(mia)]).toEqual([null, 'replay.forbidden']);
  });
});

describe('backpressure', () => {
  const enforced = { backpressureMode: 'enforced', queueLimit: 2 } as const;

  test('[B1] an advisory channel takes everything and says how deep it is before the message', () => {
    const story = createStory();
    story.do(root, { type: 'space.configure', change: { queueLimit: 1 } });
    expect([1, 2, 3].map(() => story.send(ada, 'a').depth)).toEqual([0, 1, 2]);
  });

  test('[B2] the depth counts what some subscriber has not drained; with none, what nobody drained', () => {
    const story = createStory();
    story.do(root, { type: 'space.configure', change: enforced });
    story.send(ada, 'a');
    story.send(ada, 'a');
    expect(codeOf(story.trySend(ada, 'a'))).toBe('backpressure.over');
    story.subscribe(bob, 'a');
    story.subscribe(eve, 'a');
    expect(story.send(ada, 'a').depth).toBe(0);
    story.take(bob);
    expect(story.send(ada, 'a').depth).toBe(1);
    expect(codeOf(story.trySend(ada, 'a'))).toBe('backpressure.over');
    story.take(eve);
    expect(story.send(ada, 'a').depth).toBe(1);
  });

  test('[B3] a refusal over the limit stores nothing and says depth, threshold and mode', () => {
    const story = createStory();
    story.do(root, {
      type: 'channel.configure',
      channel: 'a',
      change: { ...enforced, queueLimit: 1 },
    });
    story.send(ada, 'a');
    const length = story.world.length;
    expect(story.trySend(ada, 'a')).toMatchObject({
      detail: { queue_depth: 1, threshold: 1, mode: 'enforced' },
    });
    expect(story.world.length).toBe(length);
  });
});

describe('settings', () => {
  test('[T4] only an administrator configures, and what changes nothing is no event', () => {
    const story = createStory();
    const change = { queueLimit: 7 };
    expect(codeOf(story.do(ada, { type: 'space.configure', change }))).toBe('access.denied');
    expect(codeOf(story.do(ada, { type: 'channel.configure', channel: 'a', change }))).toBe(
      'access.denied',
    );
    story.do(root, { type: 'space.configure', change });
    story.do(root, { type: 'space.configure', change });
    expect(story.entries).toHaveLength(1);
  });

  test('[T2] a space with typed channels only refuses a channel without a schema', () => {
    const story = createStory();
    story.do(root, { type: 'space.configure', change: { isTypedOnly: true } });
    expect(codeOf(story.trySend(ada, 'a'))).toBe('channel.not-found');
    story.do(root, { type: 'channel.configure', channel: 'a', change: { schema: '{}' } });
    expect(story.send(ada, 'a', { schemaVersion: 1 }).seq).toBe(1);
  });

  test('[T3] a body checked against a schema that moved meanwhile is refused', () => {
    const story = createStory();
    const schema = (text: string) =>
      story.do(root, { type: 'channel.configure', channel: 'a', change: { schema: text } });
    schema('{"type":"object"}');
    expect(codeOf(story.trySend(ada, 'a', { schemaVersion: 0 }))).toBe('schema.changed');
    story.send(ada, 'a', { schemaVersion: 1 });
    schema('{}');
    expect(codeOf(story.trySend(ada, 'a', { schemaVersion: 1 }))).toBe('schema.changed');
  });
});
