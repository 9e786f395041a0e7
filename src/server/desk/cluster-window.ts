/** The servers that share a store, as the desk shows them. */

import type { Refusal } from '../../core/law/decider.ts';
import type { OutputOf } from '../../wire/operation.ts';
import type { clusterDrain, clusterStatus } from '../../wire/operations/cluster.ts';
import type {
  clusterInvite,
  clusterPermissions,
  clusterRevoke,
  clusterServers,
} from '../../wire/operations/cluster-servers.ts';

export type ClusterReading = OutputOf<typeof clusterStatus>;

export type DrainReading = OutputOf<typeof clusterDrain>;

export interface ClusterWindow {
  /** So many spaces behind one, in the order of their names. */
  read(after: string | null, limit: number): ClusterReading;
  /** When this server is empty, or after a while; null when nobody else is there. */
  drain(isDraining: boolean): Promise<DrainReading | null>;
  readonly registry: RegistryWindow;
}

/** Which servers the cluster has, and who comes in. */
export interface RegistryWindow {
  invite(wish: {
    readonly name: string | null;
    readonly spaces: readonly string[] | null;
    readonly ttlMs: number;
  }): Promise<OutputOf<typeof clusterInvite> | Refusal>;
  servers(): OutputOf<typeof clusterServers>;
  revoke(what: string): Promise<OutputOf<typeof clusterRevoke> | Refusal>;
  permissions(what: string): Promise<OutputOf<typeof clusterPermissions> | Refusal>;
}
