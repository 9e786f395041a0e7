/**
 * The guide's release, to the letter: its program, its commands and the person at a terminal. It is killed, its code
 * is changed, it is stuck, mapped and finished; and what is said of a hub inside a program is so.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { openFlow } from '../../src/flow/index.ts';
import { NO_TMUX, openTerminal } from '../e2e/chat-terminal.ts';
import { openHome } from '../e2e/cli-run.ts';
import { BIN } from '../program.ts';
import { ROOT, readText } from '../tidy/repository.ts';
import { createFolder } from './kit.ts';

const PAGE = readText('docs/guide/workflows.md');
const SECRET = 'correct horse battery';
const home = openHome();
afterAll(() => home.close());

/** The one line of the guide that begins so, as a command. */
function lineOf(begins: string): string {
  const lines = PAGE.split('\n').map((line) => line.replace(/^\$ /, ''));
  const found = lines.filter((line) => line.startsWith(begins));
  expect(found, begins).toHaveLength(1);
  return found[0] as string;
}

async function type(line: string): Promise<string> {
  const script = `synod() { '${process.execPath}' '${BIN}' "$@"; }\n${line}`;
  const env = { PATH: process.env.PATH, SYNOD_DIR: home.dir, HOME: home.dir };
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { env, timeout: 30_000 });
  return stdout;
}

const show = () => type(lineOf('synod workflow show release-1'));

/** What it says, once it says it. */
const until = async (ask: () => Promise<string>, wanted: RegExp): Promise<string> => {
  await expect.poll(ask, { timeout: 40_000, interval: 100 }).toMatch(wanted);
  return ask();
};

/** An agent reads what it is asked, and replies under the id that it is shown. */
async function answer(agent: string): Promise<void> {
  let shown = '';
  const read = async () => {
    shown += await type(lineOf(`synod recv --as ${agent}`));
    return shown;
  };
  const id = /\[(m\d+)\]/.exec(await until(read, /releaser: .*\[m\d+\]/))?.[1];
  await type(
    lineOf(`synod send dm/${agent}~releaser`).replace(/--reply-to m\d+/, `--reply-to ${id}`),
  );
}

async function start(program: string) {
  const path = join(home.dir, 'release.ts');
  writeFileSync(path, program.replace("'synod/flow'", `'${ROOT}src/flow/index.ts'`));
  const child = spawn(process.execPath, [path], {
    env: { PATH: process.env.PATH, SYNOD_DIR: home.dir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data');
  expect(said).toBe('release-1 is here\n');
  return async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
}

test.skipIf(NO_TMUX !== null)(
  '[FW6] [FW7] [WF15] the release of the guide is killed, stuck, mapped, approved and done',
  async () => {
    await home.run(['up', '--port', '0']);
    const terminal = await openTerminal(home, 100, 30);
    await terminal.synod(lineOf('synod person add').replace(/^synod /, ''));
    await terminal.shows(/A passphrase for mia/);
    await terminal.enter(SECRET);
    await terminal.shows(/The same again/);
    await terminal.enter(SECRET);
    await terminal.shows(/mia is a person here[\s\S]*left with 0/);

    const programs = [...PAGE.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, one]) => one ?? '');
    const program = programs.find((one) => one.includes("workflow('release'")) ?? '';
    const kill = await start(program);
    await until(show, /waits for ada's answer/);
    await type('synod send dm/ada~releaser "It is slower." --as ada');
    await answer('ada');
    // Its head says so once no process holds it any more.
    await until(show, /^release-1 release: running, waits for bob's answer[\s\S]*turn:bob pending/);
    expect(await show()).not.toContain('slower');
    await kill();

    const killAgain = await start(program.replace("'build'", "'compile'"));
    await answer('bob');
    const stuck = await until(show, /: stuck/);
    const told = /^release-1 release: stuck [\s\S]*?^```$/m.exec(PAGE)?.[0] ?? 'none';
    expect(stuck.split('\n').slice(1, 6)).toEqual(told.split('\n').slice(1, 6));
    expect(await type('synod docket')).toContain('stuck: release release-1');

    await type(lineOf('synod workflow retry release-1 --map'));
    expect(await until(() => type('synod gates'), /^g1 /m)).toContain('v1.tgz');
    await terminal.synod(lineOf('synod gates approve').replace(/^synod /, ''));
    await terminal.shows(/Passphrase of mia:/);
    await terminal.enter(SECRET);
    await terminal.shows(/g1 is approved by mia/);
    const done = await until(show, /: completed/);
    expect(done).toContain(lineOf('  result: '));
    expect(done).toContain('compile completed');
    await killAgain();
    await terminal.close();
  },
  120_000,
);

test('[FW1] a hub inside a program is reached by nobody else while it runs', async () => {
  const store = `sqlite://${join(await createFolder(), 'flow.sqlite')}`;
  const other = openHome();
  await using _flow = await openFlow({ store });
  expect((await other.run(['workflow'])).code).not.toBe(0);
  const { code, stderr } = await other.run(['up', '--port', '0', '--store', store]);
  expect([code === 0, stderr]).toEqual([false, expect.stringContaining('log.locked')]);
  await other.close();
});
