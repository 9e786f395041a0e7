/**
 * May this message wake this agent, beyond what its wake rule says? Asked once, when the message is
 * sent or released, with the state as it is before the message is counted. Pure.
 */
import type { WorldView } from '../law/state.ts';
import type { ManagedView, Waking } from './turn-state.ts';

export function mayWake(_world: WorldView, managed: ManagedView, { asks }: Waking): boolean {
  if (asks === null || !asks.noReply) return true;
  // "Thanks, no reply needed" is for nobody to act on; an order with these words is for whom it names.
  return asks.isQuestion || asks.wantsReply || asks.names.includes(managed.agent);
}
