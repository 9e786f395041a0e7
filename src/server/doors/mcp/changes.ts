/**
 * Which watched resources changed, said at most a few times a second [MC11]: whoever
 * is told reads again, so being told once of many changes is enough.
 */
import type { DurableEvent } from '../../../core/law/world.ts';
import { changedResources } from '../../../wire/mcp/resources.ts';

const GATHER_MS = 200;

/** Tells of what became durable in a space, until the answer is called; null where there is no such space. */
export type FollowSpace = (
  space: string,
  listener: (events: readonly DurableEvent[]) => void,
) => (() => void) | null;

export function followChanges(
  follow: FollowSpace,
  space: string,
  tell: (uri: string) => void,
  gatherMs: number = GATHER_MS,
): (() => void) | null {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | null = null;
  const stop = follow(space, (events) => {
    for (const uri of changedResources(events)) changed.add(uri);
    if (changed.size === 0 || timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      const uris = [...changed];
      changed.clear();
      for (const uri of uris) tell(uri);
    }, gatherMs);
    timer.unref();
  });
  if (stop === null) return null;
  return () => {
    stop();
    if (timer !== null) clearTimeout(timer);
  };
}
