/** Brings what guards and integrations decided to the record of a hub, under the name of the client [PO13]. */
import { createDecisionQueue, type DecisionQueue } from '../../guard/decision-queue.ts';
import type { HubCalls } from '../process/supervisor-options.ts';

/**
 * Its `record` is for the option `record` of guards and integrations.
 *
 * @example
 * ```ts
 * const guardOf = ({ record }: GuardRecorder): Guard => createGuard({ read: ['/srv'] }, { record });
 * ```
 */
export type GuardRecorder = DecisionQueue;

/**
 * A recorder that tells a hub; nobody waits for it, and what the hub does not take is counted.
 *
 * @example
 * ```ts
 * const hub = await connect({ url, token });
 * const recorder = openGuardRecorder(hub);
 * const guard = createGuard({ read: ['/srv/app'] }, { record: recorder.record });
 * ```
 */
export function openGuardRecorder(hub: HubCalls): GuardRecorder {
  return createDecisionQueue({
    async tell(decisions, missed) {
      await hub.call('guard.record', { decisions: [...decisions], missed });
    },
  });
}
