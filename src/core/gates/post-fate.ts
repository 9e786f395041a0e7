/**
 * What becomes of a post of tier 2 with its gate [GT14]: approved, it is delivered, and with that the
 * gate is used; any other end refuses it.
 */
import { SERVER } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import type { HeldExpired } from '../talk/held.ts';
import type { MessageReviewed } from '../talk/review.ts';
import type { GateConsumed, GateDecided, GateEnded } from './gate-events.ts';
import type { GateView } from './gate-state.ts';

export type PostFate = MessageReviewed | HeldExpired | GateConsumed;

/** What becomes of the post when its gate has come to an end; nothing where the gate holds none. */
export function postFate(
  world: WorldView,
  { id, holds }: GateView,
  event: GateDecided | GateEnded,
): PostFate[] {
  if (holds === null) return [];
  const { at, by, reason } = event;
  const isReleased = event.type === 'gate.approved';
  const used: GateConsumed[] = isReleased ? [{ type: 'gate.consumed', at, by: SERVER.id, id }] : [];
  const place = world.held.get(holds);
  // Its channel is retired.
  if (place === undefined) return used;
  const { channel, seq } = place;
  if (event.type === 'gate.ended' && event.state === 'expired') {
    return [{ type: 'held.expired', at, expired: [[channel, seq, holds]] }];
  }
  const how = event.type === 'gate.ended' ? event.state : `denied by ${event.person ?? by}`;
  const why = isReleased ? reason : `${id} was ${how}${reason === null ? '' : `: ${reason}`}`;
  const reviewed = { type: 'message.reviewed', at, by, channel, seq, position: holds } as const;
  const isTakenBack = event.type === 'gate.ended' && by === SERVER.id;
  const taken = isTakenBack && { isTakenBack: true as const };
  return [{ ...reviewed, isReleased, reason: why, ...taken }, ...used];
}
