/**
 * An approval that a run waited for is kept for it: the run may have no process for days, and its time to be
 * used begins only when no run has that wait any more [GT7] [WF20].
 */
import type { World, WorldView } from '../law/state.ts';
import { APPROVAL_MS } from './gate-limits.ts';
import type { Gate } from './gate-state.ts';

/** Whether a run of its asker waits for it, or has not gone on yet with what it heard. */
export function isHeldByRun({ workflows }: WorldView, id: string): boolean {
  for (const run of workflows.awaited.get(`gate ${id}`) ?? []) {
    const waits = workflows.live.get(run)?.waits ?? [];
    if (waits.some(({ on }) => on.kind === 'gate' && on.gate === id && on.isOwn)) return true;
  }
  return false;
}

/** For evolve: whether the time of an approval runs, after either has changed. */
export function timeApproval(world: World, gate: Gate | undefined, at: number): void {
  if (gate?.state !== 'approved') return;
  if (isHeldByRun(world, gate.id)) {
    gate.dueAt = null;
    world.gates.due.delete(gate);
  } else if (gate.dueAt === null) {
    gate.dueAt = at + APPROVAL_MS;
    world.gates.due.put(gate);
    armGates(world);
  }
}

export function armGates(world: World): void {
  const at = world.gates.due.first?.dueAt ?? null;
  if (at !== null) world.deadlines.push({ at, kind: 'gates', agent: '' });
}
