/**
 * What is due by the clock for a managed agent: the look at what may wake it, a lease that lapsed, a
 * failure that has waited long enough [TN1] [TN6] [TN8]. Nothing else is due by the clock.
 */
import type { EndEvent } from '../gates/gate-end.ts';
import type { WorldView } from '../law/state.ts';
import { limitOf } from './agent-limits.ts';
import { mayStart } from './may-start.ts';
import { wakingNow } from './pending.ts';
import type { TurnEvent } from './turn-events.ts';
import { failure } from './turn-failure.ts';
import { MESSAGES_PER_TURN_MAX, PENDING_PER_AGENT_MAX } from './turn-limits.ts';
import { currentTurn, type ManagedView, type Turn } from './turn-state.ts';

export function dueTurns(world: WorldView, name: string, at: number): (TurnEvent | EndEvent)[] {
  const managed = world.turns.agents.get(name);
  if (managed === undefined) return [];
  const stilled = stillnesses(managed, at);
  return stilled.length > 0 ? stilled : dueNow(world, managed, at);
}

/** What a guard rail kept from waking the agent, once for each thread. */
function stillnesses({ agent, stilled }: ManagedView, at: number): TurnEvent[] {
  return stilled.map(({ position, root, by, cause }) => ({
    ...{ type: 'turn.stilled', at, agent, position, root, sender: by, cause },
  }));
}

function dueNow(world: WorldView, managed: ManagedView, at: number): (TurnEvent | EndEvent)[] {
  const { agent: name } = managed;
  const turn = currentTurn(world.turns, managed);
  switch (managed.state) {
    case 'asleep':
      return managed.lookAt === null || managed.lookAt > at ? [] : look(world, managed, at);
    case 'busy':
      if (turn === null || turn.leaseUntil === null || turn.leaseUntil > at) return [];
      return failure(world, managed, turn, lapse(managed, turn, at), at);
    case 'parked':
      if (managed.freedBy === null) return [];
      return [{ type: 'agent.resumed', at, by: managed.freedBy, agents: [name] }];
    case 'failed':
      if (turn === null || turn.retryAt === null || turn.retryAt > at) return [];
      return wakingNow(world, managed, at, 1).length > 0
        ? [{ type: 'turn.retried', at, id: turn.id }]
        : [{ type: 'turn.passed', at, agent: name, id: turn.id }];
    default:
      return [];
  }
}

function look(world: WorldView, managed: ManagedView, at: number): TurnEvent[] {
  const { agent } = managed;
  const messages = wakingNow(world, managed, at, MESSAGES_PER_TURN_MAX);
  if (messages.length === 0) {
    if (!managed.isFlooded) return [{ type: 'turn.passed', at, agent, id: null }];
    const text = `more than ${PENDING_PER_AGENT_MAX} messages came that would have woken it; the rest are in its inbox`;
    return [{ type: 'agent.parked', at, agent, cause: 'flooded', text, turn: null }];
  }
  const verdict = mayStart(world, managed, messages, at);
  if (verdict !== null && 'park' in verdict) {
    const { park: cause, text } = verdict;
    return [{ type: 'agent.parked', at, agent, cause, text, turn: null }];
  }
  if (verdict !== null && verdict.until > at) {
    const { until, cause } = verdict;
    return [{ type: 'turn.waits', at, agent, until, cause }];
  }
  const id = `t${world.turns.next}`;
  return [{ type: 'turn.due', at, agent, id, messages: messages.map((one) => one.position) }];
}

function lapse(managed: ManagedView, turn: Turn, at: number) {
  const wallMs = limitOf(managed.config.limits, 'turn_wall_ms');
  const hasOverrun = at - (turn.takenAt ?? at) >= wallMs;
  const note = hasOverrun ? `it ran for ${wallMs} ms, its limit turn_wall_ms` : null;
  const cause = hasOverrun ? ('overran' as const) : ('lapsed' as const);
  return { cause, note, sessionRef: null, cost: null };
}
