/**
 * The README fits one screen, and what it and the guides tell a newcomer to type works as shown.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

const SYNOD = `'${ROOT}bin/synod'`;
const REPOSITORY = `git init -q -b main repository && cd repository
mkdir -p src/api && touch src/parser.ts src/api/routes.ts && git add .
git -c user.name=ada -c user.email=ada@example.org commit -qm start
git switch -qc feature`;

function blocksOf(page: string, language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...page.matchAll(fenced)].map(([, block]) => block as string);
}

/** One script, which ends at the first command that fails. */
function runScript(script: string, cwd: string, env: Record<string, string>) {
  const whole = `set -e\nsynod() { ${SYNOD} "$@"; }\n${script}`;
  return spawnSync('bash', ['-c', whole], { cwd, env, encoding: 'utf8', timeout: 100_000 });
}

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
      // Whoever goes on with the next page begins with nothing held.
      expect(await runStep('synod claims', aliases, env)).toEqual(['']);
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
        .replaceAll(`'synod/server'`, `'${ROOT}src/server/run/index.ts'`)
        .replaceAll('http://127.0.0.1:8765', hub.url)
        .replaceAll(`'/home/ada/.synod`, `'${env.SYNOD_DIR}`);
      writeFileSync(path, local);
      const { stdout, stderr, status } = spawnSync(process.execPath, [path], {
        env,
        encoding: 'utf8',
        timeout: 100_000,
      });
      expect(status, `${program}\n${stderr}`).toBe(0);
      if (shown !== undefined) expect(stdout.trim()).toBe(shown.trim());
    }
  } finally {
    await hub.stop();
  }
});

test('the plugin of the guide loads and refuses as shown', async () => {
  const page = readText('docs/guide/write-a-plugin.md');
  const home = makeHome();
  const env = environment(home);
  const folder = join(home, 'node_modules/my-plugin');
  mkdirSync(folder, { recursive: true });
  for (const [name, language] of [
    ['package.json', 'json'],
    ['sox-plugin.yaml', 'yaml'],
    ['plugin.js', 'js'],
  ] as const) {
    writeFileSync(join(folder, name), blocksOf(page, language)[0] ?? '');
  }
  const [serve = '', send = '', shown = ''] = (blocksOf(page, 'text')[0] ?? '').split('\n');
  const hub = await startHub(`cd '${home}' && ${serve.replace(/^synod/, SYNOD)}`, env);
  try {
    const { stderr } = runScript(send, home, env);
    expect(stderr.trim()).toBe(shown);
  } finally {
    await hub.stop();
  }
});

test.each(['docs/guide/http.md', 'docs/guide/work.md', 'docs/guide/context.md'])(
  '%s: its commands run one after the other',
  async (page) => {
    const home = makeHome();
    const env = environment(home);
    const hub = await startHub('node bin/synod.js', env);
    try {
      const script = blocksOf(readText(page), 'sh')
        .join('\n')
        .replaceAll('http://127.0.0.1:8765', hub.url)
        .replaceAll('~/.synod', env.SYNOD_DIR as string)
        // A refusal is no failure to curl unless it is told so; the last call is refused on purpose.
        .replaceAll(/^curl (?!.*"body": "hello")/gm, 'curl --fail-with-body ')
        .replaceAll(/hooks (install|check)$/gm, `hooks $1 --command '${ROOT}bin/synod'`);
      const nothingHeld = 'test -z "$(synod claims)"';
      const whole = `${REPOSITORY}\n${script}\n${nothingHeld}`;
      const { status, stdout, stderr } = runScript(whole, home, env);
      expect(status, stdout + stderr).toBe(0);
    } finally {
      await hub.stop();
    }
  },
  60_000,
);
