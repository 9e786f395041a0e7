import { expect, test } from 'vitest';
import { openMemoryLog } from '../../log/memory.ts';
import { createPrincipal, createStory } from '../../testing/story.ts';
import { createPastTimes } from './past-times.ts';

test('[PA2] [PA6] a time finds the position that counting finds, in a log of any length', async () => {
  const story = createStory();
  const ada = createPrincipal('ada');
  for (let i = 0; i < 40; i++) {
    // Several at one time, and times at which nothing was stored.
    story.at += i % 3 === 0 ? 7 : 0;
    story.send(ada, 'news');
  }
  const log = openMemoryLog();
  await log.append(0, story.entries);
  const stamps = story.entries.map((entry) => JSON.parse(entry).at as number);
  const times = createPastTimes(log);
  for (let length = 0; length <= stamps.length; length++) {
    const stored = stamps.slice(0, length);
    for (let time = 1_000_000; time < story.at + 3; time += 3) {
      const counted = stored.filter((at) => at <= time).length;
      expect(await times.positionAt(time, length)).toBe(counted);
    }
    const { entries, positions } = await times.span({ buckets: 5, from: null, to: null }, length);
    expect(entries.reduce((a, b) => a + b, 0)).toBe(length);
    expect(positions.at(-1) ?? 0).toBe(length);
  }
});
