import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openDecisionLog } from './decision-log.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'synod-decisions-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const line = { space: 'default', agent: 'ada', vendor: 'claude', session: 's', event: 'Stop' };

test('[HD8] lines come in order, in a file that only the owner reads', async () => {
  const path = join(dir, 'logs/decisions.jsonl');
  const log = openDecisionLog(path, () => {});
  for (const reason of ['one', 'two', 'x'.repeat(9_000)]) {
    log.write({ ...line, action: 'noop', reason });
  }
  await log.close();
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  expect(lines.map((one) => JSON.parse(one).reason.length)).toEqual([3, 3, 500]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('[HD8] at its limit the file is turned over, and one old one is kept', async () => {
  const path = join(dir, 'decisions.jsonl');
  for (let i = 0; i < 40; i++) {
    const log = openDecisionLog(path, () => {}, 1_000);
    log.write({ ...line, action: 'noop', reason: `number ${i}` });
    await log.close();
  }
  expect(statSync(path).size).toBeLessThanOrEqual(1_000);
  expect(statSync(`${path}.1`).size).toBeLessThanOrEqual(1_000);
  expect(readFileSync(path, 'utf8')).toContain('number 39');
});

test('[HD8] where it cannot be written that is told once, and nothing else happens', async () => {
  const troubles: string[] = [];
  writeFileSync(join(dir, 'file'), '');
  const log = openDecisionLog(join(dir, 'file/decisions.jsonl'), (what) => troubles.push(what));
  log.write({ ...line, action: 'noop', reason: 'x' });
  await vi.waitFor(() => expect(troubles).toHaveLength(1));
  log.write({ ...line, action: 'noop', reason: 'y' });
  await log.close();
  expect(troubles).toEqual([expect.stringContaining('cannot be written')]);
});

test('[HD8] once it is closed nothing is written: its directory may be gone', async () => {
  const path = join(dir, 'logs/decisions.jsonl');
  const log = openDecisionLog(path, () => {});
  log.write({ ...line, action: 'noop', reason: 'in time' });
  await log.close();
  log.write({ ...line, action: 'noop', reason: 'too late' });
  await log.close();
  expect(readFileSync(path, 'utf8')).toContain('in time');
  expect(readFileSync(path, 'utf8')).not.toContain('too late');
});
