/** A server among several that serve the same spaces: for each space its part in it, and how it stands. */

import { createForwarding } from '../../hub/forwarding.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Sequencing } from '../../hub/sequencing.ts';
import { openLease } from '../../log/lease.ts';
import { createId } from '../../log/nats/generation.ts';
import { openLink } from '../../log/nats/link.ts';
import type { NatsPlace } from '../../log/nats/place.ts';
import { openCourier } from './courier.ts';
import { openLeaseStore, STEADY } from './lease-store.ts';

export interface Cluster {
  readonly name: string;
  /** Before the hub of a space is opened. */
  join(space: string): Promise<Membership>;
}

export interface Membership {
  readonly sequencing: Sequencing;
  /** When the hub is open: from now on it decides for the others, when it is its turn. */
  serve(hub: Hub): void;
  /** Before the hub closes: another takes over at once. */
  leave(): Promise<void>;
}

export function createCluster(
  place: NatsPlace,
  name: string,
  onTrouble: (what: string, cause: unknown) => void,
): Cluster {
  return {
    name,
    async join(space) {
      const link = await openLink(place);
      try {
        const store = await openLeaseStore(link, place, space);
        const lease = await openLease({
          ...{ name, id: createId(), store, steady: STEADY },
          onLost: (cause) =>
            onTrouble(`space ${space}: the lease of the sequencer cannot be renewed`, cause),
        });
        const courier = openCourier(link, place, space, lease.id, onTrouble);
        const sequencing = createForwarding(name, lease, courier, STEADY);
        return {
          sequencing,
          serve: sequencing.serve,
          async leave() {
            await lease.close();
            sequencing.close();
            courier.close();
            await link.release();
          },
        };
      } catch (cause) {
        await link.release();
        throw cause;
      }
    },
  };
}
