/** The steps of a run as the hub has them, page by page to the end. */
import type { HubLine } from './hub-line.ts';
import type { StepView } from './seam.ts';

const PAGE = 500;

/** All of them, or those after a place; null is the end, and then there are none. */
export async function readSteps(
  hub: Pick<HubLine, 'call'>,
  id: string,
  from?: string | null,
): Promise<StepView[]> {
  const all: StepView[] = [];
  for (let after = from; after !== null; ) {
    const page: { steps: StepView[]; next: string | null } = await hub.call('workflows.steps', {
      ...{ id, limit: PAGE, ...(after !== undefined && { after }) },
    });
    all.push(...page.steps);
    after = page.next;
  }
  return all;
}
