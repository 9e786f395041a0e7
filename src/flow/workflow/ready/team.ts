/**
 * Five stages of a team: plan, build, review, fix, land. Agents do the work in turns, the files are claimed while
 * they do, and what the review or the landing sends back is fixed and comes again, so many times.
 */
import { workflow } from '../definition.ts';
import type { Workflow } from '../workflow-types.ts';
import type { Landed, LandingInput } from './landing.ts';
import type { Reviewed, ReviewInput } from './review.ts';

/**
 * Who does what.
 *
 * @example
 * ```ts
 * const options: TeamOptions = { planner: 'ada', builder: 'bob', review, land, roundsMax: 3 };
 * ```
 */
export interface TeamOptions {
  readonly planner: string;
  readonly builder: string;
  readonly review: Workflow<ReviewInput, Reviewed>;
  readonly land: Workflow<LandingInput, Landed>;
  /** How often it may be fixed. Default 3. */
  readonly roundsMax?: number;
  /** For each turn. Default 2 hours. */
  readonly timeoutMs?: number;
  /** Default `team`. */
  readonly name?: string;
}

/**
 * What the team is to do.
 *
 * @example
 * ```ts
 * const input: TeamInput = { task: 'a parser', branch: 'parser', paths: ['src/parser/**'] };
 * ```
 */
export interface TeamInput {
  readonly task: string;
  readonly branch: string;
  /** Claimed while it is worked on, in a worktree if one is named. */
  readonly paths?: readonly string[];
  readonly worktree?: string;
}

/**
 * How far it came.
 *
 * @example
 * ```ts
 * const line = ({ landed, rounds }: TeamOutcome): string =>
 *   landed ? `landed after ${rounds}` : 'not landed';
 * ```
 */
export interface TeamOutcome {
  readonly landed: boolean;
  readonly commit: string | null;
  readonly rounds: number;
  /** What was said last against it; null when it landed. */
  readonly against: string | null;
}

const TIMEOUT_MS = 2 * 3_600_000;

/**
 * A workflow for a team of agents.
 *
 * @example
 * ```ts
 * const build = team({ planner: 'ada', builder: 'bob', review, land });
 * const flow = await openFlow({ url, token, workflows: [build, review, land] });
 * await flow.start(build, { task: 'a dark mode', branch: 'dark', paths: ['src/theme/**'] });
 * ```
 */
export function team(options: TeamOptions): Workflow<TeamInput, TeamOutcome> {
  const { planner, builder, review, land, roundsMax = 3, name = 'team' } = options;
  const { timeoutMs = TIMEOUT_MS } = options;
  return workflow(name, async (ctx, { task, branch, paths = [], worktree }: TeamInput) => {
    const planned = await ctx.turn(
      planner,
      { text: `Plan: ${task}`, task, branch },
      { key: 'plan', timeoutMs },
    );
    if (paths.length > 0) await ctx.claim(paths, worktree === undefined ? {} : { worktree });
    await ctx.turn(
      builder,
      { text: `Build it on ${branch}: ${task}`, task, branch, plan: planned.body },
      { key: 'build', timeoutMs },
    );
    let against: string | null = null;
    for (let round = 1; round <= roundsMax + 1; round++) {
      const key = `round-${round}`;
      if (against !== null) {
        const fix = { text: `Fix it on ${branch}: ${against}`, task, branch, against };
        await ctx.turn(builder, fix, { key: `fix-${round - 1}`, timeoutMs });
      }
      const subject = `${branch}: ${task}`.slice(0, 1_000);
      const reviewed = await ctx.child(
        'review',
        review,
        { subject, body: { branch, round } },
        { key },
      );
      if (!reviewed.approved) {
        against = objections(reviewed);
        continue;
      }
      const landed = await ctx.child('land', land, { branch, owner: builder }, { key });
      if (landed.landed)
        return { landed: true, commit: landed.commit, rounds: round, against: null };
      against = landed.message;
    }
    return { landed: false, commit: null, rounds: roundsMax + 1, against };
  });
}

function objections({ votes }: Reviewed): string {
  const against = votes.filter(({ approves }) => approves !== true);
  return against
    .map(({ reviewer, text }) => `${reviewer}: ${text}`)
    .join('\n')
    .slice(0, 20_000);
}
