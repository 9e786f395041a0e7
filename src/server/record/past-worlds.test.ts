import { expect, test } from 'vitest';
import { freezeWorld } from '../../core/law/snapshot.ts';
import { rebuildWorld } from '../../hub/rebuild.ts';
import type { Log } from '../../log/log.ts';
import { openMemoryLog } from '../../log/memory.ts';
import { createPrincipal, createStory } from '../../testing/story.ts';
import { createPastWorlds } from './past-worlds.ts';

const STEP = 100;
const LENGTH = 3_000;
const never = (): boolean => false;

async function openLog(): Promise<Log> {
  const story = createStory();
  const ada = createPrincipal('ada');
  const bob = createPrincipal('bob');
  story.subscribe(bob, 'news');
  while (story.entries.length < LENGTH) {
    story.at += 1_000;
    story.send(ada, `news`);
    if (story.entries.length % 7 === 0) story.drain(bob);
  }
  const log = openMemoryLog();
  const entries = story.entries.slice(0, LENGTH);
  // In batches that end at no round number, so that what is asked for lies in their middle.
  for (let at = 0; at < LENGTH; at += 7) await log.append(at, entries.slice(at, at + 7));
  return log;
}

test('[PA1] wherever one goes, the world is the one that replaying the log gives', async () => {
  const log = await openLog();
  const worlds = createPastWorlds(log, { step: STEP });
  for (const position of [2_500, 2_400, 0, 1, 2_999, 1_000, 999, 1_001, LENGTH, 37, 1_500]) {
    const world = await worlds.at(position, never);
    const replayed = await rebuildWorld(log, () => {}, position);
    expect(world && freezeWorld(world)).toBe(freezeWorld(replayed));
  }
});

test('[PA5] a step forward replays the difference, and a step back little more', async () => {
  const worlds = createPastWorlds(await openLog(), { step: STEP });
  const costOf = async (position: number): Promise<number> => {
    const before = worlds.replayed;
    await worlds.at(position, never);
    return worlds.replayed - before;
  };
  expect(await costOf(2_000)).toBe(2_000);
  expect(await costOf(2_010)).toBe(10);
  for (let position = 2_000; position > 1_650; position -= 10) {
    expect(await costOf(position)).toBeLessThanOrEqual(2 * STEP);
  }
  // Forward again, over where one has been.
  expect(await costOf(1_990)).toBeLessThanOrEqual(2 * STEP + 40);
});

test('[PA5] copies stay within their bytes; without them it only takes longer', async () => {
  const log = await openLog();
  const worlds = createPastWorlds(log, { step: STEP, bytesMax: 2_000 });
  for (const position of [2_900, 2_000, 2_500, 100, 2_999]) {
    const world = await worlds.at(position, never);
    expect(world?.length).toBe(position);
    expect(worlds.bytes).toBeLessThanOrEqual(2_000);
  }
});

test('[PA5] what was called off goes on from where it came to', async () => {
  const worlds = createPastWorlds(await openLog(), { step: STEP });
  expect(await worlds.at(LENGTH, () => true)).toBeNull();
  const done = worlds.replayed;
  expect(done).toBeGreaterThan(0);
  expect((await worlds.at(LENGTH, never))?.length).toBe(LENGTH);
  expect(worlds.replayed).toBe(LENGTH);
});

test('[PA5] a world that an entry broke is not gone on with', async () => {
  const log = await openLog();
  const damaged: Log = Object.create(log, {
    read: {
      async *value(from: number) {
        for await (const { first, entries } of log.read(from)) {
          if (isDamaged && first + entries.length > 500) yield { first, entries: ['{"type":"?"}'] };
          else yield { first, entries };
        }
      },
    },
  });
  let isDamaged = true;
  const worlds = createPastWorlds(damaged, { step: STEP });
  await expect(worlds.at(1_000, never)).rejects.toThrow('log.newer');
  isDamaged = false;
  const world = await worlds.at(1_000, never);
  const replayed = await rebuildWorld(log, () => {}, 1_000);
  expect(world && freezeWorld(world)).toBe(freezeWorld(replayed));
});
