/** Shares: what one agent fills leaves the rest to the others, and what goes away counts no more. */
import { expect, test } from 'vitest';
import { codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { CHANNELS_MAX } from './limits.ts';
import { checkShare, roomBesidesOwner, SHARES } from './shares.ts';
import type { SharedBound } from './ways-out.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const eve = createPrincipal('eve', { tier: 'untrusted' });
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });

const bounds = Object.keys(SHARES) as SharedBound[];

test.each(bounds)(
  '[SH1] [SH2] [SH3] of %s each has a share, and a tenth is the owner’s',
  (bound) => {
    const { max, each, untrusted, name = bound } = SHARES[bound];
    const room = roomBesidesOwner(max);
    expect(checkShare(bound, ada, each - 1, each - 1)).toBeNull();
    expect(checkShare(bound, ada, each, each)).toMatchObject({
      refused: 'limit.reached',
      detail: { limit: name, max: each, used: each },
    });
    expect(checkShare(bound, bob, each, 0)).toBeNull();
    expect(checkShare(bound, eve, untrusted - 1, untrusted - 1)).toBeNull();
    expect(checkShare(bound, eve, untrusted, untrusted)).toMatchObject({
      detail: { max: untrusted },
    });
    expect(checkShare(bound, bob, room, 0)).toMatchObject({ detail: { limit: bound, max } });
    expect(checkShare(bound, root, room, 0)).toBeNull();
    expect(checkShare(bound, root, max, 0)).toMatchObject({ detail: { limit: bound, max } });
  },
);

test('[SH1] growing by nothing needs no share', () => {
  expect(checkShare('PLAN_CHARS_MAX', eve, CHANNELS_MAX ** 2, CHANNELS_MAX ** 2, 0)).toBeNull();
});

const madeBy = ({ world: { made } }: Story, name: string) =>
  Object.fromEntries(Object.entries(made).map(([what, counts]) => [what, counts.get(name) ?? 0]));

test('[SH1] what an agent made counts until it goes away, by whatever way', () => {
  const story = createStory();
  const token = {
    id: 't',
    agent: 'bob',
    kind: 'agent',
    tier: 'standard',
    hash: 'h',
    roles: [],
  } as const;
  story.send(ada, 'a', { key: 'k' });
  story.send(ada, 'a', { key: 'retry:k' });
  story.subscribe(ada, 'b', 'c/*');
  story.send(ada, 'dm/ada~zoe');
  const group = { group: 'group/g', displayName: null, replayPolicy: 'admin_only' } as const;
  story.do(ada, { type: 'group.create', ...group });
  story.do(ada, { type: 'group.invite', group: 'group/g', agent: 'yan', message: null });
  story.send(eve, 'a');
  story.send(eve, 'e');
  story.do(root, { type: 'token.create', ...token, label: null, expiresAt: null });
  story.do(ada, { type: 'channel.describe', channel: 'b', change: { title: 'Builds' } });
  expect(madeBy(story, 'ada')).toEqual({
    ...{ channels: 4, agents: 2, groups: 1, keys: 1, held: 0, tokens: 0, described: 7 },
  });
  expect(madeBy(story, 'eve')).toMatchObject({ channels: 1, held: 2 });
  expect(madeBy(story, 'root')).toMatchObject({ agents: 0, tokens: 1 });

  // One came itself, the other was removed.
  story.send(createPrincipal('zoe'), 'a');
  story.do(root, { type: 'agent.remove', agent: 'yan', isForced: true });
  story.do(ada, { type: 'group.remove', group: 'group/g' });
  story.do(root, { type: 'channel.retire', channel: 'e', isForced: true });
  story.do(root, { type: 'token.revoke', id: 't' });
  story.pass(20 * 86_400_000);
  story.send(bob, 'a', { key: 'later' });
  expect(madeBy(story, 'ada')).toMatchObject({ channels: 3, agents: 0, groups: 0, keys: 0 });
  expect(madeBy(story, 'eve')).toMatchObject({ channels: 0, held: 0 });
  expect(madeBy(story, 'root')).toMatchObject({ tokens: 0 });
});

test('[SH1] keys that are old enough to be forgotten stand in nobody’s way', () => {
  const story = createStory();
  story.send(ada, 'a', { key: 'k' });
  story.world.made.keys.set('ada', SHARES.IDEMPOTENCY_KEYS_MAX.each);
  expect(codeOf(story.trySend(ada, 'a', { key: 'more' }))).toBe('limit.reached');
  expect(codeOf(story.trySend(bob, 'a', { key: 'more' }))).toBeNull();
  story.at += story.world.settings.idempotencyTtlMs;
  expect(codeOf(story.trySend(ada, 'a', { key: 'more' }))).toBeNull();
});

test('[SH5] how many claims and offers each may have is a setting of the space, for the untrusted no more than their share', () => {
  const story = createStory();
  const change = { claimsPerAgent: 2, offersPerAgent: 1, doesHoldUntrusted: false };
  story.do(root, { type: 'space.configure', change });
  const asked = { scope: null, ttlMs: null, note: null, git: null, epoch: null };
  const take = (by: typeof ada, id: string) =>
    codeOf(story.do(by, { type: 'claim.take', id, idempotency: null, ...asked }));
  expect(['a', 'b', 'c'].map((id) => take(ada, id))).toEqual([null, null, 'claim.quota']);
  expect(take(bob, 'd')).toBeNull();
  const offer = { capacity: 1, meta: null, ttlMs: null };
  const make = (name: string) =>
    codeOf(story.do(ada, { type: 'offer.make', kind: 'llm', name, ...offer }));
  expect([make('m'), make('m'), make('n')]).toEqual([null, null, 'limit.reached']);
  story.do(root, { type: 'space.configure', change: { claimsPerAgent: 500 } });
  expect(take(ada, 'c')).toBeNull();
  const { untrusted } = SHARES.CLAIMS_MAX;
  for (let i = 0; i < untrusted; i++) expect(take(eve, `e${i}`)).toBeNull();
  expect(take(eve, 'more')).toBe('claim.quota');
});
