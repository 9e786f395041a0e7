/** A person comes in by the real link, in a real browser, at a real hub. */
import type { Browser, Page } from 'playwright-core';
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

/** Runs in the page: who the hub says it is, asked over a WebSocket as the client does. */
const WHO = `(token) => new Promise((resolve) => {
  const half = btoa(token).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  const ws = new WebSocket(location.origin.replace('http', 'ws') + '/ws', ['synod.v1', 'synod.token.' + half]);
  ws.onopen = () => ws.send('{"jsonrpc":"2.0","id":1,"method":"hub.whoami","params":{}}');
  ws.onmessage = ({ data }) => resolve(JSON.parse(data).result.agent_id);
  ws.onclose = ({ code }) => resolve('closed ' + code);
})`;

async function whoIs(page: Page): Promise<string> {
  return page.evaluate(`(${WHO})(localStorage.getItem('synod.page'))`);
}

test('[WD1] [WD3] the first load is logged in, and nothing of the policy is broken', async () => {
  const page = await browser.newPage();
  const troubles: string[] = [];
  page.on('console', (line) => line.type() === 'error' && troubles.push(line.text()));
  page.on('pageerror', (error) => troubles.push(error.message));
  const { url } = await hub.admin('web_link', { name: 'paula' });
  await page.goto(url);
  await page.getByRole('main').waitFor();
  expect(page.url()).toBe(`http://localhost:${hub.port}/`);
  expect(await whoIs(page)).toBe('paula');
  expect(await page.evaluate('document.cookie')).toBe('');
  await page.reload();
  expect(await whoIs(page)).toBe('paula');
  expect(troubles).toEqual([]);
  await page.goto(url);
  expect(await page.locator('body').textContent()).toContain('synod web');
});

test('[WD2] a page whose session is revoked says so at once, and what to do', async () => {
  const page = await browser.newPage();
  const { url } = await hub.admin('web_link', { name: 'rita' });
  await page.goto(url);
  await page.getByRole('main').waitFor();
  await expect.poll(() => whoIs(page)).toBe('rita');
  const { sessions } = await hub.admin('web_sessions');
  const mine = sessions.find((one: { name: string }) => one.name === 'rita');
  await hub.admin('web_revoke', { session_id: mine.session_id });
  await page.getByText('This page is not let in (any more)').waitFor();
  await page.getByText('synod web').first().waitFor();
  await page.close();
});
