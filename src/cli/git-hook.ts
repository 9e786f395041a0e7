/**
 * What a git hook asks of Synod. Before a commit: does it touch a path that somebody else holds in
 * this worktree? Then the exit code is HELD_EXIT, and only then is the commit refused. After a commit
 * or merge: claims of ours that end by it are released, with the commit as evidence.
 */
import { claimsToRelease } from '../place/auto-release.ts';
import {
  type Changes,
  changedByMerge,
  changedInCommit,
  isMerge,
  stagedChanges,
} from '../place/changes.ts';
import { decideGuard } from '../place/guard.ts';
import { createHoldings } from '../place/holdings.ts';
import { HELD_EXIT, type HookName } from '../place/hook-script.ts';
import type { Problem } from '../place/problem.ts';
import { type Repository, readRepository } from '../place/repository.ts';
import { readClaims, readClaimsFrom, readMe } from './claims-of-hub.ts';
import type { Context } from './context.ts';
import { toFailure } from './failure.ts';
import { orThrow } from './git-problem.ts';
import { neutralise } from './terminal.ts';

export async function runHook(context: Context<object>, name: HookName): Promise<void> {
  const repository = orThrow(await readRepository(process.cwd()));
  if (name === 'pre-commit') return beforeCommit(context, repository);
  if (name === 'post-merge') {
    return afterwards(context, repository, 'merge', await changedByMerge(repository));
  }
  const changed = await changedInCommit(repository);
  await afterwards(context, repository, 'commit', changed);
  // Git runs no post-merge after a merge with conflicts: a person ends it by a commit.
  if (orThrow(await isMerge(repository))) await afterwards(context, repository, 'merge', changed);
}

async function beforeCommit(
  { call, isJson, show }: Context<object>,
  repository: Repository,
): Promise<void> {
  // `git commit PATH` and `git commit -a` commit from an index of their own.
  const staged = orThrow(await stagedChanges(repository, process.env.GIT_INDEX_FILE));
  if (staged.length === 0) return;
  const claims = await readClaimsFrom(call, repository.toplevel);
  if (claims.length === 0) return;
  const verdict = decideGuard(
    {
      writes: staged.map((path) => ({ path, reach: 'file' })),
      isCertain: true,
      why: null,
      me: await readMe(call),
      nowMs: Date.now(),
    },
    createHoldings(claims),
  );
  if (verdict.verdict !== 'deny') return;
  process.exitCode = HELD_EXIT;
  if (isJson) show(verdict, () => []);
  process.stderr.write(
    `synod: not committed: ${neutralise(verdict.reason)}\n  ${neutralise(verdict.remedy ?? '')}\n` +
      '  or leave those files out of the commit: git restore --staged FILE\n',
  );
}

async function afterwards(
  { call, remark }: Context<object>,
  repository: Repository,
  trigger: 'commit' | 'merge',
  changes: Changes | Problem,
): Promise<void> {
  const changed = orThrow(changes);
  const me = await readMe(call);
  const claims = await readClaims(call, { owner: me });
  for (const claim of claimsToRelease(claims, { trigger, repository, changed, me })) {
    const evidence = `${trigger} ${repository.head ?? ''}`.trim();
    try {
      await call('claims.release', { task_id: claim.task_id, epoch: claim.epoch, evidence });
      remark(`synod: released ${neutralise(claim.task_id)}`);
    } catch (error) {
      // The next one may still be let go; this one lapses by itself.
      remark(
        `synod: ${neutralise(claim.task_id)} was not released: ${neutralise(toFailure(error).message)}`,
      );
    }
  }
}
