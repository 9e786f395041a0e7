/** The page in bad company: a hub that goes and comes back, words made to deceive, a small screen, no mouse. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRunningHub } from '../e2e/running-hub.ts';
import { freePort } from '../free-ports.ts';
import { axeFinds, openScene, type Scene } from './scene.ts';

const MARKUP = '<img src=x onerror="window.hacked=1"> {{1+1}}';
const HOSTILE = `\u202egnp.exe\u200b ${MARKUP}`;
const ROOMS = ['needs', 'talk/general', 'work', 'agents', 'record', 'health'];

let dir: string;
let scene: Scene;
let page: Page;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'synod-page-'));
  // One that is free again when the hub comes back to it.
  scene = await openScene({ dir, flags: { port: String(await freePort()) } });
  page = await scene.enter({ at: '#/talk/general' });
  await page.getByText('Nothing was said here yet').waitFor();
});
afterAll(async () => {
  await scene.close();
  await rm(dir, { recursive: true, force: true });
});

async function go(room: string): Promise<void> {
  await page.evaluate(`location.hash = '#/${room}'`);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
}

test('[WI6] a hub that went is said to be away, and back it has lost and doubled nothing', async () => {
  const { port } = scene.hub;
  const texts = Array.from({ length: 9 }, (_, i) => `message ${i}`);
  const say = async (hub: Scene['hub'], some: readonly string[]): Promise<void> => {
    for (const text of some) await hub.ask('bob', 'send', { channel: 'general', body: { text } });
  };
  await say(scene.hub, texts.slice(0, 3));
  await page.getByText('message 2').waitFor();
  await scene.hub.close();
  await page.getByText('the hub is away; trying again').waitFor();
  const hub = await openRunningHub({ dir, flags: { port: String(port) } });
  scene.close = async () => {
    await scene.browser.close();
    await hub.close();
  };
  Object.assign(scene, { hub });
  // Before the page is back, and after.
  await say(hub, texts.slice(3, 6));
  await page.getByText('message 5').waitFor();
  await page.getByText('the hub is away; trying again').waitFor({ state: 'detached' });
  await say(hub, texts.slice(6));
  await page.getByText('message 8').waitFor();
  const shown = await page.getByRole('article').locator('.prose').allTextContents();
  expect(shown).toEqual(texts);
});

test('[WI7] words made to deceive are text in every room, with what hides in them written out', async () => {
  const { hub } = scene;
  // Where the hub refuses what hides, markup alone is tried; what it takes must do no harm on a page.
  const put = async (operation: string, make: (words: string) => unknown): Promise<void> => {
    const first = await hub.post(operation, make(HOSTILE), hub.as('mallory'));
    if (first.status === 200) return;
    const second = await hub.post(operation, make(MARKUP), hub.as('mallory'));
    expect(second.status, `${operation}: ${second.text}`).toBe(200);
  };
  await put('send', (w) => ({ channel: 'general', body: { text: w, [w]: w } }));
  await put('send', (w) => ({ channel: 'general', body: { kind: 'post', title: w, type: w } }));
  await put('send', (w) => ({ channel: w, body: { text: w } }));
  await put('docket_raise', (text) => ({ text }));
  await put('gates_ask', (w) => ({ action: w, subject: w, policy: w, thread: w }));
  await put('presence_report', (note) => ({ state: 'blocked', note }));
  await put('claims_take', (w) => ({ task_id: 'c1', note: w, paths: [`src/${w}`] }));
  await put('plan_declare', (w) => ({ task_id: 't1', title: w, description: w }));
  await put('plan_progress', (text) => ({ task_id: 't1', text }));
  for (const room of ROOMS) {
    await go(room);
    if (room === 'needs') await page.locator('[data-item] [aria-expanded]').first().click();
    if (room === 'work') await page.getByText('{{1+1}}').first().waitFor();
    if (room === 'agents') await page.getByText('mallory').first().waitFor();
    expect(await page.locator('main img').count(), room).toBe(0);
    expect(await page.evaluate('document.body.innerText'), room).not.toMatch(/[\u202e\u200b]/);
  }
  await go('talk/general');
  await page.getByText('\\u{202e}gnp.exe\\u{200b}').first().waitFor();
  expect(await page.evaluate('window.hacked')).toBeUndefined();
});

test('[WI3] every room is reached by the keyboard, and ? shows the keys', async () => {
  await page.locator('main').focus();
  for (const [key, title] of [
    ...[
      ['n', 'Needs you'],
      ['t', 'Talk'],
      ['w', 'Work'],
      ['a', 'Agents'],
    ],
    ...[
      ['r', 'Record'],
      ['h', 'Health'],
    ],
  ] as const) {
    await page.keyboard.press('g');
    await page.keyboard.press(key as string);
    await page.getByRole('heading', { level: 1, name: title as string }).waitFor();
  }
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  expect(await axeFinds(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('[WI8] at 360 px every room fits, and the rail is a bar at the bottom', async () => {
  await page.setViewportSize({ width: 360, height: 720 });
  for (const room of ROOMS) {
    await go(room);
    const [wide, rail] = (await page.evaluate(`[
      Math.max(document.documentElement.scrollWidth, document.getElementById('room').scrollWidth),
      document.querySelector('.rail').getBoundingClientRect(),
    ]`)) as [number, DOMRect];
    expect(wide, room).toBeLessThanOrEqual(360);
    expect([rail.left, rail.right, rail.bottom], room).toEqual([0, 360, 720]);
  }
});
