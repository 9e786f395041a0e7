/**
 * A graph of nodes, checked before anything runs and then run as a workflow like any other: a node begins when
 * all it depends on is done and there is room. One failure ends the run; what was done is rolled back, the
 * last done first.
 */
import { nearest } from '../../core/law/nearest.ts';
import { isName, NAME_ALPHABET } from '../../core/law/text.ts';
import { STEP_NAME_CHARS_MAX } from '../../core/workflows/workflow-limits.ts';
import { DefinitionError } from './errors.ts';
import type { AnyNode, Node, ResultOf } from './node.ts';
import type { UndoScope } from './step-options.ts';
import type { WorkflowContext } from './workflow-types.ts';

/**
 * Nodes, and how many of them may run at once.
 *
 * @example
 * ```ts
 * const graph: Graph<[typeof a, typeof b]> = { nodes: [a, b], concurrency: 2 };
 * ```
 */
export interface Graph<Nodes extends readonly AnyNode[]> {
  readonly nodes: Nodes;
  /** Default: no bound but the graph. */
  readonly concurrency?: number;
}

/**
 * What a run of a graph gives: each node's result by its id; `undefined` for one that was skipped.
 *
 * @example
 * ```ts
 * const build = node({ id: 'build', run: () => 42 });
 * const given: GraphResults<[typeof build]> = { build: 42 };
 * ```
 */
export type GraphResults<Nodes extends readonly AnyNode[]> = {
  readonly [N in Nodes[number] as N['id']]: ResultOf<N>;
};

type Inputs<N> =
  N extends Node<string, infer _, infer Input>
    ? unknown extends Input
      ? never
      : (input: Input) => void
    : never;

/**
 * What a graph is started with: all that its nodes want of it.
 *
 * @example
 * ```ts
 * const build = node({ id: 'build', run: (_, { input }: NodeScope<{ ref: string }>) => input.ref });
 * type Wanted = GraphInput<[typeof build]>;
 * const wanted: Wanted = { ref: 'main' };
 * ```
 */
export type GraphInput<Nodes extends readonly AnyNode[]> = [Inputs<Nodes[number]>] extends [never]
  ? unknown
  : Inputs<Nodes[number]> extends (input: infer Input) => void
    ? Input
    : unknown;

export function isGraph(body: unknown): body is Graph<readonly AnyNode[]> {
  return typeof body === 'object' && body !== null && 'nodes' in body && Array.isArray(body.nodes);
}

/** Throws what is wrong with a graph, by code. */
export function checkGraph(name: string, { nodes, concurrency }: Graph<readonly AnyNode[]>): void {
  const bad = (code: string, message: string): never => {
    throw new DefinitionError(code, `${name}: ${message}`);
  };
  if (nodes.length === 0) bad('graph.empty', 'there are no nodes; give at least one');
  if (concurrency !== undefined && !(Number.isInteger(concurrency) && concurrency >= 1)) {
    bad('graph.concurrency', `concurrency is ${concurrency}; give a whole number from 1 on`);
  }
  const byId = new Map<string, AnyNode>();
  for (const node of nodes) {
    if (typeof node.id !== 'string' || !isName(node.id, STEP_NAME_CHARS_MAX)) {
      bad(
        'graph.id-invalid',
        `${JSON.stringify(node.id)} is no id of a node; use 1 to ${STEP_NAME_CHARS_MAX} ${NAME_ALPHABET}`,
      );
    }
    if (byId.has(node.id)) {
      bad('graph.duplicate', `two nodes have the id ${node.id}; give each its own`);
    }
    byId.set(node.id, node);
  }
  for (const node of nodes) {
    for (const dependency of node.dependsOn) {
      if (byId.has(dependency)) continue;
      const near = nearest(dependency, [...byId.keys()], 1);
      const meant = near.length === 0 ? 'add it to nodes' : `did you mean ${near[0]}?`;
      bad('graph.unknown', `${node.id} depends on ${dependency}, which is no node; ${meant}`);
    }
  }
  const cycle = findCycle(byId);
  if (cycle !== null) {
    bad('graph.cycle', `these nodes wait for each other: ${cycle.join(' → ')}; take one edge out`);
  }
}

