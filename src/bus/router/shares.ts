/** What one client has of a worker, which is less than all of it unless the client is alone [BU29]. */
import type { Exchange } from './exchange.ts';
import type { BusClient, Link, Share } from './state.ts';

export const isAlone = ({ clients }: Exchange): boolean => clients.size === 1;

/** With one more than before; null for one that is gone: it asks for nothing more. */
export function shareOf({ shares }: Link, client: BusClient): Share | null {
  if (client.isGone) return null;
  let share = shares.get(client);
  if (!share) {
    share = { count: 0 };
    shares.set(client, share);
  }
  share.count += 1;
  return share;
}
