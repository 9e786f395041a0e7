/** What happens around a turn that runs: its agent is revoked, removed, reads ahead, leaves or is flooded. */
import { expect, test } from 'vitest';
import { accepted, codeOf, createPrincipal, createStory, type Story } from '../../testing/story.ts';
import {
  ada,
  finish,
  kim,
  manage,
  managedOf,
  positionsOf,
  root,
  take,
  taken,
  tell,
  turnAt,
  wes,
} from '../../testing/turn-story.ts';
import { SKIPPED_PER_MEMBER_MAX } from '../law/limits.ts';
import type { Principal } from '../law/principal.ts';
import type { TakenTurn } from './turn-events.ts';
import { PENDING_PER_AGENT_MAX } from './turn-limits.ts';
import { turnPrincipal } from './turn-token.ts';

function token(story: Story, id: string, traits: object = {}): void {
  accepted(
    story.do(root, {
      ...{ type: 'token.create', id, agent: 'wes', kind: 'agent', tier: 'standard', hash: id },
      ...{ label: null, roles: [], expiresAt: null },
      ...traits,
    }),
  );
}

const revoke = (story: Story, id: string) => story.do(root, { type: 'token.revoke', id });

function acting({ turn }: TakenTurn): Principal {
  return { ...wes, turn: { id: turn.id, epoch: turn.epoch } };
}

test('[TN16] with its last token an agent loses its turn, and has no other until a person resumes it', () => {
  const story = tell();
  token(story, 'one');
  token(story, 'two');
  const sent = story.send(ada, 'jobs');
  const turn = taken(story);
  accepted(revoke(story, 'one'));
  story.send(acting(turn), 'out');
  accepted(revoke(story, 'two'));
  expect(codeOf(story.trySend(acting(turn), 'out'))).toBe('turn.stale');
  expect(codeOf(finish(story, turn, 'done'))).toBe('turn.stale');
  expect(managedOf(story)).toMatchObject({
    state: 'paused',
    why: expect.stringContaining('revoked'),
  });
  story.send(ada, 'jobs');
  story.pass(60_000);
  expect(take(story)).toBeNull();
  accepted(story.do(kim, { type: 'agent.resume', agent: 'wes' }));
  expect(positionsOf(taken(story))[0]).toBe(sent.position);
});

test('[TN16] an agent that sleeps is paused with its last token; one that never had any goes on', () => {
  const story = tell();
  story.subscribe(ada, 'ada');
  accepted(manage(story, 'ada'));
  token(story, 'one');
  accepted(revoke(story, 'one'));
  expect(managedOf(story).state).toBe('paused');
  expect(managedOf(story, 'ada').state).toBe('asleep');
  const before = story.entries.length;
  token(story, 'two');
  accepted(revoke(story, 'two'));
  // It is paused already: the token alone is told of.
  expect(story.entries.length - before).toBe(2);
});

test('[TN7] a turn makes nobody more than its tokens did, also when they are gone', () => {
  const whom = (...traits: object[]) => {
    const story = tell();
    for (const [i, one] of traits.entries()) token(story, `t${i}`, one);
    story.send(ada, 'jobs');
    const { turn } = taken(story, { hash: 'h' });
    return turnPrincipal(story.world, turn.id, 'h', story.at);
  };
  expect(whom()).toMatchObject({ kind: 'agent', tier: 'standard' });
  expect(whom({ tier: 'trusted' }, { tier: 'untrusted' })).toMatchObject({ tier: 'untrusted' });
  expect(whom({ tier: 'untrusted', expiresAt: 1_000_050 })).toMatchObject({ tier: 'untrusted' });
  expect(whom({ kind: 'observer' })).toMatchObject({ kind: 'observer' });
  expect(whom({ kind: 'observer' }, {})).toMatchObject({ kind: 'agent' });
  // Who is a person elsewhere acts for a turn as an agent does.
  expect(whom({ kind: 'admin', tier: 'owner' })).toMatchObject({ kind: 'agent' });
});

test('[TN16] an agent that is removed while it runs is over with its turn, and so is its gate', () => {
  const story = tell();
  token(story, 'one');
  story.send(ada, 'jobs');
  const turn = taken(story, { hash: 'h' });
  const remove = { type: 'agent.remove', agent: 'wes' } as const;
  expect(codeOf(story.do(root, { ...remove, isForced: false }))).toBe('agent.in-use');
  accepted(story.do(root, { ...remove, isForced: true }));
  expect(turnAt(story, turn.turn.id).state).toBe('cancelled');
  expect(story.world.turns).toMatchObject({ busyCount: 0, agents: new Map() });
  expect(codeOf(story.trySend(acting(turn), 'out'))).toBe('turn.stale');
  expect(codeOf(turnPrincipal(story.world, turn.turn.id, 'h', story.at))).toBe('turn.stale');
  expect(codeOf(finish(story, turn, 'done', { consumed: 'all' }))).toBe('turn.stale');
  // Somebody else of that name is a stranger to the turn.
  story.subscribe(wes, 'jobs');
  accepted(manage(story, 'wes'));
  expect(codeOf(story.trySend(acting(turn), 'out'))).toBe('turn.stale');
  story.send(ada, 'jobs');
  expect(taken(story).turn.id).not.toBe(turn.turn.id);
});

