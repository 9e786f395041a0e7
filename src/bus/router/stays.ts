/**
 * Where sessions live. A session stays with one worker of each pool it uses, because two pools are
 * two programs: what is said to one says nothing of the other [BU4]. The pool it came to first is
 * its home, and there goes what names no pool.
 */
import { hasHope } from './choose-worker.ts';
import type { Link, Pool, SessionRecord, Stay } from './state.ts';

/** Its place in this pool, made if need be. */
export function stayIn(session: SessionRecord, { config: { id } }: Pool): Stay {
  let last: Stay | null = null;
  for (let stay = session.home; stay; stay = stay.next) {
    if (stay.poolId === id) return stay;
    last = stay;
  }
  const fresh = { session, poolId: id, link: null, queued: 0, queuedIn: null, next: null };
  if (last) last.next = fresh;
  else session.home = fresh;
  return fresh;
}

/** Its place in one of these pools: the home first, and one whose pool can go on. */
export function stayAmong(session: SessionRecord, pools: readonly Pool[]): Stay | null {
  for (let stay = session.home; stay; stay = stay.next) {
    const pool = poolOf(stay, pools);
    if (pool && (stay.queued > 0 || stay.link !== null || hasHope(pool))) return stay;
  }
  return null;
}

export function poolOf({ poolId }: Stay, pools: readonly Pool[]): Pool | null {
  for (const pool of pools) if (pool.config.id === poolId) return pool;
  return null;
}

export function bind(stay: Stay, link: Link): void {
  if (stay.link === link) return;
  unbind(stay);
  stay.link = link;
  link.stays.add(stay);
}

export function unbind(stay: Stay): void {
  stay.link?.stays.delete(stay);
  stay.link = null;
}

/** Whether this worker may speak in the session. */
export function livesOn(session: SessionRecord, link: Link): boolean {
  for (let stay = session.home; stay; stay = stay.next) if (stay.link === link) return true;
  return false;
}

/** Whether it has a worker in this pool, or waits for one. */
export function livesIn(session: SessionRecord, { config: { id } }: Pool): boolean {
  for (let stay = session.home; stay; stay = stay.next) {
    if (stay.poolId === id) return stay.link !== null || stay.queued > 0;
  }
  return false;
}

/** Whether something of it waits for any worker of a pool. */
export function isQueued(session: SessionRecord): boolean {
  for (let stay = session.home; stay; stay = stay.next) if (stay.queued > 0) return true;
  return false;
}
