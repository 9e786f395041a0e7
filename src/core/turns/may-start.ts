/**
 * May this agent begin a turn now? Asked when a turn would be due: yes (null), not before a time, or
 * not until a person has looked. Pure.
 */
import type { WorldView } from '../law/state.ts';
import type { ManagedView, Waking } from './turn-state.ts';

export type StartVerdict =
  | null
  | { readonly until: number; readonly cause: string }
  | { readonly park: string; readonly text: string };

export function mayStart(
  world: WorldView,
  managed: ManagedView,
  _messages: readonly Waking[],
  at: number,
): StartVerdict {
  const until = world.turns.quotas.get(managed.config.runnerKind) ?? 0;
  return until > at ? { until, cause: 'quota' } : null;
}
