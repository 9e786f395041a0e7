/**
 * What a workflow is before it runs: a name, perhaps a version, and a function that is run again from its
 * first line whenever the run is taken up, with every finished step answered from the journal.
 */
import { isName, NAME_ALPHABET } from '../../core/law/text.ts';
import { WORKFLOW_NAME_CHARS_MAX } from '../../core/workflows/workflow-limits.ts';
import { DefinitionError } from './errors.ts';
import { compileGraph, type Graph, type GraphInput, type GraphResults, isGraph } from './graph.ts';
import type { AnyNode } from './node.ts';
import type { AnyWorkflow, Workflow, WorkflowContext, WorkflowOptions } from './workflow-types.ts';

const GRACE_MS = 5_000;

/**
 * A workflow from a function, or from a graph of nodes.
 *
 * @example
 * ```ts
 * const land = workflow('land', async (ctx, input: { branch: string }) => {
 *   await ctx.step('rebase', () => rebase(input.branch), { compensate: () => abort(input.branch) });
 *   return ctx.step('push', () => push(input.branch));
 * });
 * ```
 */
export function workflow<Input, Output>(
  name: string,
  run: (ctx: WorkflowContext, input: Input) => Promise<Output>,
  options?: WorkflowOptions<Input>,
): Workflow<Input, Output>;
export function workflow<const Nodes extends readonly AnyNode[]>(
  name: string,
  graph: Graph<Nodes>,
  options?: WorkflowOptions<GraphInput<Nodes>>,
): Workflow<GraphInput<Nodes>, GraphResults<Nodes>>;
export function workflow(
  name: string,
  body: ((ctx: WorkflowContext, input: unknown) => Promise<unknown>) | Graph<readonly AnyNode[]>,
  options: WorkflowOptions<never> = {},
): AnyWorkflow {
  if (typeof name !== 'string' || !isName(name, WORKFLOW_NAME_CHARS_MAX)) {
    throw new DefinitionError(
      'workflow.name-invalid',
      `${JSON.stringify(name)} names no workflow; use 1 to ${WORKFLOW_NAME_CHARS_MAX} ${NAME_ALPHABET}`,
    );
  }
  const { graceMs = GRACE_MS, retry = {}, version = null, queue = null } = options;
  if (!(graceMs >= 0)) {
    throw new DefinitionError('workflow.grace', `${name}: graceMs is ${graceMs}; give 0 or more`);
  }
  const common = { name, version, retry, graceMs, queue: queue as AnyWorkflow['queue'] };
  if (isGraph(body)) return { ...common, ...compileGraph(name, body) };
  if (typeof body !== 'function') {
    throw new DefinitionError(
      'workflow.no-body',
      `${name}: give a function (ctx, input) => …, or a graph { nodes: […] }`,
    );
  }
  return { ...common, steps: null, run: body };
}
