/** What the executor and the hub say to each other about runs, as the operations have it. */
import type { CallInput, CallOutput } from '../../client/operations.ts';

/**
 * A run, as `workflows.get` shows it.
 *
 * @example
 * ```ts
 * const line = ({ id, name, state }: RunView): string => `${id} ${name}: ${state}`;
 * ```
 */
export type RunView = CallOutput<'workflows.get'>;
/**
 * How a run stands: `running`, `stuck`, `completed` and the others.
 *
 * @example
 * ```ts
 * const isStuck = (state: RunState): boolean => state === 'stuck';
 * ```
 */
export type RunState = RunView['state'];

/**
 * A step of a run, as `workflows.steps` shows it.
 *
 * @example
 * ```ts
 * const line = ({ step, state, attempts }: StepView): string => `${step} ${state} (${attempts})`;
 * ```
 */
export type StepView = CallOutput<'workflows.steps'>['steps'][number];
/**
 * What a step waits for.
 *
 * @example
 * ```ts
 * const waits = (steps: readonly StepView[]): WaitView[] =>
 *   steps.flatMap(({ waiting_on: on }) => (on === null ? [] : [on]));
 * ```
 */
export type WaitView = NonNullable<StepView['waiting_on']>;

type TakeOutput = CallOutput<'workflows.take'>;
/** A run as it is handed to its executor. */
export type Taken = TakeOutput['runs'][number];
export type News = TakeOutput['news'][number];
/** A run that an executor has, with the news it has heard of it; a hub of before says nothing of a next page. */
export type Holding = NonNullable<CallInput<'workflows.take'>['holding']>[number];
/** How a wait ended. */
export type Resolved = Taken['resolved'][number];

export type Entry = CallInput<'workflows.record'>['entries'][number];
export type Cost = NonNullable<Extract<Entry, { kind: 'completed' }>['cost']>;
export type WaitOn = Extract<Entry, { kind: 'waiting' }>['on'];
export type Recorded = CallOutput<'workflows.record'>;

/** A step by its name and key. */
export interface Ref {
  readonly step: string;
  readonly key?: string;
}
