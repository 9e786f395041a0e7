/**
 * Random histories for the law alone: every command there is, by a few agents on a
 * few channels, so that they meet. Two stories told with the same seed are the same.
 */
import { isRefusal } from '../core/law/decider.ts';
import { dmName } from '../core/law/name.ts';
import type { Principal } from '../core/law/principal.ts';
import type { AckStatus } from '../core/law/state.ts';
import { peek } from '../core/talk/inbox.ts';
import type { Chance } from './chance.ts';
import { createPrincipal, type Story } from './story.ts';

export const CAST: readonly Principal[] = [
  createPrincipal('ada'),
  createPrincipal('bob'),
  createPrincipal('cat'),
  createPrincipal('eve', { tier: 'untrusted' }),
  createPrincipal('mia', { kind: 'human', tier: 'owner' }),
  createPrincipal('root', { kind: 'admin', tier: 'owner' }),
];
const NAMES = CAST.map(({ id }) => id);
const CHANNELS = ['a', 'b', 'team/one', 'team/two', 'group/g', 'sox/presence', 'sox/acks'];
const PATTERNS = [...CHANNELS, 'team/*', '*', '[ab]', 'dm/ada~bob'];
const STATUSES: readonly AckStatus[] = ['received', 'processing', 'done', 'nack'];

/** Adds one random command to the story; refusals are part of it. */
export function addStep(story: Story, chance: Chance): void {
  story.pass(chance.int(0, 400));
  const by = chance.pick(CAST);
  const steps = chance.isLikely(0.4) ? [send] : STEPS;
  chance.pick(steps)(story, by, chance);
}

type Step = (story: Story, by: Principal, chance: Chance) => void;

const send: Step = (story, by, chance) => {
  const channel = chance.isLikely(0.15) ? dmName(by.id, chance.pick(NAMES)) : chance.pick(CHANNELS);
  story.trySend(by, channel, {
    body: JSON.stringify({ n: chance.int(0, 9) }),
    key: chance.isLikely(0.2) ? `k${chance.int(0, 3)}` : null,
    ttlMs: chance.isLikely(0.2) ? chance.int(1, 2000) : null,
    replyTo: chance.isLikely(0.2) && story.world.length > 0 ? somewhere(story, chance) : null,
    schemaVersion: story.world.channels.get(channel)?.settings?.schemaVersion ?? 0,
  });
};

const STEPS: readonly Step[] = [
  (story, by, chance) => story.do(by, { type: 'subscription.add', pattern: chance.pick(PATTERNS) }),
  (story, by, chance) => story.do(by, { type: 'subscription.add', pattern: chance.pick(PATTERNS) }),
  (story, by, chance) =>
    story.do(by, { type: 'subscription.remove', patterns: [chance.pick(PATTERNS)] }),
  drain,
  drain,
  drain,
  (story, by, chance) => story.do(by, { type: 'inbox.commit', through: somewhere(story, chance) }),
  (story, by, chance) => {
    const target = refOf(story, chance);
    if (target === null) return;
    story.do(by, { type: 'ack.record', target, status: chance.pick(STATUSES), reason: null });
  },
  (story, by, chance) => {
    const target = heldOf(story, chance);
    if (target === null) return;
    story.do(by, {
      type: 'message.review',
      target,
      isReleased: chance.isLikely(0.6),
      reason: null,
    });
  },
  (story, by, chance) => {
    const status = chance.pick(['online', 'busy', 'offline'] as const);
    const ttlMs = chance.isLikely(0.5) ? chance.int(500, 20_000) : null;
    story.do(by, { type: 'presence.beat', status, ttlMs });
  },
  (story, by, chance) => {
    const group = 'group/g';
    const agent = chance.pick(NAMES);
    const displayName = null;
    const message = chance.isLikely(0.5) ? 'come' : null;
    const replayPolicy = chance.isLikely(0.5) ? ('admin_only' as const) : null;
    chance.pick([
      () => story.do(by, { type: 'group.create', group, displayName, replayPolicy }),
      () => story.do(by, { type: 'group.invite', group, agent, message }),
      () => story.do(by, { type: 'group.join', group }),
      () => story.do(by, { type: 'group.leave', group }),
    ])();
  },
  (story, by, chance) => {
    const change = {
      backpressureMode: chance.pick(['advisory', 'enforced'] as const),
      queueLimit: chance.int(2, 30),
    };
    if (chance.isLikely(0.5)) story.do(by, { type: 'space.configure', change });
    else story.do(by, { type: 'channel.configure', channel: chance.pick(CHANNELS), change });
  },
  (story, by, chance) => {
    const id = `t${chance.int(0, 4)}`;
    const expiresAt = null;
    const token = {
      agent: chance.pick(NAMES),
      kind: 'agent',
      tier: 'standard',
      label: null,
      roles: [],
    } as const;
    chance.pick([
      () => story.do(by, { type: 'token.create', id, hash: 'h', expiresAt, ...token }),
      () => story.do(by, { type: 'token.rotate', id, hash: 'i', expiresAt }),
      () => story.do(by, { type: 'token.revoke', id }),
    ])();
  },
  (story, by) =>
    story.do(by, { type: 'refusal.record', operation: 'x', code: 'access.denied', about: null }),
  (story, _, chance) => story.pass(chance.int(1, 5000)),
];

function drain(story: Story, by: Principal, chance: Chance): void {
  const owed = peek(story.world, by.id, null, chance.int(1, 10));
  if (isRefusal(owed)) return;
  const expired = new Set(owed.filter(() => chance.isLikely(0.1)).map(({ position }) => position));
  const leaseMs = chance.isLikely(0.5) ? chance.int(1000, 9000) : null;
  story.do(by, { type: 'inbox.drain', owed, expired, leaseMs });
}

function somewhere(story: Story, chance: Chance): number {
  return chance.int(0, story.world.length);
}

function refOf(story: Story, chance: Chance) {
  const channels = [...story.world.channels.values()].filter(({ positions }) => positions.head > 0);
  if (channels.length === 0) return null;
  const channel = chance.pick(channels);
  return named(channel.name, chance.int(1, channel.positions.head), channel.positions);
}

function heldOf(story: Story, chance: Chance) {
  const channels = [...story.world.channels.values()].filter(({ held }) => (held?.size ?? 0) > 0);
  if (channels.length === 0) return null;
  const channel = chance.pick(channels);
  return named(channel.name, chance.pick([...(channel.held?.keys() ?? [])]), channel.positions);
}

function named(channel: string, seq: number, positions: { at(seq: number): number }) {
  return { channel, seq, position: positions.at(seq), sender: '' };
}
