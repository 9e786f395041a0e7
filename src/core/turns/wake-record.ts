/**
 * That an idle session was to be woken because mail came, on the record: whose, by what means, for how many
 * messages, and whether it woke. The state holds nothing of it; the log does [AU2].
 */
import type { Asked, Decision } from '../law/decider.ts';
import type { WorldView } from '../law/state.ts';

const TEXT_CHARS_MAX = 256;

export interface WakeFacts {
  readonly agent: string;
  readonly session: string | null;
  readonly vendor: string;
  readonly means: string;
  readonly messages: number;
  /** `unreached` was never handed over, `unconfirmed` was, and nobody answered. */
  readonly outcome: 'confirmed' | 'unconfirmed' | 'unreached';
}

/** Only the waker inside the hub asks for this; no door does. */
export interface RecordWake extends Asked {
  readonly type: 'wake.record';
  readonly wake: WakeFacts;
}

export interface WakeRecorded {
  readonly type: 'wake.recorded';
  readonly at: number;
  readonly by: string;
  readonly wake: WakeFacts;
}

export function decideWake(
  _world: WorldView,
  { at, by, wake }: RecordWake,
): Decision<WakeRecorded, null> {
  const { agent, session, vendor, means, messages, outcome } = wake;
  const facts: WakeFacts = {
    agent: cut(agent),
    session: session === null ? null : cut(session),
    vendor: cut(vendor),
    means: cut(means),
    ...{ messages, outcome },
  };
  return { events: [{ type: 'wake.recorded', at, by: by.id, wake: facts }], answer: null };
}

const cut = (text: string): string => text.slice(0, TEXT_CHARS_MAX);
