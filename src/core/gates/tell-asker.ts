/**
 * The asker is told how its gate ended and whose word it was, in private, like whose turn has come [GT6];
 * not the one that waits for it and hears it there.
 */
import { toChannel } from '../law/name.ts';
import { SERVER } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import { type MessageSent, serverMessage } from '../talk/message.ts';
import type { GateDecided, GateEnded } from './gate-events.ts';
import type { GateView } from './gate-state.ts';

/** `before`: how many were told on the same channel by the same decision. */
export function tellAsker(
  world: WorldView,
  gate: GateView,
  event: GateDecided | GateEnded,
  before = 0,
): MessageSent[] {
  if (gate.isAwaited) return [];
  const state = event.type === 'gate.ended' ? event.state : event.type.replace('gate.', '');
  const who = ('person' in event ? event.person : null) ?? event.by;
  const by = who === SERVER.id ? null : who;
  const proof = 'proof' in event ? { proved: event.proof !== 'none' } : {};
  const body = {
    event: `gate_${state}`,
    gate_id: gate.id,
    ...{ action: gate.action, state, by, reason: event.reason },
    ...proof,
    ...(gate.holds === null
      ? { remedy: REMEDIES[state] ?? 'it is no approval: do without, or ask anew with gates.ask' }
      : {
          message_id: `m${gate.holds}`,
          remedy: POST_REMEDIES[state] ?? 'it is not delivered; post it anew if it still matters',
        }),
  };
  const message = serverMessage(world, toChannel(gate.asker), JSON.stringify(body), {
    at: event.at,
    actor: null,
  });
  return [{ ...message, seq: message.seq + before }];
}

const REMEDIES: Readonly<Record<string, string>> = {
  approved: 'use it with gates.consume before it lapses, then do the one thing that was asked',
  denied: 'do not do it; the reason says why',
};

const POST_REMEDIES: Readonly<Record<string, string>> = {
  approved: 'it is delivered; go on',
  denied: 'it is not delivered; the reason says why',
};
