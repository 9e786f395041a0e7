/**
 * A token claims files by their names; where links on the hub's disk lead is not told to it, neither in
 * an answer nor in a refusal, and a file still has one holder.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
let repo = '';
beforeAll(async () => {
  hub = await openAttackedHub();
  const root = realpathSync(hub.dir);
  repo = join(root, 'repo');
  mkdirSync(join(repo, 'src'), { recursive: true });
  mkdirSync(join(root, 'hidden-place'));
  writeFileSync(join(repo, 'src/real.ts'), '');
  spawnSync('git', ['init', '-q', repo]);
  symlinkSync('src/real.ts', join(repo, 'link.ts'));
  symlinkSync(join(root, 'hidden-place'), join(repo, 'out'));
  symlinkSync(repo, join(root, 'repo-link'));
});
afterAll(() => hub.close());

test('[WK4] a token is refused what lies behind a link, and told nothing of it', async () => {
  const asks = [
    { worktree: repo, paths: ['link.ts'] },
    { worktree: repo, paths: ['out/x.ts'] },
    { worktree: `${repo}-link`, paths: ['src/real.ts'] },
  ];
  for (const scope of asks) {
    for (const [operation, input] of [
      ['claims_take', { task_id: 'probe', ...scope }],
      ['claims_check', scope],
      ['claims_wait', { task_id: 'probe', ...scope }],
    ] as const) {
      const { status, text } = await hub.agent.post(operation, input);
      const told = [operation, scope, status, /hidden-place|src\/real\.ts(?!")/.test(text)];
      expect(told).toEqual([operation, scope, 400, false]);
      expect(text).toContain('name files by their real path');
    }
  }
});

test('[WK4] the owner’s callers are placed through links, and a file has one holder', async () => {
  const { claim } = await hub.ask('carl', 'claims_take', {
    ...{ task_id: 'T-1', worktree: `${repo}-link`, paths: ['link.ts'] },
  });
  expect([claim.worktree, claim.paths]).toEqual([repo, ['src/real.ts']]);
  // However a token names the folder it stands in.
  for (const scope of [
    { worktree: repo, paths: ['src/real.ts'] },
    { worktree: join(repo, 'src'), paths: ['real.ts'] },
  ]) {
    const refused = await hub.agent.refusal('claims_take', { task_id: 'T-2', ...scope });
    expect(refused.detail.reason).toBe('claim.overlap');
  }
});
