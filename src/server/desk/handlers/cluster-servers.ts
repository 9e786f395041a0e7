/** Which servers the cluster has: the registry decides, here it is only asked [JN7]. */
import type { Handlers } from '../room.ts';
import { alone } from './cluster.ts';

export const clusterServerHandlers: Handlers<
  'cluster.invite' | 'cluster.servers' | 'cluster.revoke' | 'cluster.permissions'
> = {
  async 'cluster.invite'({ platform }, { name, spaces, ttl_ms: ttlMs }) {
    const wish = { name: name ?? null, spaces: spaces ?? null, ttlMs };
    return platform.cluster?.registry.invite(wish) ?? alone();
  },
  async 'cluster.servers'({ platform }) {
    return platform.cluster?.registry.servers() ?? alone();
  },
  async 'cluster.revoke'({ platform }, { name }) {
    return platform.cluster?.registry.revoke(name) ?? alone();
  },
  async 'cluster.permissions'({ platform }, { name }) {
    return platform.cluster?.registry.permissions(name) ?? alone();
  },
};
