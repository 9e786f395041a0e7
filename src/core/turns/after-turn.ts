/**
 * What a turn that ended says about its agent: go on (null), or wait until a person has looked. Asked
 * of each end that its runner reported, before it is recorded. Pure.
 */
import type { WorldView } from '../law/state.ts';
import { limitOf } from './agent-limits.ts';
import { isLivelock, OUTPUTS_KEPT } from './rails/likeness.ts';
import type { TurnFailed, TurnFinished } from './turn-events.ts';
import type { Cost, ManagedView, Turn } from './turn-state.ts';

export type EndVerdict = null | { readonly park: string; readonly text: string };

export function afterTurn(
  world: WorldView,
  managed: ManagedView,
  turn: Turn,
  ended: TurnFinished | TurnFailed,
): EndVerdict {
  const spent = overBudget(managed, ended.cost ?? turn.running);
  if (spent !== null) return { park: 'budget.exhausted', text: spent };
  if (ended.type === 'turn.failed') return null;
  if (ended.outcome === 'gave_up') {
    return { park: 'gave_up', text: ended.note ?? 'it gave up and did not say why' };
  }
  if (isEndedSoon(world, managed, turn)) return null;
  const { diary } = managed.rails;
  const most = limitOf(managed.config.limits, 'duplicates');
  if (ended.sketch !== undefined && isLivelock([...diary.outputs, ended.sketch], most)) {
    return { park: 'livelock', text: `${most} of its last outputs say the same` };
  }
  return null;
}

/** In a chain that the limit of hops ends before long a second stop would be a second item for one thing. */
export function isEndedSoon(
  world: WorldView,
  { config }: ManagedView,
  { messages }: Turn,
): boolean {
  if (limitOf(config.limits, 'hops') > OUTPUTS_KEPT) return false;
  const { chains } = world.turns.rails.chains;
  return messages.every(({ position }) => (chains.get(position)?.hops ?? 0) > 0);
}

/** Whether what one turn cost is more than it may [RA8]: a sentence, or null. */
export function overBudget({ config }: ManagedView, cost: Cost | null): string | null {
  if (cost === null) return null;
  const tokens = cost.tokensIn + cost.tokensOut;
  for (const [name, spent] of [
    ['turn_usd', cost.usd],
    ['turn_tokens', tokens],
  ] as const) {
    const most = limitOf(config.limits, name);
    if (spent > most) return `the turn spent ${spent} of ${most} (${name})`;
  }
  return null;
}
