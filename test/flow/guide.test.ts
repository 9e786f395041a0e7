/** The programs of the guide print what stands below them, and the example does what it says. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, readText } from '../tidy/repository.ts';
import { createFolder } from './kit.ts';

const run = (path: string): string =>
  execFileSync(process.execPath, [path], { encoding: 'utf8', timeout: 60_000 });

test('[FW1] [FW14] [WF11] [WF13] each program of the guide prints what stands below it', async () => {
  const dir = await createFolder();
  const page = readText('docs/guide/workflows.md');
  const shown = [...page.matchAll(/^```ts\n((?:(?!```).*\n)*)```\n\n```text\n([\s\S]*?)^```$/gm)];
  expect(shown).toHaveLength(3);
  for (const [at, [, program = '', output = '']] of shown.entries()) {
    const path = join(dir, `program${at}.ts`);
    writeFileSync(path, program.replace("'synod/flow'", `'${ROOT}src/flow/index.ts'`));
    expect(run(path)).toBe(output);
  }
});

test('[FW15] the example lands what can land, and ends well', () => {
  expect(run(join(ROOT, 'examples/landing/main.ts')).trim().split('\n')).toEqual([
    'verse: landed',
    'chorus: back to ada, it stands against main in song.txt',
    'cover: landed',
    'noise: back to ada, noise is no song',
    'main: main: song.txt, verse: song.txt, cover: cover.txt',
  ]);
});
