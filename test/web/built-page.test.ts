/** Goal: what `npm install` built is a page that a browser shows. */
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../tidy/repository.ts';
import { openBrowser } from './browser.ts';

const built = join(ROOT, 'dist', 'web');
let browser: Browser;

beforeAll(async () => {
  browser = await openBrowser();
}, 60_000);
afterAll(() => browser.close());

test('the built page shows itself, and axe finds nothing', async () => {
  const page = await browser.newPage();
  await page.route('http://page.test/**', (route) => {
    const { pathname } = new URL(route.request().url());
    // Nobody else is there: the page says so and waits.
    if (/^\/(v1|ws)\//.test(pathname)) return route.abort();
    const path = pathname === '/' ? '/index.html' : pathname;
    return route.fulfill({ path: join(built, path) });
  });
  await page.goto('http://page.test/');
  await page.getByRole('heading', { name: 'Needs you' }).waitFor();
  await page.evaluate(axe.source);
  const found = await page.evaluate(
    '(async () => (await axe.run()).violations.map((one) => one.id))()',
  );
  expect(found).toEqual([]);
}, 60_000);
