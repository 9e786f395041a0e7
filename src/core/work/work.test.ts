/** Claims, plan, cards and offers together, told to the law alone; time moves when the story says so. */
import { describe, expect, test } from 'vitest';
import { createChance } from '../../testing/chance.ts';
import { portray } from '../../testing/compare.ts';
import { accepted, codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { decodeEvent } from '../law/entry.ts';
import { SWEEP_EVERY_MS } from '../law/limits.ts';
import type { Principal } from '../law/principal.ts';
import { freezeWorld, thawWorld } from '../law/snapshot.ts';
import { createWorld, type World } from '../law/state.ts';
import { evolve } from '../law/world.ts';
import { TTL_MS_MIN } from './claim/claim-limits.ts';
import { REOFFERS_MAX, STALLED_AFTER_MS } from './work-limits.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const cat = createPrincipal('cat');
const mia = createPrincipal('mia', { kind: 'human', tier: 'owner' });

const NO_CLAIM = { epoch: null, note: null, git: null, idempotency: null, scope: null };

function take(story: Story, by: Principal, id: string, ...paths: readonly string[]) {
  const scope = paths.length === 0 ? null : { worktree: 'w', branch: null, paths };
  return story.do(by, { type: 'claim.take', ...NO_CLAIM, id, scope, ttlMs: TTL_MS_MIN });
}

function release(story: Story, by: Principal, id: string) {
  const rest = { epoch: null, evidence: null, isForced: false, idempotency: null };
  return story.do(by, { type: 'claim.release', id, ...rest });
}

function update(
  story: Story,
  by: Principal,
  id: string,
  status: string,
  note: string | null = null,
) {
  const rest = { epoch: null, dataRef: null, expectedVersion: null, idempotency: null };
  return story.do(by, { type: 'claim.update', id, status, note, ...rest });
}

function wait(story: Story, by: Principal, id: string) {
  return story.do(by, { type: 'claim.wait', id, scope: null, ttlMs: null, idempotency: null });
}

function declare(story: Story, id: string, dependsOn: readonly string[] = []) {
  const rest = { project: null, suggestedOwner: null, causalParent: null, expectedVersion: null };
  return story.do(ada, {
    type: 'task.declare',
    id,
    title: id,
    description: '',
    dependsOn,
    ...rest,
  });
}

const statusOf = (story: Story, id: string) => story.world.plan.nodes.get(id)?.task.status;
const told = (story: Story, channel: string) =>
  story.events.flatMap((event) =>
    event.type === 'message.sent' && event.channel === channel
      ? [JSON.parse(event.body) as Record<string, unknown>]
      : [],
  );

describe('claims and the plan', () => {
  test('[WK1] taking starts, done ends, failed blocks with a note, releasing and lapsing open again', () => {
    const story = createStory();
    for (const id of ['done', 'failed', 'released', 'lapsed']) {
      accepted(declare(story, id));
      accepted(take(story, bob, id));
      expect(statusOf(story, id)).toBe('in_progress');
    }
    accepted(update(story, bob, 'done', 'done'));
    accepted(update(story, bob, 'failed', 'failed', 'no disk'));
    accepted(release(story, bob, 'released'));
    story.pass(TTL_MS_MIN);
    expect(['done', 'failed', 'released', 'lapsed'].map((id) => statusOf(story, id))).toEqual([
      'done',
      'blocked',
      'open',
      'open',
    ]);
    expect(story.world.plan.notes.map(({ text }) => text)).toEqual(['the claim failed: no disk']);
    expect(story.world.claims.claims.size).toBe(0);
  });

  test('[WK1] a claim that lapses and is taken anew leaves its task in progress', () => {
    const story = createStory();
    accepted(declare(story, 'a'));
    accepted(take(story, ada, 'a'));
    story.pass(TTL_MS_MIN);
    accepted(take(story, bob, 'a'));
    expect(statusOf(story, 'a')).toBe('in_progress');
    expect(story.world.plan.nodes.get('a')?.tries).toBe(1);
    const versions = story.events.flatMap((event) =>
      event.type === 'task.updated' ? [[event.status, event.version]] : [],
    );
    expect(versions).toEqual([
      ['in_progress', 2],
      ['open', 3],
      ['in_progress', 4],
    ]);
  });

  test('[PL12] [PL13] the supervisor offers again what nobody moves, not what is leased, then tells a person once', () => {
    const story = createStory();
    for (const id of ['stalled', 'leased']) accepted(declare(story, id));
    const set = { suggestedOwner: null, expectedVersion: null };
    for (let i = 0; i < REOFFERS_MAX; i++) {
      accepted(
        story.do(ada, { type: 'task.update', id: 'stalled', status: 'in_progress', ...set }),
      );
      for (let t = 0; t < STALLED_AFTER_MS + 60_000; t += TTL_MS_MIN - 1_000) {
        accepted(take(story, bob, 'leased'));
        story.pass(TTL_MS_MIN - 1_000);
      }
      expect(statusOf(story, 'stalled')).toBe('open');
      expect(statusOf(story, 'leased')).toBe('in_progress');
    }
    accepted(story.do(ada, { type: 'task.update', id: 'stalled', status: 'in_progress', ...set }));
    story.pass(3 * STALLED_AFTER_MS);
    const escalations = told(story, 'sox/claims').filter(({ event }) => event === 'task_escalated');
    expect(escalations).toMatchObject([{ id: 'stalled', status: 'in_progress' }]);
    expect(story.world.plan.nodes.get('stalled')?.isEscalated).toBe(true);
    accepted(story.do(mia, { type: 'task.update', id: 'stalled', status: 'open', ...set }));
    expect(story.world.plan.nodes.get('stalled')?.isEscalated).toBe(false);
  });
});

describe('what is said about claims', () => {
  test('[WK2] whose turn has come is told in private, even one who never said a word', () => {
    const story = createStory();
    accepted(take(story, ada, 'a'));
    const { wait: number } = accepted(wait(story, bob, 'a')) as { wait: number };
    accepted(wait(story, cat, 'a'));
    accepted(release(story, ada, 'a'));
    expect(told(story, 'sox/to/bob')).toMatchObject([
      { event: 'claim_free', task_id: 'a', wait: number },
    ]);
    expect(told(story, 'sox/to/cat')).toEqual([]);
    expect(story.take(bob)).toEqual([1]);
    expect(story.take(cat)).toEqual([]);
    expect(codeOf(take(story, cat, 'a'))).toBe('claim.reserved');
    // Bob does not come: the turn passes on, and cat is told.
    story.pass(60_000);
    expect(told(story, 'sox/to/cat')).toMatchObject([{ event: 'claim_free', task_id: 'a' }]);
    accepted(take(story, cat, 'a'));
  });

  test('[WK2] a private channel is read by its agent and written by the hub alone', () => {
    const story = createStory();
    expect(
      codeOf(story.do(ada, { type: 'subscription.add', pattern: 'sox/to/bob' })),
    ).not.toBeNull();
    expect(codeOf(story.trySend(ada, 'sox/to/bob'))).toBe('channel.reserved');
    story.subscribe(ada, '*');
    accepted(take(story, ada, 'a'));
    accepted(wait(story, bob, 'a'));
    accepted(release(story, ada, 'a'));
    expect(story.take(ada)).toEqual([]);
  });

  test('[CM9] a lapse is an event everybody sees who follows sox/claims, in order and without gaps', () => {
    const story = createStory();
    story.subscribe(cat, 'sox/claims');
    accepted(take(story, ada, 'a', 'x'));
    accepted(take(story, ada, 'b', 'y'));
    story.pass(TTL_MS_MIN);
    expect(told(story, 'sox/claims').map(({ event, id }) => [event, id])).toEqual([
      ['claim_taken', 'a'],
      ['claim_taken', 'b'],
      ['claim_expired', 'a'],
      ['claim_expired', 'b'],
    ]);
    expect(story.take(cat)).toEqual([1, 2, 3, 4]);
  });

  test('[WK2] nobody who listens costs nothing: without followers nothing is said in public', () => {
    const story = createStory();
    accepted(take(story, ada, 'a'));
    accepted(release(story, ada, 'a'));
    expect(story.events.filter(({ type }) => type === 'message.sent')).toEqual([]);
  });
});

test('[CA3] an agent that falls silent takes its card with it; a lease lapses by its own time', () => {
  const story = createStory();
  accepted(story.do(bob, { type: 'presence.beat', status: 'online', ttlMs: 1_000 }));
  const words = { description: '', version: '0', supportedInterfaces: [], defaultInputModes: [] };
  const capabilities = {
    streaming: false,
    pushNotifications: false,
    extendedAgentCard: false,
    extensions: [],
  };
  const more = { provider: null, documentationUrl: null, iconUrl: null, model: null, meta: null };
  const lists = { defaultOutputModes: [], skills: [], taskClasses: [] };
  const card = { name: 'bob', ...words, capabilities, ...lists, ...more };
  accepted(story.do(bob, { type: 'card.advertise', card }));
  accepted(take(story, bob, 'a'));
  story.pass(10_000);
  expect(story.world.cards.cards.size).toBe(0);
  expect(story.world.claims.claims.size).toBe(1);
});

/** A random story of work, the same for the same seed. */
function tell(seed: number, steps: number, story: Story = createStory()): Story {
  const chance = createChance(seed);
  const people = [ada, bob, cat];
  const ids = ['a', 'b', 'c', 'd'];
  const acts: readonly ((by: Principal, id: string) => unknown)[] = [
    (by, id) => take(story, by, id, chance.pick(['x', 'y/**', 'y/z', '*.ts'])),
    (by, id) => take(story, by, id),
    (by, id) => release(story, by, id),
    (by, id) => wait(story, by, id),
    (by, id) => update(story, by, id, chance.pick(['working', 'done', 'failed'])),
    (_, id) =>
      declare(
        story,
        id,
        ids.filter(() => chance.isLikely(0.2)),
      ),
    (by) => story.do(by, { type: 'claim.unwait', wait: null, idempotency: null }),
    (by) => story.do(by, { type: 'presence.beat', status: 'online', ttlMs: 2_000 }),
    () => story.pass(chance.int(1, 40_000)),
    (by, id) => {
      const offer = { kind: 'k', name: id, capacity: 1, meta: null, ttlMs: 5_000 };
      return story.do(by, { type: 'offer.make', ...offer });
    },
  ];
  for (let i = 0; i < steps; i++) {
    story.pass(chance.int(1, 2_000));
    chance.pick(acts)(chance.pick(people), chance.pick(ids));
  }
  return story;
}

describe('work in a snapshot', () => {
  // Fixed, because what falls due in the same millisecond may come in either order.
  const SEEDS = Array.from({ length: 40 }, (_, i) => i + 1);

  test('[L3] a thawed world of work is the frozen one and goes on like it', () => {
    for (const seed of SEEDS) {
      const live = tell(seed, 120);
      const thawed = createStory(thawWorld(freezeWorld(live.world)) as World, live.at);
      expect(portray(thawed.world)).toBe(portray(live.world));
      tell(seed + 1, 120, live);
      tell(seed + 1, 120, thawed);
      expect(portray(thawed.world), `seed ${seed}`).toBe(portray(live.world));
    }
  });

  test('[L1] the log alone gives the same world of work', () => {
    for (const seed of SEEDS) {
      const live = tell(seed, 150);
      const replayed = createWorld();
      for (const [position, entry] of live.entries.entries()) {
        evolve(replayed, decodeEvent(entry), position);
      }
      expect(portray(replayed, 'durable'), `seed ${seed}`).toBe(portray(live.world, 'durable'));
    }
  });
});

test('[CM8] what the doors know of the recipient decides, also for one that never sent a beat', () => {
  const story = createStory();
  take(story, ada, 'gift');
  take(story, bob, 'other');
  const rest = { epoch: null, ttlMs: null, note: null, idempotency: null };
  const hand = (isRecipientThere: boolean) =>
    story.do(ada, { type: 'claim.hand-off', id: 'gift', to: 'bob', isRecipientThere, ...rest });
  expect(codeOf(hand(false))).toBe('claim.recipient-absent');
  expect(codeOf(hand(true))).toBeNull();
});

test('[AD4] roles are on record, once for each change, and in a snapshot', () => {
  const story = createStory();
  const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });
  const assign = (roles: readonly string[]) =>
    story.do(root, { type: 'agent.assign', agent: 'ada', roles });
  expect(codeOf(assign(['reviewer', 'reviewer', 'builder']))).toBeNull();
  assign(['builder', 'reviewer']);
  expect(story.entries.filter((entry) => entry.includes('agent.assigned'))).toHaveLength(1);
  expect(thawWorld(freezeWorld(story.world))?.agents.get('ada')?.roles).toEqual([
    'builder',
    'reviewer',
  ]);
});

