/** The door for Synapse clients, as it is configured. */
import type { ConfigFile } from './config-file.ts';

export interface SynapseConfig {
  /** 0 takes any free port. */
  readonly port: number;
  /** Whether a token is asked for; else names are taken at their word, on loopback alone. */
  readonly auth: 'token' | 'open';
  /** Null, where one is asked for: the hub makes one into its data directory. */
  readonly token: string | null;
  /** What is not there is as the door has it. */
  readonly limits: SynapseLimits;
}

export interface SynapseLimits {
  readonly clientsMax?: number | undefined;
  readonly unauthenticatedMax?: number | undefined;
  readonly authTimeoutMs?: number | undefined;
  readonly takeoverCooldownMs?: number | undefined;
}

const NO_TOKEN = 'none';

export function synapseOf(port: number, said: ConfigFile): SynapseConfig {
  const { synapse_token: token, auth } = said;
  const limits: SynapseLimits = {
    clientsMax: said.synapse_clients,
    unauthenticatedMax: said.synapse_unauthenticated,
    authTimeoutMs: said.synapse_auth_timeout_ms,
    takeoverCooldownMs: said.synapse_takeover_cooldown_ms,
  };
  const isOpen = token === NO_TOKEN || (token === undefined && auth === 'open');
  if (isOpen) return { port, auth: 'open', token: null, limits };
  return { port, auth: 'token', token: token ?? null, limits };
}
