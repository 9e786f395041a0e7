/** The programs of the guide to sessions, one after the other as a reader types them, against a hub. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT, readText } from '../tidy/repository.ts';
import { openRunningHub, type RunningHub } from './running-hub.ts';

let hub: RunningHub;
const dir = mkdtempSync(join(tmpdir(), 'synod-guide-'));
beforeAll(async () => {
  hub = await openRunningHub();
  await hub.ask('reviewer', 'channels.heartbeat', { status: 'online' });
  await hub.ask('ada', 'claims.take', { task_id: 'topic' });
});
afterAll(async () => {
  await hub.close();
  rmSync(dir, { recursive: true, force: true });
});

test('[SN1] [SN4] [SN5] [HO3] what the guide shows runs, and comes to what it says', async () => {
  const page = readText('docs/guide/sessions.md');
  const blocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block]) => block);
  expect(blocks).toHaveLength(4);
  const told = 'told.json';
  const program = [
    `import { writeFileSync } from 'node:fs';`,
    `const token = ${JSON.stringify(hub.owner)};`,
    `const track = (parcel: number, key: string) => ({ parcel, key });`,
    ...blocks,
    `const told = { where, isHanded, fork: await other.items(), left: await session.items() };`,
    `writeFileSync(${JSON.stringify(join(dir, told))}, JSON.stringify(told));`,
    `await hub.close();`,
  ]
    .join('\n')
    .replaceAll(`'synod/flow'`, `'${pathToFileURL(join(ROOT, 'src/flow/index.ts'))}'`)
    .replaceAll(`'synod'`, `'${pathToFileURL(join(ROOT, 'src/client/index.ts'))}'`)
    .replaceAll('http://127.0.0.1:8765', hub.url)
    // Ten items to fork and cut at four: the reader has more to say than the page shows.
    .replace(
      'const where =',
      `for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 9]) await session.append({ kind: 'note', content: \`\${n}\` });\nconst where =`,
    )
    .replace('keep: 10', 'keep: 1');
  const file = join(dir, 'guide.ts');
  writeFileSync(file, program);
  // The hub is in this process, which must not stand still meanwhile; a failure is thrown with its words.
  await promisify(execFile)(process.execPath, [file], { timeout: 60_000 });
  const { where, isHanded, fork, left } = JSON.parse(readFileSync(join(dir, told), 'utf8'));
  expect(where).toMatchObject({ parcel: 7, key: expect.stringMatching(/^s1-/) });
  expect(isHanded).toBe(true);
  expect(fork).toHaveLength(4);
  expect(left.map(({ kind }: { kind: string }) => kind)).toEqual(['note', 'note', 'handoff']);
  const items = [{ kind: 'assistant', content: 'I look' }];
  const { claims } = await hub.ask('reviewer', 'sessions.append', { session_id: 's1', items });
  expect(claims).toEqual([{ claim_id: 'topic', taken: true, reason: null }]);
});
