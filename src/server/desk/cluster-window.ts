/** The servers that share a store, as the desk shows them. */
import type { OutputOf } from '../../wire/operation.ts';
import type { clusterStatus } from '../../wire/operations/cluster.ts';

export type ClusterReading = OutputOf<typeof clusterStatus>;

export interface ClusterWindow {
  /** So many spaces behind one, in the order of their names. */
  read(after: string | null, limit: number): ClusterReading;
}
