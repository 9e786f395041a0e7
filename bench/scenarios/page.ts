/**
 * The page in the browser of the tests: how much the first load fetches, when the first room is painted, and
 * how many frames a second there are while a channel of 10,000 messages is scrolled. The first
 * load is one value, whatever the rounds. There is no baseline: the goals are what people notice.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { createClient } from '../../src/client/client.ts';
import { openScene, type Scene } from '../../test/web/scene.ts';
import type { Measure, Scenario } from '../scenario.ts';
import { HUB_ROOT } from '../server.ts';

const KB = 1_000;
const AT_ONCE = 1_000;
const SCROLLS = 120;

export const page: Scenario = {
  name: 'page',
  async run({ isQuick, rounds, hasHub }): Promise<Measure[]> {
    if (!hasHub) return [];
    const scene = await openScene();
    try {
      const paints: number[] = [];
      for (let round = 0; round < rounds; round++) paints.push(await firstPaint(scene));
      const messages = isQuick ? AT_ONCE : 10_000;
      await fill(scene, messages);
      const opened = await scene.enter({ at: '#/talk/long' });
      await reach(opened, messages);
      const frames: number[] = [];
      for (let round = 0; round < rounds; round++) frames.push(await scroll(opened));
      return [
        sized('first load, gzipped', 'KB', [await firstLoad()], 150),
        sized('first paint of the first room', 'ms', paints, 1_000),
        {
          what: `frames while ${messages} messages scroll`,
          unit: '/s',
          sides: { hub: frames },
          // The screen's own 60, as far as a clock of milliseconds tells.
          goal: { atLeast: 59 },
        },
      ];
    } finally {
      await scene.close();
    }
  },
};

function sized(what: string, unit: string, hub: readonly number[], atMost: number): Measure {
  return { what, unit, sides: { hub }, goal: { atMost } };
}

async function firstLoad(): Promise<number> {
  const built = join(HUB_ROOT, 'dist', 'web');
  const index = await readFile(join(built, 'index.html'), 'utf8');
  const named = [...index.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path as string);
  let bytes = 0;
  for (const path of ['index.html', ...named]) {
    bytes += gzipSync(await readFile(join(built, path))).length;
  }
  return bytes / KB;
}

async function firstPaint(scene: Scene): Promise<number> {
  const page = await scene.enter();
  await page.getByText('Nothing waits for you').waitFor();
  const paint = await page.evaluate(
    `performance.getEntriesByName('first-contentful-paint')[0].startTime`,
  );
  await page.context().close();
  return Number(paint);
}

async function fill({ hub }: Scene, messages: number): Promise<void> {
  const client = createClient({ url: hub.url, token: hub.owner, agent: 'bob' });
  for (let sent = 0; sent < messages; sent += AT_ONCE) {
    const some = Array.from({ length: AT_ONCE }, (_, i) => sent + i);
    await Promise.all(
      some.map((i) =>
        client.send('long', { text: `message ${i} ${'word '.repeat((i * 7) % 60)}` }),
      ),
    );
  }
  await client.close();
}

/** Scrolls up until all of it is there. */
async function reach(page: Page, messages: number): Promise<void> {
  await page.getByRole('article').first().waitFor();
  await page.evaluate(`(async () => {
    const list = document.querySelector('.virtual');
    while (Number(list.querySelector('li').getAttribute('aria-setsize')) < ${messages}) {
      list.scrollTop = 0;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })()`);
}

async function scroll(page: Page): Promise<number> {
  return page.evaluate(`(async () => {
    const list = document.querySelector('.virtual');
    list.scrollTop = list.scrollHeight / 2;
    await new Promise((resolve) => setTimeout(resolve, 200));
    const from = performance.now();
    for (let i = 0; i < ${SCROLLS}; i++) {
      list.scrollTop += 120;
      await new Promise(requestAnimationFrame);
    }
    return (${SCROLLS} * 1_000) / (performance.now() - from);
  })()`);
}
