/**
 * What a workflow is, and what it is written with. Everything that a context does is known by its name and key,
 * is done once or answered from the journal, and may be waited for in any order.
 */
import type { Claim, ClaimOptions } from './claim-step.ts';
import type { RetryPolicy } from './retry.ts';
import type { ResultSchema, StepOptions, StepScope } from './step-options.ts';
import type { GateAsk, Reply, Verdict } from './waits.ts';

/**
 * What may be said of a workflow as a whole.
 *
 * @example
 * ```ts
 * const land = workflow('land', run, { version: '2', graceMs: 10_000, retry: { attempts: 3 } });
 * ```
 */
export interface WorkflowOptions<Input = unknown> {
  /** Runs that were started with a version are run by that version alone. */
  readonly version?: string;
  /** How steps are tried again that do not say. */
  readonly retry?: RetryPolicy;
  /** How long steps in flight are waited for when the run fails or is cancelled. Default 5,000. */
  readonly graceMs?: number;
  /** The queue that its runs stand in, unless a start says another. */
  readonly queue?: WorkflowQueue<Input>;
}

/**
 * A queue, and how much of it may be under way at once.
 *
 * @example
 * ```ts
 * const queue: WorkflowQueue<{ branch: string }> = { name: 'landing', perKey: 1, key: () => 'main' };
 * ```
 */
export interface WorkflowQueue<Input = unknown> {
  readonly name: string;
  readonly concurrency?: number;
  /** For each key, and for each agent that starts runs. */
  readonly perKey?: number;
  readonly perAgent?: number;
  readonly rate?: { readonly limit: number; readonly perMs: number };
  /** What is counted by `perKey`. */
  readonly key?: (input: Input) => string;
}

/**
 * A workflow, ready to be given to `openFlow` and started.
 *
 * @example
 * ```ts
 * const greet: Workflow<{ name: string }, string> = workflow('greet', async (ctx, input) =>
 *   ctx.step('greet', () => `hello ${input.name}`),
 * );
 * ```
 */
export interface Workflow<Input = unknown, Output = unknown> {
  readonly name: string;
  readonly version: string | null;
  readonly retry: RetryPolicy;
  readonly graceMs: number;
  readonly queue: WorkflowQueue<Input> | null;
  /** The steps that are known before it runs: those of a graph. */
  readonly steps: readonly string[] | null;
  readonly run: (ctx: WorkflowContext, input: Input) => Promise<Output>;
}

/**
 * A workflow of whatever input and output, as `openFlow` takes a list of them.
 *
 * @example
 * ```ts
 * const names = (all: readonly AnyWorkflow[]): string[] => all.map(({ name }) => name);
 * ```
 */
// biome-ignore lint/suspicious/noExplicitAny: a list of workflows has many inputs; each run is checked by its own.
export type AnyWorkflow = Workflow<any, any>;

/** Tells steps of one name apart. */
interface Keyed {
  readonly key?: string;
}

/**
 * The hands of a workflow.
 *
 * @example
 * ```ts
 * const nightly = workflow('nightly', async (ctx: WorkflowContext, input: { repo: string }) => {
 *   const report = await ctx.step('scan', () => scan(input.repo));
 *   const verdict = await ctx.gate('publish', { subject: input.repo, deadline: 'never' });
 *   return verdict.state === 'approved' ? ctx.step('publish', () => publish(report)) : null;
 * });
 * ```
 */
export interface WorkflowContext {
  /** The run this is. */
  readonly run: { readonly id: string; readonly name: string; readonly startedBefore: boolean };
  /** Aborted when the run fails, is cancelled, or is not in this process any more. */
  readonly ended: AbortSignal;
  /** Does something once, and remembers what it gave. */
  step<T>(
    name: string,
    run: (scope: StepScope) => Promise<T> | T,
    options?: StepOptions<T>,
  ): Promise<T>;
  /** Notes that something was not done. */
  skip(name: string, options?: Keyed): Promise<undefined>;
  /** Waits, with no process alive if it is long. */
  sleep(name: string, ms: number, options?: Keyed): Promise<void>;
  /** Asks a person, and waits for the answer however long it takes. An approval is used up by it. */
  gate(name: string, asked: GateAsk & Keyed): Promise<Verdict>;
  /** Waits for `run.signal(name, value)`; one that came before is not lost. */
  signal<T = unknown>(
    name: string,
    options?: Keyed & { readonly timeoutMs?: number; readonly schema?: ResultSchema<T> },
  ): Promise<T>;
  /** Another workflow, as a run of its own; it is cancelled with this one. */
  child<Input, Output>(
    name: string,
    child: Workflow<Input, Output>,
    input: Input,
    options?: Keyed & { readonly id?: string; readonly queue?: string; readonly queueKey?: string },
  ): Promise<Output>;
  /** Writes to an agent in private, and waits for nothing. */
  tell(
    agent: string,
    message: string | Readonly<Record<string, unknown>>,
    options?: Keyed,
  ): Promise<void>;
  /** Writes to an agent, and waits for its answer. */
  turn(
    agent: string,
    message: string | Readonly<Record<string, unknown>>,
    options?: Keyed & { readonly timeoutMs?: number },
  ): Promise<Reply>;
  /** Writes to a channel, and waits for so many answers. */
  collect(
    name: string,
    asked: Keyed & {
      readonly channel: string;
      readonly body: Readonly<Record<string, unknown>>;
      readonly count: number;
      readonly timeoutMs?: number;
    },
  ): Promise<readonly Reply[]>;
  /** A request to a pool of the bus that `openFlow` was given. */
  bus<T = unknown>(
    pool: string,
    method: string,
    params?: Readonly<Record<string, unknown>>,
    options?: StepOptions<T>,
  ): Promise<T>;
  /** Holds files against other agents until the run ends or `release` is called. */
  claim(paths: readonly string[], options?: ClaimOptions & Keyed): Promise<Claim>;
}
