/**
 * Landing: a branch is rebased, checked and pushed, or goes back to its owner with the reason. One at a time for a
 * repository and target, so that what was checked is what is landed; a target that moved all the same is rebased
 * on and checked again.
 */
import { workflow } from '../definition.ts';
import type { Workflow, WorkflowContext } from '../workflow-types.ts';
import { createGit, openWorktree, rebase, removeWorktree } from './git-steps.ts';

/**
 * Where and how branches land.
 *
 * @example
 * ```ts
 * const options: LandingOptions = {
 *   repository: '/srv/app',
 *   check: ({ worktree, signal }) => run('npm test', { cwd: worktree, signal }),
 * };
 * ```
 */
export interface LandingOptions {
  /** A clone; its worktrees are left alone. */
  readonly repository: string;
  /** Default `origin`. */
  readonly remote?: string;
  /** Default `main`. */
  readonly target?: string;
  /** Throws what is wrong with what lies in the worktree. */
  readonly check: (scope: {
    readonly worktree: string;
    readonly commit: string;
    readonly signal: AbortSignal;
  }) => Promise<void> | void;
  /** Default `landing`. */
  readonly name?: string;
}

/**
 * What is to land.
 *
 * @example
 * ```ts
 * const input: LandingInput = { branch: 'topic', owner: 'ada' };
 * ```
 */
export interface LandingInput {
  readonly branch: string;
  /** Who is told when it does not land. */
  readonly owner?: string;
}

/**
 * Where it landed, or why it did not.
 *
 * @example
 * ```ts
 * const line = (end: Landed): string => (end.landed ? end.commit : `${end.why}: ${end.message}`);
 * ```
 */
export type Landed =
  | { readonly landed: true; readonly commit: string }
  | {
      readonly landed: false;
      readonly why: 'conflict' | 'check' | 'moved';
      /** Files in conflict. */
      readonly files: readonly string[];
      readonly message: string;
    };

const ROUNDS_MAX = 5;
const MESSAGE_CHARS_MAX = 4_000;

/**
 * A workflow that lands branches of a repository.
 *
 * @example
 * ```ts
 * const land = landing({ repository: '/srv/app', check: ({ worktree }) => test(worktree) });
 * const flow = await openFlow({ store: 'sqlite:///var/lib/land.sqlite', workflows: [land] });
 * console.log(await (await flow.start(land, { branch: 'topic', owner: 'ada' })).result());
 * ```
 */
export function landing(options: LandingOptions): Workflow<LandingInput, Landed> {
  const { repository, remote = 'origin', target = 'main', name = 'landing' } = options;
  const git = createGit(repository);
  const tip = `refs/remotes/${remote}/${target}`;

  /** Null: the target moved meanwhile, and all of it is to be done again. */
  async function attempt(
    ctx: WorkflowContext,
    branch: string,
    key: string,
  ): Promise<Landed | null> {
    const onto = await ctx.step(
      'fetch',
      async () => {
        await git.run('fetch', '--prune', remote);
        return git.run('rev-parse', tip);
      },
      { key, retry: { attempts: 4 } },
    );
    const rebased = await ctx.step(
      'rebase',
      async () => {
        const worktree = await openWorktree(repository, ctx.run.id, await tipOf(branch));
        return { ...(await rebase(worktree, onto)), worktree };
      },
      { key, compensate: ({ worktree }) => removeWorktree(repository, worktree) },
    );
    const { worktree } = rebased;
    const outcome = rebased.isDone
      ? await checkAndPush(ctx, key, worktree, rebased.commit)
      : conflict(target, rebased.files);
    await ctx.step('clean-up', () => removeWorktree(repository, worktree), { key });
    return outcome;
  }

  async function checkAndPush(
    ctx: WorkflowContext,
    key: string,
    worktree: string,
    commit: string,
  ): Promise<Landed | null> {
    const flaw = await ctx.step(
      'check',
      async ({ signal }) => {
        try {
          await options.check({ worktree, commit, signal });
          return null;
        } catch (error) {
          signal.throwIfAborted();
          return (error instanceof Error ? error.message : String(error)).slice(-MESSAGE_CHARS_MAX);
        }
      },
      { key },
    );
    if (flaw !== null) return { landed: false, why: 'check', files: [], message: flaw };
    const isLanded = await ctx.step(
      'land',
      async () => {
        const { isDone } = await git.try('push', remote, `${commit}:refs/heads/${target}`);
        if (isDone) return true;
        // It may be there from an attempt that died after it.
        await git.run('fetch', remote);
        return (await git.try('merge-base', '--is-ancestor', commit, tip)).isDone;
      },
      { key, retry: { attempts: 3 } },
    );
    return isLanded ? { landed: true, commit } : null;
  }

  /** Of the remote if it is there, else of the clone. */
  async function tipOf(branch: string): Promise<string> {
    const there = await git.try(
      'rev-parse',
      '--verify',
      '--quiet',
      `refs/remotes/${remote}/${branch}`,
    );
    return there.isDone ? there.text : git.run('rev-parse', '--verify', `refs/heads/${branch}`);
  }

  return workflow(
    name,
    async (ctx, { branch, owner }: LandingInput) => {
      let landed: Landed | null = null;
      for (let round = 1; landed === null && round <= ROUNDS_MAX; round++) {
        landed = await attempt(ctx, branch, `round-${round}`);
      }
      landed ??= { landed: false, why: 'moved', files: [], message: `${target} moves too fast` };
      if (!landed.landed && owner !== undefined) {
        await ctx.tell(owner, {
          text: `${branch} did not land: ${landed.message}`,
          branch,
          ...landed,
        });
      }
      return landed;
    },
    { queue: { name, perKey: 1, key: () => `${repository} ${target}`.slice(-256) } },
  );
}

function conflict(target: string, files: readonly string[]): Landed {
  const message = `it stands against ${target} in ${files.join(', ')}`.slice(0, MESSAGE_CHARS_MAX);
  return { landed: false, why: 'conflict', files, message };
}
