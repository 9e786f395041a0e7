/**
 * Posts of tier 2, on a channel that is so configured: the message is held, a gate asks people for it,
 * and the turn that wrote it stands still until one has decided [GT14]. Approved, it is delivered, and
 * with that the gate is used; any other end refuses it.
 */
import { type Asked, type Refusal, refuse } from '../law/decider.ts';
import type { Principal } from '../law/principal.ts';
import { checkShare } from '../law/shares.ts';
import type { WorldView } from '../law/state.ts';
import { isProse } from '../law/text.ts';
import type { GateAsked } from './gate-events.ts';

/** So much of a body is shown to who decides; the rest is read with the message. */
const SHOWN_CHARS_MAX = 1_000;

/** What is asked of people for a post that is about to be stored. */
export function postGate(
  world: WorldView,
  { by, at, channel, body }: Asked & { readonly channel: string; readonly body: string },
  credential: string,
): GateAsked {
  const { length, gates, settings } = world;
  return {
    ...{ type: 'gate.asked', at, by: by.id, id: `g${gates.counter + 1}`, credential },
    ...{ action: 'post', subject: shown(channel, body), tier: 2 },
    deciders: { kinds: [], names: [], count: 1 },
    deadlineAt: at + settings.heldTtlMs,
    ...{ thread: `m${length}`, payloadHash: null, policy: `channel:${channel}` },
    ...{ turn: by.turn?.id ?? null, isKept: false, holds: length },
  };
}

function shown(channel: string, body: string): string {
  const isLong = body.length > SHOWN_CHARS_MAX;
  const text = isLong ? `${body.slice(0, SHOWN_CHARS_MAX).toWellFormed()}…` : body;
  return isProse(text, text.length) ? `on ${channel}: ${text}` : `on ${channel}`;
}

export function checkGateRoom(world: WorldView, by: Principal): Refusal | null {
  const { open, byAsker } = world.gates;
  return checkShare('GATES_MAX', by, open.size, byAsker.get(by.id)?.size ?? 0);
}

/** For decide: does the turn stand still for a post of its own? */
export function checkStopped(world: WorldView, { turn }: Principal): Refusal | null {
  if (turn === undefined) return null;
  for (const { id, state, holds } of world.gates.byTurn.get(turn.id) ?? []) {
    if (state !== 'pending' || holds === null) continue;
    return refuse(
      'turn.stopped',
      `turn ${turn.id} waits for a person to decide ${id}, about its post m${holds}: wait with gates.get and wait_ms, or end the turn`,
      { turn: turn.id, gate_id: id, message_id: `m${holds}` },
    );
  }
  return null;
}
