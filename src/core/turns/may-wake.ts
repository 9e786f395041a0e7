/**
 * May this message wake this agent, beyond what its wake rule says? Asked once, when the message is
 * sent or released, with the state as it is before the message is counted. Pure.
 */
import type { WorldView } from '../law/state.ts';
import type { ManagedView, Waking } from './turn-state.ts';

export function mayWake(_world: WorldView, _managed: ManagedView, message: Waking): boolean {
  return message.asks?.noReply !== true;
}
