/** What is held too long: it expires, and with it the gate that held it [GA4] [GT14]. */
import { type EndEvent, expireGates } from '../gates/gate-end.ts';
import { LAPSES_PER_LOOK_MAX } from '../law/limits.ts';
import type { WorldView } from '../law/state.ts';
import type { HeldExpired } from './held.ts';

/** What waited too long for a person, some at a time, oldest first [GA4]. */
export function expiredHeld(world: WorldView, at: number): (HeldExpired | EndEvent)[] {
  const expired: [string, number, number][] = [];
  const gates: string[] = [];
  for (const [position, { channel, seq, since, gate }] of world.held) {
    const isEnough = expired.length + gates.length >= LAPSES_PER_LOOK_MAX;
    if (since + world.settings.heldTtlMs > at || isEnough) break;
    if (gate !== undefined) gates.push(gate);
    else expired.push([channel, seq, position]);
  }
  const ended = expireGates(world, gates, at);
  return expired.length === 0 ? ended : [{ type: 'held.expired', at, expired }, ...ended];
}
