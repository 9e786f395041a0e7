/** The page on a phone's screen, over TLS, by the link that the QR code holds. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRunningHub, type RunningHub } from '../e2e/running-hub.ts';
import { openBrowser } from './browser.ts';

let browser: Browser;
let hub: RunningHub;

beforeAll(async () => {
  [browser, hub] = await Promise.all([openBrowser(), openRunningHub()]);
});
afterAll(async () => {
  await browser.close();
  await hub.close();
});

test('[WD8] a phone comes in at 360 px and is live', async () => {
  const { url, origin } = await hub.admin('web_phone_open', { host: '127.0.0.1', name: 'paula' });
  const context = await browser.newContext({
    ...{ ignoreHTTPSErrors: true, viewport: { width: 360, height: 740 }, isMobile: true },
  });
  const page = await context.newPage();
  const opened = page.waitForEvent('websocket');
  await page.goto(url);
  await page.getByRole('main').waitFor();
  expect(page.url()).toBe(`${origin}/`);
  expect((await opened).url()).toBe(`${origin.replace('https', 'wss')}/ws`);
  // Nothing is wider than the screen.
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  const { sessions } = await hub.admin('web_sessions');
  expect(sessions[0].name).toBe('paula');
});
