/**
 * What a hub does in the default space alone: the Synapse door, the relay files and the bus inside. A server that serves
 * some spaces of a cluster, and not that one, does not start with any of them, and says so [JN2].
 */
import type { Cluster } from '../cluster/cluster.ts';
import { DEFAULT_SPACE } from '../desk/spaces.ts';
import { type Config, flagName } from './config.ts';

export class DefaultSpaceError extends Error {
  override readonly name = 'DefaultSpaceError';
  readonly code = 'config.invalid';
}

type Wanted = Pick<Config, 'synapse' | 'relay' | 'synapseRelay' | 'bus'>;

export function requireDefaultSpace(
  { synapse, relay, synapseRelay, bus }: Wanted,
  cluster: Cluster | undefined,
): void {
  const refusal = cluster?.refuses(DEFAULT_SPACE) ?? null;
  if (refusal === null) return;
  const fields = Object.entries({ synapse_port: synapse, relay, synapse_relay: synapseRelay, bus })
    .filter(([, wanted]) => wanted !== null)
    .map(([field]) => flagName(field));
  if (fields.length === 0) return;
  const [are, them] = fields.length === 1 ? ['is', 'it'] : ['are', 'them'];
  throw new DefaultSpaceError(
    `${fields.join(', ')} ${are} of the default space, which this server does not serve (${refusal.message}): start it without ${them}, and a server of the cluster that serves the default space with ${them}`,
  );
}
