/**
 * Cycles: a task that would wait for itself. The plan holds none [PL2], so only
 * dependencies that are new can close one, and only when somebody already waits
 * for the task. The shortest is found and named.
 */

import type { View } from '../../law/view.ts';
import { CYCLE_NAMED_MAX } from '../work-limits.ts';
import type { PlanBook } from './plan.ts';

/** The ids along the cycle these dependencies would close, `id` first and last; null when none. */
export function findCycle(
  book: View<PlanBook>,
  id: string,
  dependsOn: readonly string[],
): readonly string[] | null {
  if (!book.dependents.has(id)) return null;
  const old = new Set(book.nodes.get(id)?.task.dependsOn);
  const cameFrom = new Map<string, string>();
  for (const one of dependsOn) if (!old.has(one)) cameFrom.set(one, id);
  // A map grows while it is walked, and is walked in order: it is the queue as well.
  for (const [here] of cameFrom) {
    for (const next of book.nodes.get(here)?.task.dependsOn ?? []) {
      if (next === id) return trace(cameFrom, here, id);
      if (!cameFrom.has(next)) cameFrom.set(next, here);
    }
  }
  return null;
}

/** `a -> b -> a`; of a long one the beginning and the end. */
export function nameCycle(cycle: readonly string[]): string {
  if (cycle.length <= CYCLE_NAMED_MAX) return cycle.join(' -> ');
  const half = CYCLE_NAMED_MAX / 2;
  const left = cycle.length - CYCLE_NAMED_MAX;
  return [...cycle.slice(0, half), `(${left} more)`, ...cycle.slice(-half)].join(' -> ');
}

function trace(cameFrom: ReadonlyMap<string, string>, last: string, id: string): string[] {
  const back = [id];
  for (let here = last; here !== id; here = cameFrom.get(here) ?? id) back.push(here);
  back.push(id);
  return back.reverse();
}
