/** A repository that is made below a claimed file frees nothing, for the guard and for a commit. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commit, git, initRepository, tempFolder } from '../place/real-repository.ts';
import { type Home, openHome } from './cli-run.ts';

let home: Home;
beforeAll(async () => {
  home = openHome();
  await home.start(['serve', '--json', '--port', '0']).printed(/"ready":true/);
});
afterAll(() => home.close());

test('[SC8] [GI18] what was claimed from the repository around it is still held in the new one', async () => {
  const app = initRepository(join(tempFolder(), 'app'));
  commit(app, { 'src/a.ts': 'a' });
  const inner = join(app, 'src');
  const run = (agent: string, ...args: string[]) =>
    home.run(args, { cwd: inner, env: { SYNOD_AGENT: agent } });
  await home.json(['claim', 'g3', '--paths', 'src/a.ts'], {
    cwd: app,
    env: { SYNOD_AGENT: 'ada' },
  });
  git(inner, 'init', '-q');
  const held = expect.stringContaining('held by ada');
  expect(await run('bob', 'guard', 'a.ts')).toMatchObject({ code: 2, stderr: held });
  git(inner, 'add', 'a.ts');
  expect(await run('bob', 'git', 'hook', 'pre-commit')).toMatchObject({ code: 10, stderr: held });
  expect((await run('ada', 'git', 'hook', 'pre-commit')).code).toBe(0);
});