test('[TN5] an agent that reads or acks far ahead while it runs is owed no turn for what it settled', () => {
  const story = tell();
  story.send(ada, 'jobs');
  const turn = taken(story);
  const [second, third] = [story.send(ada, 'jobs'), story.send(ada, 'jobs')];
  accepted(story.ack(wes, third, 'done'));
  accepted(finish(story, turn, 'done', { consumed: 'all' }));
  const next = taken(story);
  expect(positionsOf(next)).toEqual([second.position]);
  story.send(ada, 'jobs');
  expect(story.take(acting(next), {})).toEqual([2, 3, 4]);
  accepted(finish(story, next, 'done', { consumed: 'all' }));
  expect(turnAt(story, next.turn.id)).toMatchObject({ state: 'done', isFruitless: false });
  story.pass(60_000);
  expect(take(story)).toBeNull();
  expect(managedOf(story)).toMatchObject({ state: 'asleep', pending: [] });
});

test('[TN12] an agent that leaves a channel while it runs ends well, and what came there begins no turn', () => {
  const story = tell();
  story.subscribe(wes, 'more');
  const given = story.send(ada, 'jobs');
  const turn = taken(story);
  story.send(ada, 'jobs');
  const kept = story.send(ada, 'more');
  accepted(story.do(acting(turn), { type: 'subscription.remove', patterns: ['jobs'] }));
  story.send(ada, 'jobs');
  accepted(finish(story, turn, 'done', { consumed: [given.position] }));
  const next = taken(story);
  expect(positionsOf(next)).toEqual([kept.position]);
  accepted(finish(story, next, 'failed'));
  accepted(story.do(wes, { type: 'subscription.remove', patterns: ['more'] }));
  story.pass(60_000);
  expect(turnAt(story, next.turn.id).state).toBe('passed');
  expect(managedOf(story).state).toBe('asleep');
});

test('[TN13] an agent that is flooded has its turns, then is parked with one item, until a person resumes it', () => {
  const story = tell({}, { turns_per_10_min: 10_000, turns_per_day: 100_000 });
  accepted(story.do(kim, { type: 'agent.pause', agent: 'wes', reason: null }));
  for (let i = 0; i < PENDING_PER_AGENT_MAX + 5; i++) story.send(ada, 'jobs');
  accepted(story.do(kim, { type: 'agent.resume', agent: 'wes' }));
  // Whoever paused it for another reason has not looked at the flood.
  expect(managedOf(story).isFlooded).toBe(true);
  const first = taken(story);
  for (let i = 0; i < 30; i++) story.send(ada, 'jobs');
  let turns = 0;
  for (let turn: TakenTurn | null = first; turn !== null; turn = take(story)) {
    accepted(finish(story, turn, 'done', { consumed: 'all' }));
    story.pass(0);
    turns++;
  }
  expect(turns).toBe(PENDING_PER_AGENT_MAX / 20);
  expect(managedOf(story)).toMatchObject({
    state: 'parked',
    why: expect.stringContaining('flooded'),
  });
  const items = [...story.world.docket.items.values()].filter(({ closed }) => closed === null);
  expect(items).toMatchObject([{ agent: 'wes', kind: 'parked', reason: 'flooded', count: 1 }]);
  // Nothing is lost: what was too much is in its inbox.
  expect(story.take(wes, { max: 1_000 })).toHaveLength(35);
  accepted(story.do(kim, { type: 'agent.resume', agent: 'wes' }));
  story.pass(1_000);
  expect(managedOf(story)).toMatchObject({ state: 'asleep', isFlooded: false });
});

test('[TN5] what a reader passes by stays owed up to a bound, and the receipts of the rest say so', () => {
  const story = createStory();
  story.subscribe(wes, 'jobs');
  accepted(manage(story, 'wes', { from: ['boss'] }));
  const passed = Array.from({ length: SKIPPED_PER_MEMBER_MAX + 3 }, () => story.send(ada, 'jobs'));
  const wanted = story.send(createPrincipal('boss'), 'jobs');
  const turn = taken(story);
  expect(positionsOf(turn)).toEqual([wanted.position]);
  accepted(finish(story, turn, 'done', { consumed: 'all' }));
  expect(story.states(wanted)).toEqual({ wes: 'consumed' });
  const states = passed.map((one) => story.states(one).wes);
  expect(states.slice(0, 3)).toEqual(['expired', 'expired', 'expired']);
  expect(new Set(states.slice(3))).toEqual(new Set([states[3]]));
  expect(states[3]).not.toBe('expired');
  expect(story.receipts(passed[0] as never)[0]?.reason).toContain('left more than');
  expect(story.take(wes, { max: 2_000 })).toHaveLength(SKIPPED_PER_MEMBER_MAX);
});
