/** The servers that share a store. A hub that is alone has none to tell of, and says how to have several [SQ6]. */
import { type Refusal, refuse } from '../../../core/law/decider.ts';
import type { Handlers } from '../room.ts';

export const clusterHandlers: Handlers<'cluster.status' | 'cluster.drain'> = {
  async 'cluster.status'({ platform }, { after, limit }) {
    return platform.cluster?.read(after ?? null, limit) ?? alone();
  },

  async 'cluster.drain'({ platform }, { undo }) {
    const { cluster } = platform;
    if (cluster === undefined) return alone();
    return (await cluster.drain(!undo)) ?? last();
  },
};

export function alone(): Refusal {
  return refuse(
    'cluster.none',
    'this hub is alone; several share a store at nats://, each started with a name: synod serve --store nats://… --server-name NAME',
  );
}

function last(): Refusal {
  return refuse(
    'cluster.last',
    'no other server is there to take over; start one first, or stop this one without draining it',
  );
}
