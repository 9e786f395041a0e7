/** A server among several that serve the same spaces: for each space its part in it, and how it stands. */

import type { Hub } from '../../hub/hub.ts';
import type { Sequencing } from '../../hub/sequencing.ts';
import { openLink } from '../../log/nats/link.ts';
import type { NatsPlace } from '../../log/nats/place.ts';
import { openOffice } from './office.ts';
import { createSequencing } from './sequencing.ts';

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
        const office = await openOffice({ link, place, space, name, onTrouble });
        const sequencing = createSequencing({ link, place, space, name, office, onTrouble });
        return {
          sequencing,
          serve: sequencing.serve,
          async leave() {
            await office.close();
            sequencing.close();
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
