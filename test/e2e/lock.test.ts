/** `synod lock`, with real processes. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Home, openHome } from './cli-run.ts';
import { DEADLINE_MS } from './deadline.ts';

let home: Home;
beforeAll(async () => {
  home = openHome();
  await home.json(['up', '--port', '0']);
});
afterAll(() => home.close());

const node = (code: string): string[] => ['--', process.execPath, '-e', code];
/** Says that it runs, and waits until it may end. */
const holding = (flag: string, end: string): string[] =>
  node(`const fs = require('fs'); fs.writeFileSync(${JSON.stringify(flag)}, '');
    setInterval(() => { if (fs.existsSync(${JSON.stringify(end)})) process.exit(7); }, 20);`);

test('[CL18] it keeps out others and other processes of the same agent, and ends as its command does', async () => {
  const [begun, end] = [join(home.dir, 'begun'), join(home.dir, 'end')];
  const first = home.start(['lock', 'deploy', '--as', 'ada', ...holding(begun, end)]);
  await vi.waitFor(() => expect(existsSync(begun)).toBe(true), DEADLINE_MS);
  const ran = join(home.dir, 'ran');
  const touch = node(`require('fs').writeFileSync(${JSON.stringify(ran)}, '')`);
  const [other, same] = await Promise.all(
    ['bob', 'ada'].map((name) =>
      home.run(['lock', 'deploy', '--as', name, '--wait', '50ms', ...touch]),
    ),
  );
  expect(other?.stderr).toContain('claim.held: ');
  expect(same?.stderr).toContain('claim.fenced: ');
  expect(existsSync(ran)).toBe(false);
  const queued = home.start(['lock', 'deploy', '--as', 'bob', ...touch]);
  await queued.printed(/waiting; 0 before you/);
  writeFileSync(end, '');
  expect((await first.exited()).code).toBe(7);
  expect((await queued.exited()).code).toBe(0);
  expect(existsSync(ran)).toBe(true);
  expect(await home.json(['claims'])).toMatchObject({ claims: [] });
  const missing = await home.run(['lock', 'deploy', '--', 'no-such-command']);
  expect(missing.code).toBe(127);
});
