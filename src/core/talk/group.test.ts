import { expect, test } from 'vitest';
import { accepted, codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { GROUP_INVITATIONS_PER_AGENT_MAX, GROUP_MEMBERS_MAX } from '../law/limits.ts';
import type { Principal } from '../law/principal.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const eve = createPrincipal('eve', { tier: 'untrusted' });
const root = createPrincipal('root', { kind: 'admin' });

const create = (story: Story, by: Principal, group = 'group/g') =>
  story.do(by, { type: 'group.create', group, displayName: null, replayPolicy: null });
const invite = (story: Story, by: Principal, agent: string, message: string | null = null) =>
  story.do(by, { type: 'group.invite', group: 'group/g', agent, message });
const join = (story: Story, by: Principal) =>
  story.do(by, { type: 'group.join', group: 'group/g' });
const leave = (story: Story, by: Principal) =>
  story.do(by, { type: 'group.leave', group: 'group/g' });

test('[GR1] the creator is the first active member, and an id is taken once', () => {
  const story = createStory();
  create(story, ada);
  expect(story.world.groups.get('group/g')?.members.get('ada')?.status).toBe('active');
  expect(codeOf(create(story, bob))).toBe('group.exists');
});

test('[GR3] one comes in by invitation and joining only', () => {
  const story = createStory();
  create(story, ada);
  expect(codeOf(join(story, bob))).toBe('group.not-invited');
  expect(codeOf(invite(story, bob, 'bob'))).toBe('group.not-member');
  expect(invite(story, ada, 'bob')).toEqual({ isInvited: true });
  expect(codeOf(story.trySend(bob, 'group/g'))).toBe('group.not-member');
  expect(codeOf(invite(story, bob, 'zoe'))).toBe('group.not-member');
  expect(join(story, bob)).toEqual({ isJoined: true, memberCount: 2 });
  expect(invite(story, ada, 'bob')).toEqual({ isInvited: false });
});

test('[GR4] members are subscribed by joining and no longer by leaving', () => {
  const story = createStory();
  create(story, ada);
  invite(story, ada, 'bob');
  story.send(ada, 'group/g');
  join(story, bob);
  story.send(ada, 'group/g');
  expect([story.take(ada), story.take(bob)]).toEqual([[1, 2], [2]]);
  expect(leave(story, bob)).toEqual({ hasLeft: true });
  story.send(ada, 'group/g');
  expect(story.take(bob)).toEqual([]);
  expect(codeOf(story.trySend(bob, 'group/g'))).toBe('group.not-member');
  expect(leave(story, bob)).toEqual({ hasLeft: false });
});

test('[GR4] a group id that a glob would read as a pattern is no group id', () => {
  const story = createStory();
  for (const group of ['group/', 'group/a*', 'group/a?', 'group/[a]', `group/${'x'.repeat(260)}`]) {
    expect(codeOf(create(story, ada, group))).toBe('channel.name-invalid');
  }
});

test('[GR5] an invitation with a message reaches the invited agent as a dm', () => {
  const story = createStory();
  create(story, ada);
  invite(story, ada, 'bob', 'come in');
  expect(story.drain(bob).taken).toMatchObject([{ channel: 'dm/ada~bob', seq: 1 }]);
  expect(JSON.parse(story.entries.at(-2) ?? '').body).toEqual({
    type: 'sox-invite',
    channel: 'group/g',
    inviting_agent: 'ada',
    purpose: 'come in',
  });
});

test('[R6] the message of an invitation by an untrusted member is held like any other', () => {
  const story = createStory();
  create(story, eve);
  invite(story, eve, 'bob', 'click here');
  expect(story.take(bob)).toEqual([]);
  expect(story.world.held.size).toBe(1);
});

test('[GR6] a group has a bounded number of members', () => {
  const story = createStory();
  accepted(create(story, ada));
  for (let i = 1; i < GROUP_MEMBERS_MAX; i++) accepted(invite(story, ada, `agent${i}`));
  expect(codeOf(invite(story, ada, 'more'))).toBe('limit.reached');
  expect(codeOf(invite(story, ada, 'agent1'))).toBeNull();
});

test('[GR7] an administrator may invite into a group nobody is left in', () => {
  const story = createStory();
  create(story, ada);
  for (const agent of ['root', 'bob']) {
    expect(codeOf(invite(story, root, agent))).toBe('group.not-member');
  }
  leave(story, ada);
  expect(invite(story, root, 'bob')).toEqual({ isInvited: true });
  expect(join(story, bob)).toEqual({ isJoined: true, memberCount: 1 });
});

test('[GR9] a member that invites without end leaves room for the others, and its invitations count until they are taken', () => {
  const story = createStory();
  create(story, ada);
  accepted(invite(story, ada, 'bob'));
  join(story, bob);
  const max = GROUP_INVITATIONS_PER_AGENT_MAX;
  for (let i = 0; i < max; i++) accepted(invite(story, bob, `guest${i}`));
  expect(codeOf(invite(story, bob, 'more'))).toBe('limit.reached');
  expect(invite(story, ada, 'more')).toEqual({ isInvited: true });
  join(story, createPrincipal('guest0'));
  leave(story, createPrincipal('guest1'));
  expect(invite(story, bob, 'again')).toEqual({ isInvited: true });
});
