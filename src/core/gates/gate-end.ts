/**
 * How gates end without anybody's word: by their deadline, with the turn that asked, with the agent, with
 * the rule that demanded them, and an approval by not being used in time. None of these is an approval.
 */
import { SERVER } from '../law/principal.ts';
import type { ChannelView, WorldView } from '../law/state.ts';
import type { MessageSent } from '../talk/message.ts';
import type { GateEnded } from './gate-events.ts';
import { GATES_AT_ONCE_MAX } from './gate-limits.ts';
import type { GateView } from './gate-state.ts';
import { type PostFate, postFate } from './post-fate.ts';
import { tellAsker } from './tell-asker.ts';

export type EndEvent = GateEnded | MessageSent | PostFate;

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
export function withdrawGatesOf(
  world: WorldView,
  turn: string,
  at: number,
  doPostsStay = false,
): EndEvent[] {
  const mine = [...(world.gates.byTurn.get(turn) ?? [])].filter(
    ({ state, isKept, holds }) =>
      state === 'pending' && !isKept && !(doPostsStay && holds !== null),
  );
  return endAll(world, mine, at, () => ({ state: 'withdrawn', reason: 'its turn has ended' }));
}

/** An agent that is forgotten waits for nothing, and nobody is left to be told. */
export function abandonedGates(
  world: WorldView,
  agent: string,
  at: number,
): (GateEnded | PostFate)[] {
  return [...(world.gates.byAsker.get(agent) ?? [])].flatMap((gate) => {
    const event: GateEnded = {
      ...{ type: 'gate.ended', at, by: SERVER.id, id: gate.id },
      state: gate.state === 'approved' ? 'lapsed' : 'withdrawn',
      reason: `${agent} was removed`,
    };
    return [event, ...postFate(world, gate, event)];
  });
}

/** Runs that waited for these are over, or wait no more [WF20]. */
export function withdrawGates(
  world: WorldView,
  gates: readonly GateView[],
  at: number,
  reason: string,
): EndEvent[] {
  return endAll(world, gates, at, () => ({ state: 'withdrawn', reason }));
}

/** Messages that waited for these have waited too long [GA4]. */
export function expireGates(world: WorldView, ids: readonly string[], at: number): EndEvent[] {
  const gates = ids.flatMap((id) => world.gates.open.get(id) ?? []);
  const reason = 'nobody decided it in time';
  return endAll(world, gates, at, () => ({ state: 'expired', reason }));
}

/** The channel is retired, and what waits to be said there with it. */
export function withdrawPostsOn(world: WorldView, channel: ChannelView, at: number): EndEvent[] {
  const reason = `${channel.name} was retired`;
  return endAll(world, postsOn(world, channel), at, () => ({ state: 'withdrawn', reason }));
}

/** The same with an agent that is removed, whose own gates end with it; nobody there is left to be told. */
export function abandonedPosts(
  world: WorldView,
  channel: ChannelView,
  agent: string,
  at: number,
): (GateEnded | PostFate)[] {
  const others = postsOn(world, channel).filter(({ asker }) => asker !== agent);
  return others.flatMap((gate) => {
    const reason = `${channel.name} was retired`;
    const ended = { type: 'gate.ended', at, by: SERVER.id, id: gate.id } as const;
    const event: GateEnded = { ...ended, state: 'withdrawn', reason };
    return [event, ...postFate(world, gate, event)];
  });
}

function postsOn(world: WorldView, channel: ChannelView): GateView[] {
  return [...(channel.held?.keys() ?? [])].flatMap((seq) => {
    const id = world.held.get(channel.positions.at(seq))?.gate;
    return (id === undefined ? undefined : world.gates.open.get(id)) ?? [];
  });
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
    const news = tellAsker(world, gate, event, before);
    told.set(gate.asker, before + news.length);
    return [event, ...postFate(world, gate, event), ...news];
  });
}
