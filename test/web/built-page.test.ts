/** What `npm install` builds for a browser: small enough to be there at once, and without what only a hub needs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { ROOT } from '../tidy/repository.ts';
import { buildPage } from './build-page.ts';

const built = join(ROOT, 'dist', 'web');
const FIRST_LOAD_BYTES_MAX = 150_000;

beforeAll(buildPage, 120_000);

test('[WI9] what the first load fetches is under 150 KB gzipped', () => {
  const index = readFileSync(join(built, 'index.html'), 'utf8');
  const named = [...index.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path as string);
  expect(named.some((path) => path.endsWith('.js'))).toBe(true);
  const bytes = ['index.html', ...named]
    .map((path) => gzipSync(readFileSync(join(built, path))).length)
    .reduce((sum, one) => sum + one, 0);
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX);
});

test('[WI9] no schema of the wire is in it', () => {
  const scripts = readdirSync(join(built, 'assets')).filter((name) => name.endsWith('.js'));
  const found = scripts.filter((name) =>
    /ZodError|\$ZodType|strictObject/.test(readFileSync(join(built, 'assets', name), 'utf8')),
  );
  expect([scripts.length > 1, found]).toEqual([true, []]);
});
