/**
 * Gates that a run asked and waits for no more are withdrawn with what ended the wait, in the same append:
 * nobody is to decide what nobody will do [WF20]. One that another run waits for too stays.
 */
import { type EndEvent, withdrawGates } from '../gates/gate-end.ts';
import type { GateView } from '../gates/gate-state.ts';
import type { WorldView } from '../law/state.ts';
import type { RunView, StepRef } from './run-state.ts';

/** Left out, all of them. */
interface Which {
  /** Whether this wait ends now. */
  isWait?(wait: StepRef): boolean;
  isGate?(gate: GateView): boolean;
}

export function gatesLeft(
  world: WorldView,
  runs: readonly RunView[],
  at: number,
  reason: string,
  { isWait = () => true, isGate = () => true }: Which = {},
): EndEvent[] {
  const { awaited, live } = world.workflows;
  const leaving = new Set(runs.map(({ id }) => id));
  const isAwaited = (gate: string): boolean =>
    [...(awaited.get(`gate ${gate}`) ?? [])].some((id) => {
      const waits = live.get(id)?.waits.filter(({ on }) => on.kind === 'gate' && on.gate === gate);
      return !leaving.has(id) || waits?.every(isWait) === false;
    });
  const left = new Set<GateView>();
  for (const { waits } of runs) {
    for (const { on } of waits) {
      if (on.kind !== 'gate' || on.isOwn === undefined) continue;
      const gate = world.gates.open.get(on.gate);
      if (gate?.state === 'pending' && isGate(gate) && !isAwaited(gate.id)) left.add(gate);
    }
  }
  return withdrawGates(world, [...left], at, reason);
}
