/**
 * An agent whose last token was revoked is to act no more, so that the hub does not act for it either:
 * its turn ends and it is paused, until a person resumes it [TN16]. An agent that never had a token is
 * run on the word of whoever manages it.
 */
import type { EndEvent } from '../gates/gate-end.ts';
import type { WorldView } from '../law/state.ts';
import { paused } from './managed.ts';
import type { AgentsPaused, TurnCancelled } from './turn-events.ts';

export type RevocationEvent = TurnCancelled | AgentsPaused | EndEvent;

export function afterRevocation(
  world: WorldView,
  { agent, id }: { readonly agent: string; readonly id: string },
  by: string,
  at: number,
): RevocationEvent[] {
  const managed = world.turns.agents.get(agent);
  if (managed === undefined || managed.state === 'paused') return [];
  return paused(world, [managed], by, at, `its last token ${id} was revoked`);
}
