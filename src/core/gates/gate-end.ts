/**
 * How gates end without anybody's word: by their deadline, with the turn that asked, with the agent, with
 * the rule that demanded them, and an approval by not being used in time. None of these is an approval.
 */
import { SERVER } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import type { MessageSent } from '../talk/message.ts';
import type { GateEnded } from './gate-events.ts';
import { GATES_AT_ONCE_MAX } from './gate-limits.ts';
import type { GateView } from './gate-state.ts';
import { tellAsker } from './tell-asker.ts';

export type EndEvent = GateEnded | MessageSent;

/** What time has ended by `at`, so much at once. */
export function gatesDue(world: WorldView, at: number): EndEvent[] {
  const due = world.gates.due.firsts(
    ({ dueAt }) => dueAt !== null && dueAt <= at,
    GATES_AT_ONCE_MAX,
  );
  return endAll(world, due, at, (gate) =>
    gate.state === 'approved'
      ? { state: 'lapsed', reason: 'it was not used in time' }
      : { state: 'expired', reason: 'nobody decided it in time' },
  );
}

/** The turn that asked is over: what it still waited for is withdrawn, unless it was to be kept [GT9]. */
export function withdrawGatesOf(world: WorldView, turn: string, at: number): EndEvent[] {
  const mine = [...(world.gates.byTurn.get(turn) ?? [])].filter(
    ({ state, isKept }) => state === 'pending' && !isKept,
  );
  return endAll(world, mine, at, () => ({ state: 'withdrawn', reason: 'its turn has ended' }));
}

/** An agent that is forgotten waits for nothing, and nobody is left to be told. */
export function abandonedGates(world: WorldView, agent: string, at: number): GateEnded[] {
  return [...(world.gates.byAsker.get(agent) ?? [])].map(({ id, state }) => ({
    ...{ type: 'gate.ended', at, by: SERVER.id, id },
    ...{ state: state === 'approved' ? 'lapsed' : 'withdrawn', reason: `${agent} was removed` },
  }));
}

/** The rule that demanded them has changed: what was approved under it opens nothing any more [GT7]. */
export function lapseGates(
  world: WorldView,
  at: number,
  isConcerned: (gate: GateView) => boolean,
  reason: string,
): EndEvent[] {
  const approved = [...world.gates.open.values()].filter(
    (gate) => gate.state === 'approved' && isConcerned(gate),
  );
  return endAll(world, approved, at, () => ({ state: 'lapsed', reason }));
}

function endAll(
  world: WorldView,
  gates: readonly GateView[],
  at: number,
  how: (gate: GateView) => Pick<GateEnded, 'state' | 'reason'>,
): EndEvent[] {
  const told = new Map<string, number>();
  return gates.flatMap((gate) => {
    const event: GateEnded = { type: 'gate.ended', at, by: SERVER.id, id: gate.id, ...how(gate) };
    const before = told.get(gate.asker) ?? 0;
    told.set(gate.asker, before + 1);
    return [event, tellAsker(world, gate, event, before)];
  });
}
