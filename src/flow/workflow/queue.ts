/** The queues that workflows name: declared when a flow opens, and where a run stands when it is started. */
import { codeOf, type HubLine } from './hub-line.ts';
import type { AnyWorkflow, Workflow, WorkflowQueue } from './workflow-types.ts';

/** Where a run is to stand: as it is said, else as its workflow says. */
export function placeOf<Input>(
  { queue }: Workflow<Input, unknown>,
  input: Input,
  said: { readonly queue?: string; readonly queueKey?: string },
): { readonly queue?: string; readonly key?: string } {
  const name = said.queue ?? queue?.name;
  const key = said.queueKey ?? queue?.key?.(input);
  return { ...(name !== undefined && { queue: name }), ...(key !== undefined && { key }) };
}

/** On a hub inside, we are the owner; elsewhere a person may have declared them, and then we need not. */
export async function declareQueues(
  hub: HubLine,
  workflows: readonly AnyWorkflow[],
): Promise<void> {
  const queues = new Map<string, WorkflowQueue<never>>();
  for (const { queue } of workflows) if (queue !== null) queues.set(queue.name, queue);
  for (const { name, concurrency, perKey, perAgent, rate } of queues.values()) {
    const limits = {
      ...(concurrency !== undefined && { concurrency }),
      ...(perKey !== undefined && { per_key: perKey }),
      ...(perAgent !== undefined && { per_agent: perAgent }),
      ...(rate !== undefined && { rate: { limit: rate.limit, per_ms: rate.perMs } }),
    };
    try {
      await hub.call('workflows.queue', { name, ...limits }, { asOwner: true });
    } catch (error) {
      if (codeOf(error) !== 'access.denied') throw error;
    }
  }
}
