/**
 * The page of a hub that is a process of its own, on a directory with two hours of talk in it: time is dragged
 * back an hour and forward again, and the hub is killed under the page.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeEvent } from '../../src/core/law/entry.ts';
import type { MessageSent } from '../../src/core/talk/message.ts';
import { openSqliteLog } from '../../src/log/sqlite.ts';
import { type HubProcess, isRunning, startHubProcess } from '../e2e/hub-process.ts';
import { fetchReply, type Json } from '../e2e/running-hub.ts';
import { freePort } from '../free-ports.ts';
import { openBrowser } from './browser.ts';

const MINUTE_MS = 60_000;
const WAIT_MS = 60_000;

let dir: string;
let port: number | undefined;
let hub: HubProcess;
let browser: Browser;
let page: Page;
/** When the two hours of talk ended. */
let toldAt: number;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'synod-killed-'));
  toldAt = Date.now();
  await tellTwoHours();
  [browser, hub] = await Promise.all([openBrowser(), start()]);
  const context = await browser.newContext({ viewport: { width: 1024, height: 720 } });
  page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const { url } = await ask('web_link', { name: 'paula' });
  await page.goto(url);
  await page.evaluate(`location.hash = '#/talk/general'`);
  await rows().last().waitFor();
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await hub?.kill();
  await rm(dir, { recursive: true, force: true });
});

/** A message a minute, each of which says how long before the end it was. */
async function tellTwoHours(): Promise<void> {
  const log = await openSqliteLog(join(dir, 'spaces', 'default.sqlite'));
  const events = Array.from({ length: 120 }, (_, i): MessageSent => {
    const minutes = 120 - i;
    return {
      ...{ type: 'message.sent', by: 'ada', as: 'agent/trusted', channel: 'general', seq: i + 1 },
      at: toldAt - minutes * MINUTE_MS,
      body: JSON.stringify({ text: `${minutes} minutes before` }),
    };
  });
  await log.append(0, events.map(encodeEvent));
  await log.close();
}

/** At the same port each time, which nobody else is given meanwhile. */
async function start(): Promise<HubProcess> {
  port ??= await freePort();
  const started = await startHubProcess(dir, { args: ['--port', String(port)] });
  if (!isRunning(started)) throw new Error(started.stderr);
  return started;
}

async function ask(operation: string, input: object, agent?: string): Promise<Json> {
  const owner = (await readFile(join(dir, 'credential'), 'utf8')).trim();
  const { status, body, text } = await fetchReply(`${hub.url}/v1/ops/${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${owner}`, 'x-sox-agent-id': agent },
    body: JSON.stringify(input),
  });
  if (status !== 200) throw new Error(`${operation} was refused with ${status}: ${text}`);
  return body;
}

const rows = (): Locator => page.getByRole('article').locator('.prose');

/** How long before the end the newest message in sight was said. */
async function newestShown(): Promise<number> {
  return Number.parseInt((await rows().allTextContents()).at(-1) ?? '', 10);
}

/** Drags the thumb, with the mouse, to a part of the way; 1 is now. */
async function drag(to: number): Promise<void> {
  const slider = page.getByRole('slider', { name: 'The record in time' });
  const box = await slider.boundingBox();
  if (box === null) throw new Error('there is no slider');
  const value = Number(await slider.inputValue()) / Number(await slider.getAttribute('max'));
  // The middle of the thumb stays within the track.
  const at = (part: number): number => box.x + 8 + part * (box.width - 16);
  const y = box.y + box.height / 2;
  await page.mouse.move(at(value), y);
  await page.mouse.down();
  await page.mouse.move(at((value + to) / 2), y, { steps: 4 });
  await page.mouse.move(to >= 1 ? box.x + box.width + 40 : to <= 0 ? box.x - 40 : at(to), y, {
    steps: 4,
  });
  await page.mouse.up();
}

test('[WI14] time is dragged back an hour, and half of it, and forward again to now', async () => {
  await expect.poll(newestShown, { timeout: WAIT_MS }).toBe(1);
  await page.getByRole('combobox', { name: 'How far back the slider goes' }).selectOption('hour');
  const band = page.getByText(/^As it was at /);
  const edge = page.locator('.slider-edge');
  // The left edge is an hour ago once the window was asked for.
  await expect
    .poll(async () => isAgo((await edge.textContent()) ?? '', 60), { timeout: WAIT_MS })
    .toBe(true);
  for (const [part, minutes] of [
    [0, 60],
    [0.5, 30],
  ] as const) {
    await drag(part);
    await band.waitFor();
    // What was said since the talk ended was never said: only the clock went on.
    const sinceEnd = (): number => (Date.now() - toldAt) / MINUTE_MS;
    const isThen = (shown: number): boolean =>
      shown <= minutes + 2 && shown >= minutes - 2 - Math.ceil(sinceEnd());
    await expect
      .poll(async () => isThen(await newestShown()), { timeout: WAIT_MS, message: `${part}` })
      .toBe(true);
  }
  await drag(1);
  await band.waitFor({ state: 'detached' });
  await expect.poll(newestShown, { timeout: WAIT_MS }).toBe(1);
}, 180_000);

/** Is the clock time so many minutes ago, give or take what a slow machine needs? */
function isAgo(text: string, minutes: number): boolean {
  const [, hour = 'x', minute = 'x'] = /(\d\d):(\d\d)$/.exec(text.trim()) ?? [];
  const then = new Date(Date.now() - minutes * MINUTE_MS);
  const shown = Number(hour) * 60 + Number(minute);
  const far = Math.abs(shown - (then.getHours() * 60 + then.getMinutes()));
  return Math.min(far, 24 * 60 - far) <= 3;
}

test('[WI6] a hub that is killed under the page is said to be away, and back it has lost and doubled nothing', async () => {
  const texts = Array.from({ length: 9 }, (_, i) => `after it ${i}`);
  const say = async (some: readonly string[]): Promise<void> => {
    for (const text of some) await ask('send', { channel: 'general', body: { text } }, 'bob');
  };
  await say(texts.slice(0, 3));
  await page.getByText('after it 2').waitFor();
  await hub.kill();
  await page.getByText('the hub is away; trying again').waitFor();
  hub = await start();
  // Before the page is back, and after.
  await say(texts.slice(3, 6));
  await page.getByText('after it 5').waitFor();
  await page.getByText('the hub is away; trying again').waitFor({ state: 'detached' });
  await say(texts.slice(6));
  await page.getByText('after it 8').waitFor();
  const shown = (await rows().allTextContents()).filter((text) => text.startsWith('after it'));
  expect(shown).toEqual(texts);
  expect((await ask('record_head', {})).length).toBeGreaterThanOrEqual(120 + texts.length);
}, 180_000);
