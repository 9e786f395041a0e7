/**
 * Refusals that concern identity and access, on the record. The state holds nothing of them; the log does
 * [L4].
 */
import type { Asked, Decision } from './decider.ts';
import type { WorldView } from './state.ts';

/** Puts a refusal on the record: who was turned away, from what, and why [L4]. */
export interface RecordRefusal extends Asked {
  readonly type: 'refusal.record';
  readonly operation: string;
  readonly code: string;
  readonly about: string | null;
}

export interface RefusalRecorded {
  readonly type: 'refusal.recorded';
  readonly at: number;
  readonly by: string;
  readonly operation: string;
  readonly code: string;
  readonly about: string | null;
}

export function decideRefusal(
  _world: WorldView,
  { at, by, operation, code, about }: RecordRefusal,
): Decision<RefusalRecorded, null> {
  const event = { type: 'refusal.recorded', at, by: by.id, operation, code, about } as const;
  return { events: [event], answer: null };
}
