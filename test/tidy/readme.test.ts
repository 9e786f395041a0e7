/**
 * The README fits one screen, and what it and the guides tell a newcomer to type works as shown.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROOT, readText } from './repository.ts';
import {
  comparable,
  environment,
  readSteps,
  runStep,
  type Started,
  startHub,
} from './shell-blocks.ts';

const LINES_MAX = 60;
const PAGES = ['README.md', 'docs/guide/start.md'];

const homes: string[] = [];
function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'synod-readme-'));
  homes.push(home);
  return home;
}
afterAll(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

test('the README fits one screen', () => {
  expect(readText('README.md').split('\n').length).toBeLessThanOrEqual(LINES_MAX);
});

test.each(PAGES)(
  '%s: every command runs and prints what is shown',
  async (page) => {
    const env = environment(makeHome());
    const steps = readSteps(readText(page));
    expect(steps.length).toBeGreaterThan(4);
    const aliases: string[] = [];
    let hub: Started | null = null;
    try {
      for (const { command, expected } of steps) {
        if (command.startsWith('alias ')) aliases.push(command);
        else if (command === 'npm install') {
          // Whoever runs this test has done it; CI does it on every push.
          expect(readText('.ci/run')).toContain('npm install');
        } else if (command === 'npm start') hub = await startHub(command, env);
        else {
          const printed = await runStep(command, aliases, env);
          if (expected.length > 0) expect(printed, command).toEqual(expected.map(comparable));
        }
      }
    } finally {
      await hub?.stop();
    }
  },
  120_000,
);

test('the programs of the embedding guide run and print what is shown', async () => {
  const page = readText('docs/guide/embed.md');
  const home = makeHome();
  const env = environment(home);
  const programs = [...page.matchAll(/^```ts\n([\s\S]*?)^```\n+(?:```text\n([\s\S]*?)^```)?/gm)];
  expect(programs.length).toBeGreaterThan(1);
  const hub = await startHub('node bin/synod.js', env);
  try {
    for (const [at, [, program = '', shown]] of programs.entries()) {
      const path = join(home, `program-${at}.ts`);
      // The sources stand in for the installed package, and this hub for the one at the usual port.
      const local = program
        .replaceAll(`'synod'`, `'${ROOT}src/client/index.ts'`)
        .replaceAll(`'synod/server'`, `'${ROOT}src/server/index.ts'`)
        .replaceAll('http://127.0.0.1:8765', hub.url)
        .replaceAll(`'/home/ada/.synod`, `'${env.SYNOD_DIR}`);
      writeFileSync(path, local);
      const { stdout, stderr, status } = spawnSync(process.execPath, [path], {
        env,
        encoding: 'utf8',
        timeout: 20_000,
      });
      expect(status, `${program}\n${stderr}`).toBe(0);
      if (shown !== undefined) expect(stdout.trim()).toBe(shown.trim());
    }
  } finally {
    await hub.stop();
  }
}, 60_000);
