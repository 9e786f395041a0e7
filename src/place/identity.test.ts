import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  commit,
  git,
  initRepository,
  repositoryAt,
  tempFolder,
} from '../../test/place/real-repository.ts';
import { type IdentityQuestion, resolveIdentity } from './identity.ts';
import { readRepository } from './repository.ts';

async function questionAt(cwd: string): Promise<IdentityQuestion> {
  const repository = await readRepository(cwd);
  return { env: {}, credentialAgent: null, repository, defaultAgent: 'cli-ada', home: '/home/ada' };
}

const codes = (identity: ReturnType<typeof resolveIdentity>) =>
  identity.warnings.map(({ warning }) => warning);

test('[GI8] a name nobody chose takes the project of the repository, the same in every worktree', async () => {
  const root = tempFolder();
  const app = initRepository(join(root, 'app'));
  commit(app, { 'src/a': 'x' });
  git(app, 'worktree', 'add', '-q', '-b', 'x', join(root, 'elsewhere'));
  for (const cwd of [app, join(app, 'src'), join(root, 'elsewhere')]) {
    const identity = resolveIdentity(await questionAt(cwd));
    expect(identity).toMatchObject({ name: 'app/cli-ada', agent: 'cli-ada', project: 'app' });
    expect(identity.parts).toEqual([
      { part: 'agent', value: 'cli-ada', source: 'default', from: 'the name of the user' },
      {
        part: 'project',
        value: 'app',
        source: 'git',
        from: `the git common directory ${join(app, '.git')}`,
      },
    ]);
    expect(codes(identity)).toEqual(['identity.not-chosen']);
  }
});

test('[GI8] a chosen name stands as it was written; the flag before the environment', async () => {
  const ask = await questionAt(initRepository(join(tempFolder(), 'app')));
  const env = { SYNOD_AGENT: 'bo', SOX_AGENT_ID: 'bo' };
  expect(resolveIdentity({ ...ask, env })).toMatchObject({
    name: 'bo',
    project: 'app',
    warnings: [],
  });
  const flagged = resolveIdentity({ ...ask, env, asFlag: 'web/cy' });
  expect(flagged).toMatchObject({ name: 'web/cy', agent: 'cy', project: 'web', warnings: [] });
  const joined = resolveIdentity({ ...ask, env: { ...env, SYNOD_PROJECT: 'api' } });
  expect(joined).toMatchObject({ name: 'api/bo', agent: 'bo', project: 'api' });
  expect(resolveIdentity({ ...ask, env: { SOX_AGENT_ID: 'di' } }).parts[0]).toEqual({
    part: 'agent',
    value: 'di',
    source: 'environment',
    from: 'SOX_AGENT_ID',
  });
});

test('[GI8] a credential settles it, and whoever says otherwise is told', async () => {
  const ask = await questionAt(initRepository(join(tempFolder(), 'app')));
  const settled = resolveIdentity({
    ...ask,
    credentialAgent: 'web/eve',
    env: { SYNOD_AGENT: 'bo' },
  });
  expect(settled).toMatchObject({ name: 'web/eve', project: 'web' });
  expect(settled.parts[0]).toMatchObject({ source: 'credential' });
  expect(codes(settled)).toEqual(['identity.overruled']);
  expect(settled.warnings[0]?.message).toContain('SYNOD_AGENT says "bo"');
  const alone = resolveIdentity({ ...ask, credentialAgent: 'eve', env: { SYNOD_PROJECT: 'x' } });
  expect(alone.name).toBe('eve');
});

test('[GI9] what looks accidental is said, with what to do', async () => {
  const root = tempFolder();
  const named = { SYNOD_AGENT: 'bo' };
  for (const folder of ['tmp', 'usr', 'Home', 'ada']) {
    const ask = await questionAt(initRepository(join(root, folder)));
    const identity = resolveIdentity({ ...ask, env: named });
    expect(codes(identity), folder).toEqual(['identity.implausible-project']);
    expect(identity.warnings[0]?.remedy).toContain('SYNOD_PROJECT');
  }
  const dotfiles = await repositoryAt(initRepository(join(root, 'dotfiles')));
  const ask = await questionAt(dotfiles.toplevel);
  expect(codes(resolveIdentity({ ...ask, env: named, home: dotfiles.toplevel }))).toEqual([
    'identity.home-repository',
  ]);
  const outside = await questionAt(root);
  expect(codes(resolveIdentity({ ...outside, env: named }))).toEqual(['identity.no-project']);
  const torn = { SYNOD_AGENT: 'bo', SOX_AGENT_ID: 'cy', SYNOD_PROJECT: 'x' };
  expect(codes(resolveIdentity({ ...outside, env: torn }))).toEqual(['identity.disagreement']);
});

test('[GI9] a name that no agent can have is said', async () => {
  const ask = { ...(await questionAt(tempFolder())), env: { SYNOD_PROJECT: 'p' } };
  for (const asFlag of ['a b', 'a~b', 'a/b/c', '/a', 'a/', 'x'.repeat(200), 'a\u202eb']) {
    expect(codes(resolveIdentity({ ...ask, asFlag })), asFlag).toContain('identity.invalid');
  }
  expect(codes(resolveIdentity({ ...ask, asFlag: 'a/b' }))).toEqual([]);
});
