/**
 * The pictures of the guide: `npm run pictures` tells a hub a small story, opens the page in the browser of the
 * tests, and writes each room as it then looks. Whoever changes how a room looks runs it again.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ROOT } from '../tidy/repository.ts';
import { tellTalk, tellTrouble } from './picture-story.ts';
import { tellTurns, tellWork } from './room-story.ts';
import { tellRuns } from './run-story.ts';
import { openScene } from './scene.ts';
import { type Pixels, smallPng } from './small-png.ts';

const DIR = join(ROOT, 'docs', 'guide', 'pictures');
const WIDTHS = [360, 1024, 1600];
const ROOMS = ['needs', 'talk', 'work', 'runs', 'agents', 'record', 'health'];
/** Where a picture is of something in a room. */
const PLACES: Readonly<Record<string, string>> = { runs: 'work/runs/land-topic-lexer' };
/** Until what was asked for is there and what moved has come to rest. */
const REST_MS = 900;

await mkdir(DIR, { recursive: true });
const scene = await openScene({ hooks: { vitalsMs: 200 } });
try {
  await tellWork(scene.hub);
  await tellTurns(scene.hub);
  await tellRuns(scene.hub);
  const thread = await tellTalk(scene.hub);
  await tellTrouble(scene.hub);
  const page = await scene.enter({ name: 'ada' });
  await page.evaluate('location.hash = "#/talk/general"');
  await page.getByRole('article').first().waitFor();
  for (const room of ROOMS) {
    for (const width of WIDTHS) {
      const rest = room === 'talk' ? `/general${width > 360 ? `/${thread}` : ''}` : '';
      await page.evaluate(`location.hash = '#/${PLACES[room] ?? room}${rest}'`);
      await take(page, room, width, 'light');
      if (width === 1024) await take(page, room, width, 'dark');
    }
  }
} finally {
  await scene.close();
}

async function take(page: Page, room: string, width: number, scheme: 'light' | 'dark') {
  await page.setViewportSize({ width, height: width === 360 ? 720 : 680 });
  await page.emulateMedia({ colorScheme: scheme });
  await page.mouse.move(0, 0);
  await page.waitForTimeout(REST_MS);
  const png = smallPng(await pixelsOf(page, await page.screenshot()));
  const name = `${room}-${width}${scheme === 'dark' ? '-dark' : ''}.png`;
  await writeFile(join(DIR, name), png);
  console.log(`${name}  ${(png.length / 1_000).toFixed(0)} KB`);
}

/** Decoded by the browser, in a page of its own: that of the hub lets no picture in. */
async function pixelsOf(page: Page, png: Buffer): Promise<Pixels> {
  const blank = await page.context().newPage();
  const { width, height, text } = (await blank.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (one) => one.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let text = '';
    for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
    return { width: image.width, height: image.height, text: btoa(text) };
  })()`)) as { width: number; height: number; text: string };
  await blank.close();
  return { width, height, rgba: Buffer.from(text, 'base64') };
}
