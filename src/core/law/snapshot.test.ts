import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createChance } from '../../testing/chance.ts';
import { portray } from '../../testing/compare.ts';
import { addStep, CAST } from '../../testing/history.ts';
import { createStory, type Story } from '../../testing/story.ts';
import { owedTotal, peek } from '../talk/inbox.ts';
import { receiptsOf } from '../talk/receipt.ts';
import { decodeEvent } from './entry.ts';
import { freezeWorld, thawWorld } from './snapshot.ts';
import { createWorld, type World } from './state.ts';
import { evolve } from './world.ts';

const seeds = fc.integer({ min: 0, max: 2 ** 31 });
const RUNS = { numRuns: 60 };
const STEPS = 150;

function tell(seed: number, steps: number, story: Story = createStory()): Story {
  const chance = createChance(seed);
  for (let i = 0; i < steps; i++) addStep(story, chance);
  return story;
}

/** What callers would be told: inboxes, how much is owed, every receipt. */
function answers(world: World): unknown {
  const inboxes = CAST.map(({ id }) => [
    peek(world, id, null, 1000),
    owedTotal(world.agents.get(id)),
  ]);
  const receipts = [...world.channels.values()].flatMap(({ name, positions }) =>
    Array.from({ length: positions.head }, (_, i) => {
      const subject = { channel: name, seq: i + 1, position: positions.at(i + 1), expiresAt: null };
      const found = receiptsOf(world, subject, world.at);
      return [subject.position, found.sort((a, b) => (a.agent < b.agent ? -1 : 1))] as const;
    }),
  );
  return { inboxes, receipts: new Map(receipts) };
}

describe('snapshots', () => {
  test('[L3] a thawed world is the frozen one: the same text, indexes and answers', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { world } = tell(seed, STEPS);
        const thawed = thawWorld(freezeWorld(world)) as World;
        expect(portray(thawed)).toBe(portray(world));
        expect(answers(thawed)).toEqual(answers(world));
      }),
      RUNS,
    );
  });

  test('[L3] a thawed world goes on like the frozen one', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const live = tell(seed, STEPS);
        const thawed = createStory(thawWorld(freezeWorld(live.world)) as World, live.at);
        tell(seed + 1, STEPS, live);
        tell(seed + 1, STEPS, thawed);
        expect(portray(thawed.world)).toBe(portray(live.world));
        expect(answers(thawed.world)).toEqual(answers(live.world));
      }),
      RUNS,
    );
  });

  test('[L3] a snapshot of another version is ignored, never interpreted', () => {
    const text = freezeWorld(createWorld()).replace(/"version":\d+/, '"version":0');
    expect(thawWorld(text)).toBeNull();
  });
});

describe('replay', () => {
  test('[L1] the same entries always make the same world, but for what only memory knew', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { world, entries } = tell(seed, STEPS);
        const replayed = createWorld();
        for (const [position, entry] of entries.entries())
          evolve(replayed, decodeEvent(entry), position);
        expect(portray(replayed, 'durable')).toBe(portray(world, 'durable'));
      }),
      RUNS,
    );
  });

  test('[L1] what the indexes say is what counting anew would say', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { world } = tell(seed, STEPS);
        for (const agent of world.agents.values()) {
          const leased = [...agent.memberships.values()].reduce(
            (sum, { leased: one }) => sum + (one?.size ?? 0),
            0,
          );
          expect(agent.leasedCount).toBe(leased);
          expect([...agent.memberships.values()].filter((one) => one.leased?.size)).toHaveLength(
            [...agent.leasing].filter((one) => one.leased?.size).length,
          );
          expect([...agent.leasing].every((one) => one.leased?.size)).toBe(true);
          const owed = peek(world, agent.name, null, 10_000);
          expect(Array.isArray(owed) ? owed.length : owed).toBe(owedTotal(agent));
          expect(agent.ready.size > 0).toBe(owedTotal(agent) > 0);
        }
        const waiting = [...world.channels.values()].flatMap(({ held }) => [
          ...(held?.values() ?? []),
        ]);
        expect(world.held.size).toBe(waiting.filter(({ isRefused }) => !isRefused).length);
      }),
      RUNS,
    );
  });

  test('[L4] a refusal put on record says who, what and why, and changes nothing else', () => {
    const story = createStory();
    const before = portray(story.world, 'durable').replaceAll(/^(length|recordedAt) = .*$/gm, '');
    const [by] = CAST;
    if (by === undefined) return;
    story.do(by, { type: 'refusal.record', operation: 'send', code: 'access.denied', about: 'a' });
    expect(JSON.parse(story.entries[0] ?? '')).toMatchObject({
      by: 'ada',
      operation: 'send',
      about: 'a',
    });
    expect(portray(story.world, 'durable').replaceAll(/^(length|recordedAt) = .*$/gm, '')).toBe(
      before,
    );
  });
});
