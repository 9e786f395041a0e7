/** What parts of the server are given, made from its configuration. */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import type { IdentityOptions } from '../desk/identity.ts';
import type { Config } from './config.ts';
import type { FaultCode } from './config-file.ts';
import type { SpacesOptions } from './spaces.ts';

/** Who may come where names are taken at their word; a list of managed agents alone keeps nobody out. */
export function comers(agents: Config['agents']): IdentityOptions['agents'] {
  if (agents === null) return null;
  const isOpen = agents.length > 0 && agents.every(({ managed }) => managed !== undefined);
  return isOpen ? null : new Map(agents.map(({ id, namespace }) => [id, namespace ?? null]));
}

export function spaceSettings({ settings, turns }: Config): SpacesOptions['settings'] {
  const { backpressureMode, queueLimit, idempotencyTtlMs } = settings;
  const { claimsPerAgent, offersPerAgent } = settings;
  return {
    ...(backpressureMode !== null && { backpressureMode }),
    ...(queueLimit !== null && { queueLimit }),
    ...(claimsPerAgent !== null && { claimsPerAgent }),
    ...(offersPerAgent !== null && { offersPerAgent }),
    ...(idempotencyTtlMs !== null && { idempotencyTtlMs }),
    ...(turns.parallelMax !== null && { turnsParallelMax: turns.parallelMax }),
  };
}

/** What SOX's `fault_inject` makes every operation answer. */
export function faultRefusal(fault: FaultCode): Refusal {
  const message = `injected by fault_inject: ${fault}`;
  switch (fault) {
    case 'store_unavailable':
      return refuse('store.unavailable', message);
    case 'internal_error':
      return refuse('internal', message);
    case 'rate_limited':
      return { ...refuse('rate.limited', message), retryAt: Date.now() + 1000 };
  }
}
