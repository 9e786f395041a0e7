/**
 * The queue for a claim, for a call that waits in it. Nothing is taken here: who comes back from
 * waiting asks again, and who gives up leaves the queue, so that no turn is kept for nobody.
 */

import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import type { Scope } from '../../core/work/claim/scope.ts';
import type { Room } from './room.ts';

/** A place is asked for again while somebody waits at it, so that it soon goes with a hub that died. */
const PLACE_MS = 60_000;
const RENEW_MS = 45_000;

/** A place in the queue; one that was there before the call outlives it. */
export interface QueuePlace {
  readonly wait: number;
  readonly isOurs: boolean;
}

/** A place nobody waits at any more would only hold up the others. */
export async function giveUp(
  room: Room,
  place: QueuePlace | null,
  refusal: Refusal,
): Promise<Refusal> {
  const { hub, by } = room;
  if (place?.isOurs) {
    const { wait } = place;
    await hub.submit({ type: 'claim.unwait', by, at: hub.stamp(), wait, idempotency: null });
  }
  return refusal;
}

/** Takes a place in the queue, or keeps it, and waits until its turn may have come. */
export async function waitInLine(
  room: Room,
  id: string,
  scope: Scope | null,
  leftMs: number,
  place: QueuePlace | null,
): Promise<QueuePlace | Refusal> {
  const { hub, by, signal } = room;
  const before = await hub.ask(
    (world) =>
      new Set([...(world.claims.waitsByAgent.get(by.id) ?? [])].map(({ number }) => number)),
  );
  if (isRefusal(before)) return before;
  const answer = await hub.submit({
    type: 'claim.wait',
    by,
    at: hub.stamp(),
    id,
    scope,
    ttlMs: PLACE_MS,
    idempotency: null,
  });
  if (isRefusal(answer)) return answer;
  const { wait } = answer;
  const mine = { wait, isOurs: place?.wait === wait ? place.isOurs : !before.has(wait) };
  // Looked at and listened for in one go: a turn that came meanwhile would wake nobody.
  const turn = await hub.ask((world) => {
    const waiting = world.claims.waits.get(wait);
    const isOver = waiting === undefined || waiting.isReserved;
    return {
      come: isOver ? true : hub.watch.turn(wait, by.id, Math.min(leftMs, RENEW_MS), signal),
    };
  });
  if (isRefusal(turn)) return turn;
  if ((await turn.come) !== null) return mine;
  await giveUp(room, mine, FULL);
  return FULL;
}

const FULL: Refusal = refuse('limit.reached', 'too many callers wait already; ask without wait_ms');