/** A way that ends where it began; null when there is none. Without recursion: a graph may be a long chain. */
function findCycle(byId: ReadonlyMap<string, AnyNode>): string[] | null {
  const done = new Set<string>();
  for (const start of byId.keys()) {
    const path: { readonly id: string; next: number }[] = done.has(start)
      ? []
      : [{ id: start, next: 0 }];
    const onPath = new Set(path.map(({ id }) => id));
    while (path.length > 0) {
      const top = path[path.length - 1] as { readonly id: string; next: number };
      const dependency = byId.get(top.id)?.dependsOn[top.next++];
      if (dependency === undefined) {
        path.pop();
        onPath.delete(top.id);
        done.add(top.id);
      } else if (onPath.has(dependency)) {
        const ids = path.map(({ id }) => id);
        return [...ids.slice(ids.indexOf(dependency)), dependency];
      } else if (!done.has(dependency)) {
        path.push({ id: dependency, next: 0 });
        onPath.add(dependency);
      }
    }
  }
  return null;
}

type Run = (ctx: WorkflowContext, input: unknown) => Promise<Record<string, unknown>>;

export function compileGraph(
  name: string,
  graph: Graph<readonly AnyNode[]>,
): { readonly steps: readonly string[]; readonly run: Run } {
  checkGraph(name, graph);
  // Later changes of the array are nobody's: it was checked as it is now.
  const nodes = [...graph.nodes];
  const width = graph.concurrency ?? nodes.length;
  return {
    steps: nodes.map(({ id }) => id),
    run: (ctx, input) => runGraph(nodes, width, ctx, input),
  };
}

function runGraph(
  nodes: readonly AnyNode[],
  width: number,
  ctx: WorkflowContext,
  input: unknown,
): Promise<Record<string, unknown>> {
  const results = new Map<string, unknown>();
  const ready: AnyNode[] = [];
  const lacking = new Map<AnyNode, number>();
  const dependants = new Map<string, AnyNode[]>(nodes.map(({ id }) => [id, []]));
  for (const node of nodes) {
    const needed = new Set(node.dependsOn);
    lacking.set(node, needed.size);
    if (needed.size === 0) ready.push(node);
    for (const id of needed) dependants.get(id)?.push(node);
  }
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
  let running = 0;
  let isOver = false;

  async function runNode(node: AnyNode): Promise<void> {
    // A map without a prototype: a node may have any name.
    const given = Object.assign(
      Object.create(null),
      Object.fromEntries(node.dependsOn.map((id) => [id, results.get(id)])),
    );
    const { run, when, rollback, rollbackTimeoutMs, ...options } = node.options;
    const isWanted = when === undefined || (when as (given: unknown) => boolean)(given);
    const result = isWanted
      ? await ctx.step(
          node.id,
          (scope) =>
            (run as (given: unknown, scope: unknown) => unknown)(given, { ...scope, input }),
          {
            ...options,
            ...(rollbackTimeoutMs !== undefined && { compensateTimeoutMs: rollbackTimeoutMs }),
            ...(rollback && {
              compensate: (done: unknown, scope: UndoScope) =>
                (rollback as (done: unknown, scope: UndoScope) => void)(done, scope),
            }),
          },
        )
      : await ctx.skip(node.id);
    results.set(node.id, result);
    for (const next of dependants.get(node.id) ?? []) {
      const left = (lacking.get(next) ?? 1) - 1;
      lacking.set(next, left);
      if (left === 0) ready.push(next);
    }
  }

  function beginReady(): void {
    while (!isOver && running < width) {
      const node = ready.shift();
      if (node === undefined) return;
      running++;
      runNode(node).then(
        () => {
          running--;
          if (results.size === nodes.length) resolve(Object.fromEntries(results));
          else beginReady();
        },
        (error: unknown) => {
          isOver = true;
          reject(error);
        },
      );
    }
  }

  beginReady();
  return promise;
}
