/** What time does to runs: leases lapse, delays, timers and time-outs end [WF7] [WF8]. */
import type { WorldView } from '../law/state.ts';
import type { RunLapsed, RunsWoken } from './run-events.ts';
import { WAKES_AT_ONCE_MAX } from './workflow-limits.ts';

/** What is due by `at`, so much at once. */
export function runsDue(world: WorldView, at: number): (RunLapsed | RunsWoken)[] {
  const due = world.workflows.due.firsts(
    ({ dueAt }) => dueAt !== null && dueAt <= at,
    WAKES_AT_ONCE_MAX,
  );
  const lapsed: RunLapsed[] = [];
  const woken: string[] = [];
  for (const { id, epoch, leaseUntil } of due) {
    if (leaseUntil !== null && leaseUntil <= at) lapsed.push({ type: 'run.lapsed', at, id, epoch });
    else woken.push(id);
  }
  return woken.length === 0 ? lapsed : [...lapsed, { type: 'run.woken', at, ids: woken }];
}
