/**
 * Random histories of turns: sends, takes, ends, lapses, pauses, reads and jumps of the clock. After
 * each step an agent has one turn at the most; in the end every message that could wake has come to
 * one end, and the world is the one that its log tells.
 */
import { expect, test } from 'vitest';
import { type Chance, createChance } from '../../testing/chance.ts';
import { portray } from '../../testing/compare.ts';
import { createPrincipal, createStory, type Story } from '../../testing/story.ts';
import { decodeEvent } from '../law/entry.ts';
import { createWorld } from '../law/state.ts';
import { evolve } from '../law/world.ts';
import type { TakenTurn } from './turn-events.ts';
import { WAKE_ALWAYS } from './wake-rule.ts';

const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });
const agents = ['a', 'b', 'c'].map((name) => createPrincipal(name));
const END = {
  ...{ output: null, note: null, sessionRef: null, cost: null, quota: null, isRestart: false },
};

function step(story: Story, chance: Chance, held: TakenTurn[]): void {
  const agent = chance.pick(agents);
  const ways: (() => unknown)[] = [
    () => story.send(chance.pick(agents), chance.pick(['x', 'y'])),
    () => story.send(root, 'x', { ttlMs: chance.pick([20, 60_000]) }),
    () => story.pass(chance.pick([1, 30, 500, 3_000, 12_000, 3_600_000])),
    () => {
      const wishes = { agents: null, runnerKinds: null, leaseMs: null, hash: null };
      const taken = story.do(root, { type: 'turn.take', ...wishes }) as TakenTurn | null;
      if (taken !== null) held.push(taken);
    },
    () => {
      if (held.length === 0) return;
      const { id, epoch } = chance.pick(held).turn;
      const outcome = chance.pick(['done', 'failed', 'nothing', 'gave_up'] as const);
      const consumed = chance.pick(['all', null] as const);
      story.do(root, { type: 'turn.finish', id, epoch, outcome, consumed, ...END });
    },
    () => story.drain(agent, { max: 3, ...(chance.pick([true, false]) && { leaseMs: 5_000 }) }),
    () => story.do(root, { type: 'agent.pause', agent: agent.id, reason: null }),
    () => story.do(root, { type: 'agent.resume', agent: null }),
    () => story.do(root, { type: 'turn.cancel', id: `t${chance.pick([1, 5, 9])}`, reason: null }),
    () => story.do(root, { type: 'turn.retry', id: `t${chance.pick([1, 4, 8])}` }),
  ];
  chance.pick(ways)();
}

function checkBook({ world: { turns } }: Story): void {
  const open = [...turns.turns.values()].filter(({ endedAt }) => endedAt === null);
  expect(new Set(open.map(({ agent }) => agent)).size).toBe(open.length);
  expect(turns.busyCount).toBe(open.filter(({ state }) => state === 'busy').length);
  expect(turns.busyCount).toBeLessThanOrEqual(4);
  const waking = open.filter(({ state }) => state === 'waking').map(({ agent }) => agent);
  expect([...turns.waking].sort()).toEqual(waking.sort());
  for (const managed of turns.agents.values()) {
    const turn = open.find(({ agent }) => agent === managed.agent);
    expect(managed.turn).toBe(turn?.id ?? null);
    const isIdle = ['asleep', 'parked', 'paused'].includes(managed.state);
    expect(isIdle ? turn : turn?.state).toBe(isIdle ? undefined : managed.state);
  }
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  '[TN1] [TN2] [TN3] history %i: one turn at a time, and nothing that wakes is left behind',
  (seed) => {
    const story = createStory();
    const chance = createChance(seed);
    const held: TakenTurn[] = [];
    const runner = {
      runner: '{"kind":"outside"}',
      runnerKind: 'outside',
      session: 'fresh',
    } as const;
    for (const agent of agents) {
      story.subscribe(agent, 'x', 'y');
      const config = { ...runner, wake: WAKE_ALWAYS, limits: {} };
      story.do(root, { type: 'agent.manage', agent: agent.id, config });
    }
    for (let i = 0; i < 300; i++) {
      step(story, chance, held);
      checkBook(story);
    }
    const replayed = createWorld();
    for (const [position, entry] of story.entries.entries()) {
      evolve(replayed, decodeEvent(entry), position);
    }
    expect(portray(replayed, 'durable')).toBe(portray(story.world, 'durable'));
    // Left alone with somebody who finishes whatever is due, all of it comes to an end.
    for (let i = 0; i < 200; i++) {
      story.do(root, { type: 'agent.resume', agent: null });
      story.pass(20_000);
      const wishes = { agents: null, runnerKinds: null, leaseMs: null, hash: null };
      const taken = story.do(root, { type: 'turn.take', ...wishes }) as TakenTurn | null;
      if (taken === null) continue;
      const { id, epoch } = taken.turn;
      story.do(root, { type: 'turn.finish', id, epoch, outcome: 'done', consumed: 'all', ...END });
    }
    checkBook(story);
    for (const managed of story.world.turns.agents.values()) {
      expect([managed.agent, managed.state, managed.pending]).toEqual([
        managed.agent,
        'asleep',
        [],
      ]);
    }
  },
);
