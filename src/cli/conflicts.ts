/** `synod conflicts`: who will collide with whom, on which base. Exit code 0 none, 2 some, 1 trouble. */
import { isAbsolute } from 'node:path';
import type { Command } from 'commander';
import type { GitClaim } from '../place/auto-release.ts';
import { changedOnBranch, uncommittedChanges } from '../place/changes.ts';
import {
  type BranchClaim,
  type Conflict,
  conflictsExit,
  findConflicts,
} from '../place/conflicts.ts';
import { createPathOverlap } from '../place/holdings.ts';
import { readOrigin } from '../place/origin.ts';
import { isProblem, type Problem, problem } from '../place/problem.ts';
import { type Repository, readRepository } from '../place/repository.ts';
import { readClaims } from './claims-of-hub.ts';
import { handle } from './context.ts';
import { TROUBLE_EXIT, toFailure } from './failure.ts';
import { neutralise } from './terminal.ts';

const SHOWN_MAX = 5;

export function registerConflicts(program: Command): void {
  const command = program
    .command('conflicts')
    .description('who will collide with whom, on which base, before the merge')
    .option('--check-diff', 'only what both branches really changed');
  handle<{ checkDiff?: boolean }>(command, async ({ flags, call, show, remark }) => {
    try {
      const claims = await branchClaims(await readClaims(call));
      const repositories = createReader();
      const report = await findConflicts(claims, {
        overlaps: createPathOverlap(),
        ...(flags.checkDiff === true && {
          changedBy: (claim, since) => changesOf(claim, since, repositories),
        }),
      });
      show(report, () => report.conflicts.map(lineOf));
      if (report.conflicts.length === 0) remark('no conflicts');
      process.exitCode = conflictsExit(report);
    } catch (error) {
      // A script must be able to tell "some" from "nobody knows".
      const failure = toFailure(error);
      throw Object.assign(failure, { exit: TROUBLE_EXIT });
    }
  });
}

type Reader = (folder: string) => Promise<Repository | Problem>;

/** Each folder is asked about once. */
function createReader(): Reader {
  const known = new Map<string, Promise<Repository | Problem>>();
  return (folder) => {
    const asked = known.get(folder) ?? readRepository(folder);
    known.set(folder, asked);
    return asked;
  };
}

/** What a claim does not say of git, and its origin, is looked up where its worktree is, if that is here. */
async function branchClaims(claims: readonly GitClaim[]): Promise<BranchClaim[]> {
  const read = createReader();
  const origins = new Map<string, string | null>();
  const found: BranchClaim[] = [];
  for (const claim of claims) {
    const { task_id: id, owner, worktree, paths, branch, git } = claim;
    const told = { id, owner, worktree, paths, base: git?.base ?? null };
    const asked = isAbsolute(worktree) ? await read(worktree) : null;
    const here = isProblem(asked) ? null : asked;
    const repository = git?.repository || here?.commonDir;
    if (!repository) continue;
    if (here !== null && !origins.has(here.commonDir)) {
      const origin = await readOrigin(here);
      origins.set(here.commonDir, isProblem(origin) ? null : origin);
    }
    found.push({
      ...told,
      repository,
      origin: here === null ? null : (origins.get(here.commonDir) ?? null),
      branch: git?.repository ? branch : (branch ?? here?.branch ?? null),
    });
  }
  return found;
}

async function changesOf(
  claim: BranchClaim,
  since: string | null,
  read: Reader,
): Promise<readonly string[] | Problem> {
  const { branch, worktree } = claim;
  const base = since ?? claim.base;
  if (branch === null || base === null) {
    return problem('git.detached', `claim ${claim.id} has no branch or no base`, 'claim it again');
  }
  const repository = await read(worktree);
  if (isProblem(repository)) return repository;
  const committed = await changedOnBranch(repository, { base, branch });
  // Where the branch is checked out, what is not committed yet will be part of it.
  if (isProblem(committed) || repository.branch !== branch) return committed;
  const open = await uncommittedChanges(repository);
  return isProblem(open) ? open : [...new Set([...committed, ...open])];
}

function lineOf({ left, right, base, overlaps, changed, reason }: Conflict): string {
  const side = ({ owner, branch, id }: BranchClaim) => `${owner} (${id}, ${branch ?? 'no branch'})`;
  const paths =
    changed ??
    overlaps.map((one) => (one.left === one.right ? one.left : `${one.left} ∩ ${one.right}`));
  const more = paths.length > SHOWN_MAX ? ` and ${paths.length - SHOWN_MAX} more` : '';
  const why = reason === null ? '' : `; not certain: ${reason}`;
  return neutralise(
    `${side(left)} and ${side(right)} on ${base ?? 'an unknown base'}: ${paths.slice(0, SHOWN_MAX).join(', ')}${more}${why}`,
  );
}
