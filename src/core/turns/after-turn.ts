/**
 * What a turn that ended says about its agent: go on (null), or wait until a person has looked. Asked
 * of each end that its runner reported, before it is recorded. Pure.
 */
import type { WorldView } from '../law/state.ts';
import type { TurnFailed, TurnFinished } from './turn-events.ts';
import type { ManagedView, Turn } from './turn-state.ts';

export type EndVerdict = null | { readonly park: string; readonly text: string };

export function afterTurn(
  _world: WorldView,
  _managed: ManagedView,
  _turn: Turn,
  ended: TurnFinished | TurnFailed,
): EndVerdict {
  if (ended.type === 'turn.finished' && ended.outcome === 'gave_up') {
    return { park: 'gave_up', text: ended.note ?? 'it gave up and did not say why' };
  }
  return null;
}
