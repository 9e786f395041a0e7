/** How a step is run: what its function is handed, and what may be said of it. */
import type { Guard } from '../../guard/guard.ts';
import type { RetryPolicy } from './retry.ts';

/**
 * What becomes of a step of which nobody knows whether it ran, because its process died: `retry` runs it
 * again with the same key, `ask` asks a person, `fail` fails it.
 *
 * @example
 * ```ts
 * const policy: UncertainPolicy = 'ask';
 * ```
 */
export type UncertainPolicy = 'retry' | 'ask' | 'fail';

/**
 * What a step's function is handed.
 *
 * @example
 * ```ts
 * await ctx.step('charge', ({ key, signal }) => charge(card, { idempotencyKey: key, signal }));
 * ```
 */
export interface StepScope {
  /** The same at every attempt of this step, in whatever process: hand it to whom you ask. */
  readonly key: string;
  /** From 1 on. */
  readonly attempt: number;
  /** Aborted when the attempt took too long, or the run failed or was cancelled. */
  readonly signal: AbortSignal;
  /** The guard given to `openFlow`: for files, programs and addresses of this step. */
  readonly guard?: Guard;
  /** Says that it goes on; with `heartbeatMs` silence ends the attempt. */
  heartbeat(): void;
  /**
   * Says what it cost; said again, it is added. It stands on record when the step is done, with what earlier
   * attempts in this process said.
   */
  cost(spent: StepCost): void;
}

/**
 * What undoing a step is handed.
 *
 * @example
 * ```ts
 * const refund = (paid: Payment, { key }: UndoScope) => bank.refund(paid.id, { idempotencyKey: key });
 * ```
 */
export type UndoScope = Omit<StepScope, 'cost'>;

/**
 * What a step cost, as far as it is known.
 *
 * @example
 * ```ts
 * const draft = await ctx.step('draft', async ({ cost }) => {
 *   const answer = await ask(model, prompt);
 *   cost({ usd: 0.02, tokensIn: answer.usage.input, tokensOut: answer.usage.output } satisfies StepCost);
 *   return answer.text;
 * });
 * ```
 */
export interface StepCost {
  readonly usd?: number;
  readonly tokensIn?: number;
  readonly tokensOut?: number;
}

/**
 * Anything with `parse`, as a Zod schema has it.
 *
 * @example
 * ```ts
 * const count: ResultSchema<number> = { parse: (value) => Number(value) };
 * ```
 */
export interface ResultSchema<T> {
  parse(value: unknown): T;
}

/**
 * What may be said of a step.
 *
 * @example
 * ```ts
 * await ctx.step('reserve', reserve, {
 *   key: order.id,
 *   retry: { attempts: 5, when: (error) => !(error instanceof SoldOut) },
 *   timeoutMs: 10_000,
 *   compensate: (reservation) => cancel(reservation),
 *   uncertain: 'ask',
 * });
 * ```
 */
export interface StepOptions<T> {
  /** Tells steps of one name apart: an id of what it is about, and no counter that a change of order moves. */
  readonly key?: string;
  readonly retry?: RetryPolicy;
  /** For one attempt. */
  readonly timeoutMs?: number;
  /** For all attempts and the waits between them. */
  readonly deadlineMs?: number;
  /** An attempt that is silent for so long has failed. */
  readonly heartbeatMs?: number;
  /** Undoes it, when the run fails or is cancelled after it was done. Told the step's result. */
  readonly compensate?: (result: T, scope: UndoScope) => Promise<void> | void;
  /** How the undoing is tried again. Default 5 attempts. */
  readonly compensateRetry?: RetryPolicy;
  /** For one attempt to undo it; one that takes longer has failed. Default 10 minutes. */
  readonly compensateTimeoutMs?: number;
  /** Default `retry`. */
  readonly uncertain?: UncertainPolicy;
  /** What a result must be, also one that an older version of the code left in the journal. */
  readonly schema?: ResultSchema<T>;
}
