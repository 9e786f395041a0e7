/**
 * A node of a graph: one step, what it depends on and what it makes of that. Dependencies are given as the
 * nodes themselves, so that the types of their results are known; or by id, and then they are not.
 */
import type { RetryPolicy } from './retry.ts';
import type { StepScope, UncertainPolicy, UndoScope } from './step-options.ts';

/**
 * What a node's function is handed beside the results of its dependencies.
 *
 * @example
 * ```ts
 * const run = (_: object, { input, signal }: NodeScope<{ url: string }>) =>
 *   fetch(input.url, { signal });
 * ```
 */
export interface NodeScope<Input = unknown> extends StepScope {
  /** What the run was started with. */
  readonly input: Input;
}

/**
 * A node as it is used in a graph and as a dependency.
 *
 * @example
 * ```ts
 * const fetched: Node<'fetch', number> = node({ id: 'fetch', run: () => 3 });
 * ```
 */
export interface Node<Id extends string = string, Result = unknown, Input = never> {
  readonly id: Id;
  readonly dependsOn: readonly string[];
  /** Only there for types. */
  readonly '~types'?: { readonly result: Result; readonly input: (input: Input) => void };
  readonly options: Omit<NodeOptions<Id, readonly AnyNode[], unknown, never>, 'id' | 'dependsOn'>;
}

/**
 * A node of whatever id and result, as a graph takes a list of them.
 *
 * @example
 * ```ts
 * const ids = (nodes: readonly AnyNode[]): string[] => nodes.map(({ id }) => id);
 * ```
 */
// biome-ignore lint/suspicious/noExplicitAny: nodes of one graph differ in all their types.
export type AnyNode = Node<string, any, any>;

type IdOf<Dependency> = Dependency extends string
  ? Dependency
  : Dependency extends { readonly id: infer Id extends string }
    ? Id
    : never;
/**
 * What a node gives; of a dependency that is only named, unknown.
 *
 * @example
 * ```ts
 * const build = node({ id: 'build', run: () => 42 });
 * const given: ResultOf<typeof build> = 42;
 * ```
 */
export type ResultOf<Dependency> =
  Dependency extends Node<string, infer Result, infer _> ? Result : unknown;

/**
 * The results of dependencies, by id.
 *
 * @example
 * ```ts
 * const build = node({ id: 'build', run: () => 42 });
 * const given: ResultsOf<[typeof build]> = { build: 42 };
 * ```
 */
export type ResultsOf<Dependencies extends readonly (AnyNode | string)[]> = {
  readonly [D in Dependencies[number] as IdOf<D>]: ResultOf<D>;
};

/**
 * What a node is made of.
 *
 * @example
 * ```ts
 * const build = node({
 *   id: 'build',
 *   dependsOn: [fetched],
 *   run: ({ fetch }, { signal }) => compile(fetch, signal),
 *   retry: { attempts: 3 },
 *   rollback: (artefact) => remove(artefact),
 * });
 * ```
 */
export interface NodeOptions<
  Id extends string,
  Dependencies extends readonly (AnyNode | string)[],
  Result,
  Input,
> {
  readonly id: Id;
  readonly dependsOn?: Dependencies;
  readonly run: (
    results: ResultsOf<Dependencies>,
    scope: NodeScope<Input>,
  ) => Promise<Result> | Result;
  /** False: the node is skipped, and its dependants are given `undefined` for it. */
  readonly when?: (results: ResultsOf<Dependencies>) => boolean;
  readonly retry?: RetryPolicy;
  readonly timeoutMs?: number;
  readonly deadlineMs?: number;
  readonly heartbeatMs?: number;
  readonly uncertain?: UncertainPolicy;
  /** Undoes it, when the run fails after it was done. */
  readonly rollback?: (result: Result, scope: UndoScope) => Promise<void> | void;
  /** For one attempt of it; one that takes longer has failed. Default 10 minutes. */
  readonly rollbackTimeoutMs?: number;
}

/**
 * A node for a graph.
 *
 * @example
 * ```ts
 * const fetched = node({ id: 'fetch', run: async () => 20 });
 * const doubled = node({ id: 'double', dependsOn: [fetched], run: ({ fetch }) => fetch * 2 });
 * const both = workflow('both', { nodes: [fetched, doubled] });
 * ```
 */
export function node<
  const Id extends string,
  const Dependencies extends readonly (AnyNode | string)[] = readonly [],
  Result = unknown,
  Input = unknown,
>(options: NodeOptions<Id, Dependencies, Result, Input>): Node<Id, Result, Input> {
  const { id, dependsOn, ...rest } = options;
  const ids = (dependsOn ?? []).map((one) => (typeof one === 'string' ? one : one.id));
  return { id, dependsOn: ids, options: rest as unknown as AnyNode['options'] };
}
