/** Installs that begin at the same moment. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { oneAtATime } from './one-at-a-time.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'synod-lock-'));
  path = join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('[IN17] two installs at once are done one after the other', async () => {
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 8 }, () => oneAtATime(work, path)));
  expect(most).toBe(1);
  expect(existsSync(path)).toBe(false);
});

test('[IN17] what a dead process left is taken over; what a live one holds is waited for, not for ever', async () => {
  writeFileSync(path, '4194304');
  expect(await oneAtATime(async () => 'done', path)).toBe('done');
  writeFileSync(path, String(process.pid));
  await expect(oneAtATime(async () => 'done', path, 60)).rejects.toThrow(/another install/);
  expect(existsSync(path)).toBe(true);
});
