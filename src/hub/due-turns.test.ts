/** A thousand agents due at once: each has its turn, in slices that let others be served in between. */
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { Command } from '../core/law/world.ts';
import { TURNS_KEPT_MAX } from '../core/turns/turn-limits.ts';
import type { Turn } from '../core/turns/turn-state.ts';
import { WAKE_ALWAYS } from '../core/turns/wake-rule.ts';
import { openRig } from '../testing/rig.ts';
import { accepted, createPrincipal, createStory } from '../testing/story.ts';
import { ada, manage, managedOf, root, take, tell } from '../testing/turn-story.ts';
import { DUE_EVENTS_MAX } from './batch.ts';

const AGENTS = 1_000;

test('[TN3] [H10] a thousand agents due at once have a turn each, in bounded slices and in order', async () => {
  const rig = await openRig(() => setImmediate());
  const { hub } = rig;
  const names = Array.from({ length: AGENTS }, (_, i) => `w${1_000 + i}`);
  const wake = { wake: WAKE_ALWAYS, limits: {}, session: 'resume' } as const;
  const config = { runner: '{"kind":"outside"}', runnerKind: 'outside', ...wake };
  const asked = names.flatMap((agent): Command[] => [
    { type: 'subscription.add', pattern: 'jobs', by: createPrincipal(agent), at: hub.stamp() },
    { type: 'agent.manage', agent, config, by: root, at: hub.stamp() },
  ]);
  await rig.until(Promise.all(asked.map((command) => hub.submit(command))));
  accepted(await rig.send(ada, 'jobs'));
  const before = rig.disk.batches.length;
  rig.clock.jump(100);
  const sent = rig.send(ada, 'other');
  const waking = await rig.until(hub.ask((world) => [...world.turns.waking]));
  accepted(await rig.until(sent));
  expect(waking).toEqual(names);
  const slices = rig.disk.batches.slice(before).map(({ entries }) => entries.length);
  expect(slices.reduce((sum, one) => sum + one, 0)).toBe(AGENTS + 1);
  // One more for each is the tick of its deadline, which is not stored.
  expect(Math.max(...slices)).toBeLessThanOrEqual(DUE_EVENTS_MAX / 2 + 1);
  const tries = { agents: null, runnerKinds: null, leaseMs: null, hash: null };
  const taken = await rig.until(
    hub.submit({ type: 'turn.take', ...tries, by: root, at: hub.stamp() }),
  );
  expect(taken).toMatchObject({ turn: { agent: names[0] } });
});

test('[TN13] however many turns have not ended, one more costs a look at a few of them', () => {
  const story = tell();
  story.send(ada, 'jobs');
  story.pass(100);
  const turn = take(story)?.turn as Turn;
  const { turns } = story.world.turns;
  for (let i = 0; i < 2 * TURNS_KEPT_MAX; i++) turns.set(`x${i}`, { ...turn, id: `x${i}` });
  story.subscribe(ada, 'ada');
  accepted(manage(story, 'ada'));
  const forget = vi.spyOn(turns, 'delete');
  story.send(createPrincipal('bob'), 'ada');
  story.pass(100);
  expect(managedOf(story, 'ada').state).toBe('waking');
  expect(forget.mock.calls.length).toBeLessThan(10);
  expect(turns.get('x0')).toBeDefined();
});

test('[RA8] what a space spent is added up once for all agents that are due together', () => {
  const story = createStory();
  const names = Array.from({ length: 50 }, (_, i) => `w${1_000 + i}`);
  let read = 0;
  for (const name of names) {
    story.subscribe(createPrincipal(name), 'jobs');
    accepted(manage(story, name));
    const { spans } = managedOf(story, name).rails.diary;
    Object.defineProperty(spans, Symbol.iterator, {
      value: () => {
        read++;
        return spans.values();
      },
    });
  }
  accepted(story.do(root, { type: 'space.configure', change: { turnsDayUsd: 5 } }));
  story.send(ada, 'jobs');
  story.pass(100);
  expect([...story.world.turns.waking]).toEqual(names);
  expect(read).toBeLessThanOrEqual(4 * names.length);
});
