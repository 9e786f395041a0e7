/** The commands and hooks of git together: real repositories, real hooks, real processes, a hub of claims. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { GitClaim } from '../../src/place/auto-release.ts';
import { shellQuote } from '../../src/place/hook-script.ts';
import { type ClaimsHub, openClaimsHub } from './claims-hub.ts';
import {
  commit,
  git,
  initRepository,
  type Ran,
  scriptOnPath,
  tempFolder,
  write,
} from './real-repository.ts';

const RUNNER = join(import.meta.dirname, '../../bin/synod.js');

interface Scene {
  readonly hub: ClaimsHub;
  readonly app: string;
  /** Runs a program as an agent; the hub answers meanwhile. */
  run(agent: string, cwd: string, program: string, ...args: string[]): Promise<Ran>;
}

async function openScene(): Promise<Scene> {
  const root = tempFolder();
  const hub = await openClaimsHub();
  const app = initRepository(join(root, 'app'));
  commit(app, { 'src/a.ts': 'a', 'docs/x': 'x' });
  const script = `#!/bin/sh\nexec ${shellQuote(process.execPath)} ${shellQuote(RUNNER)} "$@"\n`;
  const path = scriptOnPath(join(root, 'bin'), 'synod', script);
  return {
    hub,
    app,
    async run(agent, cwd, program, ...args) {
      const identity = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.org' };
      const committer = { GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.org' };
      const who = { SYNOD_URL: hub.url, SYNOD_AGENT: agent, SYNOD_DIR: join(root, 'data') };
      const env = { ...process.env, ...identity, ...committer, ...who, PATH: path };
      const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
      const [stdout, stderr, [exit]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      return { exit: exit as number, stdout, stderr };
    },
  };
}

function claim(app: string, owner: string, more: Partial<GitClaim>): GitClaim {
  return {
    task_id: `task-${owner}`,
    owner,
    paths: ['src'],
    lease_expires_at: Date.now() / 1000 + 600,
    epoch: 3,
    worktree: app,
    branch: 'main',
    git: { repository: join(app, '.git'), base: 'main', auto_release_on: 'commit' },
    ...more,
  };
}

test('[GI18] [GI22] a commit that touches what ada holds is refused to bo, and releases the claim for ada', async () => {
  const { hub, app, run } = await openScene();
  const missing = ['git', 'hooks', 'install', '--command', join(app, 'no-synod')];
  expect(await run('ada', app, 'synod', ...missing)).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('hook.no-command'),
  });
  expect(await run('ada', app, 'synod', 'git', 'hooks', 'install')).toMatchObject({ exit: 0 });
  hub.claims.push(claim(app, 'ada', {}));
  write(app, 'src/a.ts', 'changed');
  const refused = await run('bo', app, 'git', 'commit', '-q', '-am', 'mine');
  expect(refused).toMatchObject({ exit: 1, stderr: expect.stringContaining('held by ada') });
  expect(git(app, 'log', '--oneline').split('\n')).toHaveLength(1);
  write(app, 'docs/x', 'free');
  expect(await run('bo', app, 'git', 'commit', '-q', '-m', 'docs', 'docs/x')).toMatchObject({
    exit: 0,
  });
  expect(hub.released).toEqual([]);
  const passed = await run('ada', app, 'git', 'commit', '-q', '-am', 'ada');
  expect(passed).toMatchObject({ exit: 0, stderr: expect.stringContaining('released task-ada') });
  const head = git(app, 'rev-parse', 'HEAD');
  expect(hub.released).toEqual([{ task_id: 'task-ada', epoch: 3, evidence: `commit ${head}` }]);
});

test('[GI22] a merge with conflicts releases the claim when it is committed', async () => {
  const { hub, app, run } = await openScene();
  git(app, 'checkout', '-q', '-b', 'topic');
  commit(app, { 'src/a.ts': 'topic' });
  git(app, 'checkout', '-q', 'main');
  commit(app, { 'src/a.ts': 'main' });
  await run('ada', app, 'synod', 'git', 'hooks', 'install');
  const gitFacts = { repository: join(app, '.git'), base: 'main', auto_release_on: 'merge' };
  hub.claims.push(claim(app, 'ada', { branch: 'topic', git: gitFacts as GitClaim['git'] }));
  expect((await run('ada', app, 'git', 'merge', '-q', 'topic')).exit).toBe(1);
  expect(hub.released).toEqual([]);
  write(app, 'src/a.ts', 'both');
  expect(await run('ada', app, 'git', 'commit', '-qam', 'both')).toMatchObject({ exit: 0 });
  expect(hub.released).toMatchObject([{ task_id: 'task-ada' }]);
});

test('[GI5] a claim records the worktree, the branch and the base, and places its paths', async () => {
  const { hub, app, run } = await openScene();
  git(app, 'checkout', '-q', '-b', 'topic');
  const src = join(app, 'src');
  const ran = await run('ada', src, 'synod', 'git', 'claim', 'T1', 'a.ts', '../docs', '*.md');
  expect(ran.exit).toBe(0);
  expect(ran.stderr).toContain('nothing will release it on merge');
  expect(hub.taken).toEqual([
    {
      task_id: 'T1',
      paths: ['src/a.ts', 'docs/', 'src/*.md'],
      worktree: app,
      branch: 'topic',
      git: { repository: join(app, '.git'), base: 'main', auto_release_on: 'merge' },
    },
  ]);
  const outside = await run('ada', src, 'synod', 'git', 'claim', 'T2', '../../x');
  expect(outside).toMatchObject({ exit: 1, stderr: expect.stringContaining('path.escapes') });
  expect(hub.taken).toHaveLength(1);
});

test('[GI18] [GI19] the guard answers for paths and for commands, by its exit code', async () => {
  const { hub, app, run } = await openScene();
  hub.claims.push(claim(app, 'ada', { paths: ['src/**/*.ts'] }));
  const guard = async (agent: string, ...args: string[]) =>
    (await run(agent, join(app, 'src'), 'synod', 'guard', ...args)).exit;
  expect(await guard('bo', 'a.ts')).toBe(2);
  expect(await guard('ada', 'a.ts')).toBe(0);
  expect(await guard('bo', '../docs/x')).toBe(0);
  expect(await guard('bo', '--command', 'echo hi > ../src/a.ts')).toBe(2);
  expect(await guard('bo', '--command', 'npm run build')).toBe(3);
  expect(await guard('bo', '--command', 'npm test > a.ts')).toBe(2);
  expect(await guard('bo', '--must-hold', '../docs/x')).toBe(2);
  expect(await guard('bo', '/somewhere/else')).toBe(0);
});

test('[GI20] [GI21] conflicts leave by 0, 2 or 1', async () => {
  const { hub, app, run } = await openScene();
  const exit = async (...args: string[]) => run('ada', app, 'synod', 'conflicts', ...args);
  expect(await exit()).toMatchObject({ exit: 0, stdout: '' });
  for (const name of ['ada', 'bo']) {
    git(app, 'checkout', '-q', '-b', name, 'main');
    commit(app, { [`src/${name}.ts`]: name });
    hub.claims.push(claim(app, name, { branch: name, paths: ['src/**'] }));
  }
  const some = await exit();
  expect(some.exit).toBe(2);
  expect(some.stdout).toBe('ada (task-ada, ada) and bo (task-bo, bo) on main: src/**\n');
  expect(await exit('--check-diff')).toMatchObject({ exit: 0 });
  expect(await exit('--url', 'http://127.0.0.1:1')).toMatchObject({ exit: 1 });
});
