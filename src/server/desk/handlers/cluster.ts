/** The servers that share a store. A hub that is alone has none to tell of, and says how to have several [SQ6]. */
import { type Refusal, refuse } from '../../../core/law/decider.ts';
import type { Handlers } from '../room.ts';

export const clusterHandlers: Handlers<'cluster.status'> = {
  async 'cluster.status'({ platform }, { after, limit }) {
    return platform.cluster?.read(after ?? null, limit) ?? alone();
  },
};

export function alone(): Refusal {
  return refuse(
    'cluster.none',
    'this hub is alone; several share a store at nats://, each started with a name: synod serve --store nats://… --server-name NAME',
  );
}
