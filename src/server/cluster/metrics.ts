/** What Prometheus reads of a server among several, as text [SQ12]. Names of spaces need no escaping. */

export interface ClusterCounts {
  readonly failovers: number;
  readonly conflicts: number;
  readonly forwarded: number;
  readonly spaces: readonly {
    readonly space: string;
    readonly isMine: boolean;
    readonly lag: number;
  }[];
}

export function clusterMetrics({ failovers, conflicts, forwarded, spaces }: ClusterCounts): string {
  return [
    ...family('synod_cluster_sequences', 'gauge', 'Whether this server sequences the space'),
    ...spaces.map(({ space, isMine }) => sample('synod_cluster_sequences', isMine ? 1 : 0, space)),
    ...family('synod_cluster_lag_entries', 'gauge', 'Entries the copy of the space is behind'),
    ...spaces.map(({ space, lag }) => sample('synod_cluster_lag_entries', lag, space)),
    ...family('synod_cluster_failovers_total', 'counter', 'Spaces taken because a server was gone'),
    sample('synod_cluster_failovers_total', failovers),
    ...family(
      'synod_cluster_conflicts_total',
      'counter',
      'Batches decided again, others were first',
    ),
    sample('synod_cluster_conflicts_total', conflicts),
    ...family('synod_cluster_forwarded_total', 'counter', 'Commands decided at another server'),
    sample('synod_cluster_forwarded_total', forwarded),
    '',
  ].join('\n');
}

function family(name: string, kind: 'gauge' | 'counter', help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`];
}

function sample(name: string, value: number, space?: string): string {
  return `${name}${space === undefined ? '' : `{space="${space}"}`} ${value}`;
}
