/** Fan-out review: several agents are asked at once, their answers collected, and one decision made of them. */
import { workflow } from '../definition.ts';
import type { Workflow } from '../workflow-types.ts';

/**
 * What one of them said; null: no answer in time.
 *
 * @example
 * ```ts
 * const line = ({ reviewer, approves }: Vote): string => `${reviewer}: ${approves ?? 'silent'}`;
 * ```
 */
export interface Vote {
  readonly reviewer: string;
  readonly approves: boolean | null;
  readonly text: string;
}

/**
 * What is to be reviewed.
 *
 * @example
 * ```ts
 * const input: ReviewInput = { subject: 'topic', body: { diff: 'see the branch' } };
 * ```
 */
export interface ReviewInput {
  readonly subject: string;
  /** What they are given beside it. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/**
 * What came of it.
 *
 * @example
 * ```ts
 * const against = ({ votes }: Reviewed): number =>
 *   votes.filter(({ approves }) => approves === false).length;
 * ```
 */
export interface Reviewed {
  readonly approved: boolean;
  readonly votes: readonly Vote[];
}

/**
 * Who reviews, and how it is decided.
 *
 * @example
 * ```ts
 * const options: ReviewOptions = { reviewers: ['ada', 'bob', 'cy'], decide: 'majority' };
 * ```
 */
export interface ReviewOptions {
  readonly reviewers: readonly string[];
  /** `all` of them approve, the `majority` does, or what you make of the votes. Default `majority`. */
  readonly decide?: 'all' | 'majority' | ((votes: readonly Vote[]) => boolean);
  /** For each answer. Default 30 minutes. */
  readonly timeoutMs?: number;
  /** Default `review`. */
  readonly name?: string;
}

const TIMEOUT_MS = 30 * 60_000;

/**
 * A workflow that has several agents review something. An answer counts by its field `approves`, or when it
 * begins with the word approve.
 *
 * @example
 * ```ts
 * const review = fanOutReview({ reviewers: ['ada', 'bob', 'cy'] });
 * const { approved, votes } = await (await flow.start(review, { subject: 'topic' })).result();
 * ```
 */
export function fanOutReview(options: ReviewOptions): Workflow<ReviewInput, Reviewed> {
  const { reviewers, decide = 'majority', timeoutMs = TIMEOUT_MS, name = 'review' } = options;
  return workflow(name, async (ctx, { subject, body }: ReviewInput) => {
    const votes = await Promise.all(
      reviewers.map(async (reviewer): Promise<Vote> => {
        const question = { text: `Please review: ${subject}`, subject, ...body };
        try {
          const reply = await ctx.turn(reviewer, question, { timeoutMs });
          return { reviewer, ...readVote(reply.body) };
        } catch (error) {
          return { reviewer, approves: null, text: error instanceof Error ? error.message : '' };
        }
      }),
    );
    return { approved: isApproved(votes, decide), votes };
  });
}

function readVote(body: Readonly<Record<string, unknown>>): Omit<Vote, 'reviewer'> {
  const text = typeof body.text === 'string' ? body.text : JSON.stringify(body);
  const said = typeof body.approves === 'boolean' ? body.approves : /^\s*approve/i.test(text);
  return { approves: said, text: text.slice(0, 10_000) };
}

function isApproved(votes: readonly Vote[], decide: NonNullable<ReviewOptions['decide']>): boolean {
  if (typeof decide === 'function') return decide(votes);
  const ayes = votes.filter(({ approves }) => approves === true).length;
  return decide === 'all' ? ayes === votes.length : ayes * 2 > votes.length;
}
