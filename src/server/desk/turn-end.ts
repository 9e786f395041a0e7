/**
 * The token of a turn is revoked with the turn: once somebody came with it, its end is told like that
 * of any token, so that every door closes what was opened with it [TN7].
 */
import type { Principal } from '../../core/law/principal.ts';
import { checkTurn } from '../../core/turns/turn-token.ts';
import type { Hub } from '../../hub/hub.ts';

/** Makes the id that the end of a turn's token is told by. */
export function createTurnFollower(
  onRevoked: (tokenId: string) => void,
): (hub: Hub, by: Principal) => string {
  const followed = new WeakMap<Hub, Set<string>>();
  return (hub, by) => {
    const id = `turn ${hub.space}/${by.turn?.id}/${by.turn?.epoch}`;
    const known = followed.get(hub) ?? new Set();
    followed.set(hub, known);
    if (known.has(id)) return id;
    known.add(id);
    const stop = hub.watch.events((world) => {
      if (checkTurn(world, { by, at: hub.stamp(), type: 'question' }) === null) return;
      stop();
      known.delete(id);
      onRevoked(id);
    });
    return id;
  };
}