test('[WK5] a refusal says since when its holder is gone, and what a person can do', () => {
  const story = createStory();
  const hour = 3_600_000;
  const rest = { ...NO_CLAIM, ttlMs: 5 * hour };
  story.do(ada, { type: 'claim.take', ...rest, id: 'held' });
  story.do(ada, { type: 'presence.beat', status: 'offline', ttlMs: null });
  const goneAt = story.at;
  expect(take(story, bob, 'held')).not.toHaveProperty('detail.gone_since');
  story.at += hour;
  expect(take(story, bob, 'held')).toMatchObject({
    refused: 'claim.held',
    message: expect.stringMatching(/ada has been gone for 60 min; .*synod release held --force$/),
    detail: { gone_since: goneAt / 1000 },
  });
  expect(update(story, bob, 'held', 'working')).toMatchObject({
    refused: 'claim.not-holder',
    detail: { gone_since: goneAt / 1000 },
  });
  // What it does, by whatever door, is a sign of life.
  update(story, ada, 'held', 'working');
  expect(take(story, bob, 'held')).not.toHaveProperty('detail.gone_since');
});

test('[CM14] an old checkpoint goes at the look after the space’s time, and the world is made again alike', () => {
  const story = createStory();
  const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });
  const change = { memoryRetentionMs: 5 * SWEEP_EVERY_MS };
  accepted(story.do(root, { type: 'space.configure', change }));
  story.subscribe(bob, 'a');
  accepted(take(story, ada, 'left'));
  const rest = { epoch: null, expectedVersion: null, idempotency: null };
  accepted(story.do(ada, { type: 'claim.checkpoint', id: 'left', checkpoint: 'half', ...rest }));
  accepted(release(story, ada, 'left'));
  story.pass(5 * SWEEP_EVERY_MS - 1);
  expect(story.world.claims.inherited.size).toBe(1);
  story.pass(2 * SWEEP_EVERY_MS);
  expect(story.world.claims.inherited.size).toBe(0);
  const again = createWorld();
  for (const [i, entry] of story.entries.entries()) evolve(again, decodeEvent(entry), i);
  expect(again.claims.inherited.size).toBe(0);
});
