import { expect, test } from 'vitest';
import { accepted, codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { TOKENS_MAX } from './limits.ts';
import { principalOf } from './token.ts';

const ada = createPrincipal('ada');
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });

const create = (story: Story, id = 't1', expiresAt: number | null = null, agent = 'bob') =>
  story.do(root, {
    type: 'token.create',
    id,
    agent,
    kind: 'agent',
    tier: 'standard',
    hash: 'h1',
    label: null,
    roles: [],
    expiresAt,
  });
const who = (story: Story, hash: string, id = 't1') =>
  principalOf(story.world.tokens.get(id), hash, story.at)?.id ?? null;

test('[I10] a token stands for its agent, with the kind and tier it was made for', () => {
  const story = createStory();
  create(story);
  expect(principalOf(story.world.tokens.get('t1'), 'h1', story.at)).toEqual({
    id: 'bob',
    kind: 'agent',
    tier: 'standard',
  });
  expect(who(story, 'wrong')).toBeNull();
  expect(who(story, 'h1', 'unknown')).toBeNull();
});

test('[I4] what the log and memory keep of a token is the hash alone', () => {
  const story = createStory();
  create(story);
  const { token } = JSON.parse(story.entries[0] ?? '') as { token: object };
  expect(Object.keys(token).sort()).toEqual([
    'agent',
    'expiresAt',
    'hash',
    'id',
    'kind',
    'label',
    'roles',
    'tier',
  ]);
});

test('[I5] a rotated token opens with its new secret only, an expired or revoked one not at all', () => {
  const story = createStory();
  create(story, 't1', story.at + 10);
  story.do(root, { type: 'token.rotate', id: 't1', hash: 'h2', expiresAt: story.at + 10 });
  expect([who(story, 'h1'), who(story, 'h2')]).toEqual([null, 'bob']);
  story.at += 10;
  expect(who(story, 'h2')).toBeNull();
  story.at -= 5;
  story.do(root, { type: 'token.revoke', id: 't1' });
  expect(who(story, 'h2')).toBeNull();
});

test('[I5] revoked is for good: not rotated, not revoked again, not made anew under its id', () => {
  const story = createStory();
  create(story);
  accepted(story.do(root, { type: 'token.revoke', id: 't1' }));
  expect(
    codeOf(story.do(root, { type: 'token.rotate', id: 't1', hash: 'h2', expiresAt: null })),
  ).toBe('token.not-found');
  expect(codeOf(story.do(root, { type: 'token.revoke', id: 't1' }))).toBe('token.not-found');
  expect(codeOf(create(story))).toBe('input.invalid');
});

test('[I11] only an administrator handles tokens, for names an agent can have', () => {
  const story = createStory();
  expect(codeOf(story.do(ada, { type: 'token.revoke', id: 't1' }))).toBe('access.denied');
  expect(codeOf(create(story, 't2', null, '__server__'))).toBe('agent.name-invalid');
});

test('[I12] tokens are bounded; a revoked one makes room, a live one never', () => {
  const story = createStory();
  for (let i = 0; i < TOKENS_MAX; i++) create(story, `t${i}`);
  expect(codeOf(create(story, 'more'))).toBe('limit.reached');
  story.do(root, { type: 'token.revoke', id: 't7' });
  expect(codeOf(create(story, 'more'))).toBeNull();
  expect(story.world.tokens.size).toBe(TOKENS_MAX);
  expect(story.world.tokens.has('t7')).toBe(false);
});
