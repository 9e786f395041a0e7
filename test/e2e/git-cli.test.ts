/**
 * Git from the command line, against a real hub: hooks that refuse a commit and give a claim back, claims that
 * know their worktree and branch, the guard for paths and commands, and who will meet whom on a branch.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shellQuote } from '../../src/place/hook-script.ts';
import {
  commit,
  git,
  initRepository,
  scriptOnPath,
  tempFolder,
  tryGit,
  write,
} from '../place/real-repository.ts';
import { BIN, type Home, openHome, type Ran } from './cli-run.ts';

let home: Home;
beforeAll(async () => {
  home = openHome();
  await home.start(['serve', '--json', '--port', '0']).printed(/"ready":true/);
});
afterAll(() => home.close());

const words = (line: string) => line.split(' ');
const as = (agent: string, cwd: string) => ({ cwd, env: { SYNOD_AGENT: agent } });

interface Scene {
  readonly app: string;
  git(agent: string, ...args: string[]): ReturnType<typeof tryGit>;
  synod(agent: string, line: string, cwd?: string): Promise<Ran>;
}

function openScene(): Scene {
  const app = initRepository(join(tempFolder(), 'app'));
  commit(app, { 'src/a.ts': 'a', 'docs/x': 'x' });
  const script = `#!/bin/sh\nexec ${shellQuote(process.execPath)} ${shellQuote(BIN)} "$@"\n`;
  const path = scriptOnPath(tempFolder(), 'synod', script);
  return {
    app,
    git: (agent, ...args) =>
      tryGit(app, args, { PATH: path, SYNOD_DIR: home.dir, SYNOD_AGENT: agent }),
    synod: (agent, line, cwd = app) => home.run(words(line), as(agent, cwd)),
  };
}

const evidence = async (): Promise<string[]> =>
  (await home.run(['log', 'export'])).stdout
    .split('\n')
    .filter((line) => line.includes('claim.released'));

test('[GI18] [GI22] a commit that touches what ada holds is refused to bob, and releases the claim for ada', async () => {
  const scene = openScene();
  const missing = await scene.synod('ada', 'git hooks install --command ./no-synod');
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('hook.no-command') });
  expect((await scene.synod('ada', 'git hooks install')).code).toBe(0);
  const claimed = await scene.synod('ada', 'git claim g1 src --release-on commit');
  expect(claimed).toMatchObject({ code: 0, stderr: '' });
  write(scene.app, 'src/a.ts', 'changed');
  const refused = scene.git('bob', 'commit', '-q', '-am', 'mine');
  expect(refused).toMatchObject({ exit: 1, stderr: expect.stringContaining('held by ada') });
  expect(git(scene.app, 'log', '--oneline').split('\n')).toHaveLength(1);
  write(scene.app, 'docs/x', 'free');
  expect(scene.git('bob', 'commit', '-q', '-m', 'docs', 'docs/x')).toMatchObject({ exit: 0 });
  expect(await evidence()).toEqual([]);
  const passed = scene.git('ada', 'commit', '-q', '-am', 'ada');
  expect(passed).toMatchObject({ exit: 0, stderr: expect.stringContaining('released g1') });
  const head = git(scene.app, 'rev-parse', 'HEAD');
  expect(await evidence()).toEqual([expect.stringContaining(`commit ${head}`)]);
  expect((await scene.synod('ada', 'release g1')).code).toBe(21);
  expect((await scene.synod('ada', 'git hooks uninstall')).code).toBe(0);
});

test('[GI22] a merge with conflicts releases the claim when it is committed', async () => {
  const scene = openScene();
  git(scene.app, 'checkout', '-q', '-b', 'topic');
  commit(scene.app, { 'src/a.ts': 'topic' });
  await scene.synod('ada', 'git hooks install');
  expect((await scene.synod('ada', 'git claim m1 src --release-on merge')).code).toBe(0);
  git(scene.app, 'checkout', '-q', 'main');
  commit(scene.app, { 'src/a.ts': 'main' });
  expect(scene.git('ada', 'merge', '-q', 'topic').exit).toBe(1);
  const held = async () => (await home.json(words('claims --owner ada'))).claims;
  expect(await held()).toMatchObject([{ task_id: 'm1' }]);
  write(scene.app, 'src/a.ts', 'both');
  expect(scene.git('ada', 'commit', '-qam', 'both')).toMatchObject({ exit: 0 });
  expect(await held()).toEqual([]);
});

test('[GI5] a claim records the worktree, the branch and the base, and places its paths', async () => {
  const { app, synod } = openScene();
  git(app, 'checkout', '-q', '-b', 'topic');
  const src = join(app, 'src');
  const ran = await synod('eve', 'git claim T1 a.ts ../docs *.md', src);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('nothing will release it on merge');
  const outside = await synod('eve', 'git claim T2 ../../x', src);
  expect(outside).toMatchObject({ code: 1, stderr: expect.stringContaining('path.escapes') });
  expect((await home.json(words('claims --owner eve'))).claims).toMatchObject([
    {
      ...{ task_id: 'T1', worktree: app, branch: 'topic' },
      paths: ['src/a.ts', 'docs', 'src/*.md'],
      git: { repository: join(app, '.git'), base: 'main', auto_release_on: 'merge' },
    },
  ]);
  await synod('eve', 'release T1');
});

test('[GI18] [GI19] the guard answers for paths and for commands, by its exit code', async () => {
  const { app, synod } = openScene();
  await home.json(['claim', 'g2', '--paths', 'src/**/*.ts'], as('ada', app));
  const guard = async (agent: string, ...args: string[]) =>
    (await home.run(['guard', ...args], as(agent, join(app, 'src')))).code;
  expect(await guard('bob', 'a.ts')).toBe(2);
  expect(await guard('ada', 'a.ts')).toBe(0);
  expect(await guard('bob', '../docs/x')).toBe(0);
  expect(await guard('bob', '/somewhere/else')).toBe(0);
  expect(await guard('bob', '--command', 'echo hi > ../src/a.ts')).toBe(2);
  expect(await guard('bob', '--command', 'npm run build')).toBe(3);
  expect(await guard('bob', '--command', 'npm test > a.ts')).toBe(2);
  expect(await guard('bob', '--must-hold', '../docs/x')).toBe(2);
  const denied = await synod('bob', 'guard src/a.ts --json');
  expect(JSON.parse(denied.stdout)).toMatchObject({ verdict: 'deny' });
  await synod('ada', 'release g2');
  expect(await guard('bob', 'a.ts')).toBe(0);
});

test('[GI20] [GI21] conflicts leave by 0, 2 or 1', async () => {
  const { app, synod } = openScene();
  for (const name of ['ada', 'bob']) {
    const worktree = join(app, '..', name);
    git(app, 'worktree', 'add', '-q', '-b', name, worktree);
    const claimed = await synod(name, `git claim c-${name} src --release-on manual`, worktree);
    expect(claimed.code).toBe(0);
    commit(worktree, { [`src/${name}.ts`]: name });
  }
  const some = await synod('ada', 'conflicts');
  expect(some.code).toBe(2);
  expect(some.stdout).toBe('ada (c-ada, ada) and bob (c-bob, bob) on main: src\n');
  expect((await synod('ada', 'conflicts --check-diff')).code).toBe(0);
  expect((await synod('ada', 'conflicts --url http://127.0.0.1:1')).code).toBe(1);
  for (const name of ['ada', 'bob']) await synod(name, `release c-${name}`);
  expect(await synod('ada', 'conflicts')).toMatchObject({ code: 0, stdout: '' });
});
