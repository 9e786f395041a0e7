/** A hub inside the test, and as many executors on it as a test likes. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type HubLine, openInnerLine } from '../../src/flow/workflow/hub-line.ts';
import { type Flow, openFlowOn } from '../../src/flow/workflow/open-flow.ts';
import { declareQueues } from '../../src/flow/workflow/queue.ts';
import { createVirtualTime, type VirtualTime } from '../../src/flow/workflow/virtual-time.ts';
import type { AnyWorkflow } from '../../src/flow/workflow/workflow-types.ts';

type Options = Parameters<typeof openFlowOn>[1];

export interface Kit {
  readonly hub: HubLine;
  readonly time: VirtualTime;
  readonly troubles: unknown[];
  /** An executor; it does not close the hub with itself. */
  open(workflows: readonly AnyWorkflow[], options?: Options): Flow;
  /** The same, when the queues that they name are declared. */
  openWithQueues(workflows: readonly AnyWorkflow[]): Promise<Flow>;
  /** What the owner of the hub may do. */
  asOwner<T = Record<string, unknown>>(operation: string, input: object): Promise<T>;
  /** A person, with a proof, decides the one gate with this subject. */
  decide(subject: string, decision: 'approve' | 'deny', reason?: string): Promise<string>;
}

const PERSON = { name: 'mia', passphrase: 'a long enough sentence' };

/** On `memory:` and virtual time. */
export async function openKit(store = 'memory:', startMs?: number): Promise<Kit> {
  const time = createVirtualTime(startMs);
  const troubles: unknown[] = [];
  const hub = await openInnerLine({
    ...{ store, clock: time },
    onTrouble: (what, cause) => troubles.push(what, cause),
  });
  const flows: Flow[] = [];
  onTestFinished(async () => {
    await Promise.all(flows.map((flow) => flow.close()));
    await hub.close();
    expect(troubles).toEqual([]);
  });
  const asOwner: Kit['asOwner'] = (operation, input) =>
    hub.call(operation, input, { asOwner: true });
  const kit: Kit = {
    ...{ hub, time, troubles, asOwner },
    async openWithQueues(workflows) {
      await declareQueues(hub, workflows);
      return kit.open(workflows);
    },
    async decide(subject, decision, reason) {
      const { people } = await asOwner<{ people: unknown[] }>('people.list', {});
      if (people.length === 0) await asOwner('people.add', PERSON);
      const { proof } = await asOwner('people.prove', PERSON);
      const { gates } = await asOwner<{ gates: { gate_id: string; subject: string }[] }>(
        'gates.list',
        {},
      );
      const gate_id = gates.find((gate) => gate.subject === subject)?.gate_id ?? 'none';
      await asOwner('gates.decide', { gate_id, decision, proof, ...(reason && { reason }) });
      return gate_id;
    },
    open(workflows, options = {}) {
      const onEvent: Options['onEvent'] = (event) => {
        if (event.kind === 'trouble') troubles.push(event.error);
        return options.onEvent?.(event);
      };
      const flow = openFlowOn(
        { ...hub, close: async () => {} },
        { replayGraceMs: 50, ...options, onEvent, workflows },
      );
      // Time stands still while one waits for it.
      const prompt: Flow = { ...flow, close: (how = { graceMs: 0 }) => flow.close(how) };
      flows.push(prompt);
      return prompt;
    },
  };
  return kit;
}

export async function createFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'flow-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** Something that is waited for until it is said. */
export function createGate<T = void>() {
  return Promise.withResolvers<T>();
}
