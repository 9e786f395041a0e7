/**
 * Managed agents: whose turns the hub sees to, how, and within which limits. Only a person or an
 * administrator says so; what cannot work is refused when it is configured, by its field, and not
 * when mail comes [TN10].
 */
import { raiseItem, settleItem } from '../docket/docket.ts';
import { type EndEvent, withdrawGatesOf } from '../gates/gate-end.ts';
import { type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import type { Principal } from '../law/principal.ts';
import type { World, WorldView } from '../law/state.ts';
import { isProse, parseObjectText } from '../law/text.ts';
import { onTurnOver } from '../workflows/waits.ts';
import { checkLimits, type Limits } from './agent-limits.ts';
import { dropPending, lookNow } from './pending.ts';
import { rootOf } from './rails/chains.ts';
import { createAgentRails } from './rails/rails.ts';
import { clearRails, closeTurn, type TurnClose } from './rails/turn-record.ts';
import { settleStilled } from './turn-docket.ts';
import type {
  AgentManaged,
  AgentParked,
  AgentsPaused,
  AgentsResumed,
  AgentUnmanaged,
  ManageAgent,
  PauseAgents,
  ResumeAgents,
  TurnCancelled,
  UnmanageAgent,
} from './turn-events.ts';
import { MANAGED_AGENTS_MAX, RUNNER_BYTES_MAX, TURN_WORD_CHARS_MAX } from './turn-limits.ts';
import {
  type Cost,
  currentTurn,
  type Managed,
  type ManagedView,
  NO_COST,
  type Turn,
  type Waking,
} from './turn-state.ts';
import { checkWakeRule } from './wake-rule.ts';

/** Threads in which a person's word frees a parked agent. */
const THREADS_PARKED_MAX = 100;

export type ManagedEvent =
  | AgentManaged
  | AgentUnmanaged
  | AgentsPaused
  | AgentsResumed
  | AgentParked
  | TurnCancelled;

type Decided = Decision<ManagedEvent | EndEvent, { readonly agents: readonly string[] }>;

export function decideManaged(
  world: WorldView,
  command: ManageAgent | UnmanageAgent | PauseAgents | ResumeAgents,
): Decided {
  const denied = checkPerson(command.by);
  if (denied !== null) return denied;
  switch (command.type) {
    case 'agent.manage':
      return manage(world, command);
    case 'agent.unmanage': {
      const { agent, by, at } = command;
      const managed = world.turns.agents.get(agent);
      if (managed === undefined) return notManaged(agent);
      const withdrawn = withdrawGatesOf(world, managed.turn ?? '', at);
      const events = [...unmanaged(world, managed, by.id, at), ...withdrawn];
      return { events, answer: { agents: [agent] } };
    }
    case 'agent.pause':
      return pause(world, command);
    case 'agent.resume':
      return resume(world, command);
  }
}

function manage(world: WorldView, { by, at, agent, config }: ManageAgent): Decided {
  const { turns } = world;
  if (!world.agents.has(agent)) {
    return refuse(
      'agent.not-found',
      `there is no agent ${agent} here; it is known once it has a token, a subscription or a message`,
      { violations: [{ field: 'agent_id', issue: 'is not known here' }] },
    );
  }
  if (!turns.agents.has(agent) && turns.agents.size >= MANAGED_AGENTS_MAX) {
    return refuseFull('MANAGED_AGENTS_MAX', MANAGED_AGENTS_MAX);
  }
  const unfit = checkLimits(config.limits) ?? checkWakeRule(config.wake);
  if (unfit !== null) return unfit;
  const runner = parseObjectText(config.runner, RUNNER_BYTES_MAX);
  if (runner === null || config.runnerKind === '' || config.runnerKind.length > 64) {
    const issue = `is a JSON object of at most ${RUNNER_BYTES_MAX} bytes with a kind`;
    return refuse('input.invalid', `runner ${issue}`, {
      violations: [{ field: 'runner', issue }],
    });
  }
  const kept = { ...config, runner, limits: config.limits as Limits };
  const known = turns.agents.get(agent);
  const isNews = known === undefined || JSON.stringify(known.config) !== JSON.stringify(kept);
  const event: AgentManaged = { type: 'agent.managed', at, by: by.id, agent, config: kept };
  return { events: isNews ? [event] : [], answer: { agents: [agent] } };
}

/** What becomes of an agent's turn when it is managed no more; also when it is forgotten, with its gates. */
export function unmanaged(
  world: WorldView,
  managed: ManagedView,
  by: string,
  at: number,
): (TurnCancelled | AgentUnmanaged)[] {
  const turn = currentTurn(world.turns, managed);
  const { agent } = managed;
  const gone: AgentUnmanaged = { type: 'agent.unmanaged', at, by, agent };
  const reason = `${agent} is managed no more`;
  if (turn === null) return [gone];
  const cancelled: TurnCancelled = { type: 'turn.cancelled', at, by, id: turn.id, reason };
  return [cancelled, gone];
}

/** A turn that runs is ended; what it was given begins another when the agent is resumed. */
function pause(world: WorldView, { by, at, agent, reason }: PauseAgents): Decided {
  const unfit = checkText('reason', reason);
  if (unfit !== null) return unfit;
  const named = whom(world, agent);
  if ('refused' in named) return named;
  const awake = named.filter(({ state }) => state !== 'paused');
  return { events: paused(world, awake, by.id, at, reason), answer: namesOf(awake) };
}

export function paused(
  world: WorldView,
  agents: readonly ManagedView[],
  by: string,
  at: number,
  reason: string | null,
): (TurnCancelled | AgentsPaused | EndEvent)[] {
  if (agents.length === 0) return [];
  const cancelled = agents.flatMap((managed): (TurnCancelled | EndEvent)[] => {
    const turn = currentTurn(world.turns, managed);
    const why = reason === null ? 'paused' : `paused: ${reason}`;
    if (turn === null) return [];
    return [
      { type: 'turn.cancelled', at, by, id: turn.id, reason: why, isKept: true },
      ...withdrawGatesOf(world, turn.id, at),
    ];
  });
  const { agents: names } = namesOf(agents);
  return [...cancelled, { type: 'agent.paused', at, by, agents: names, reason }];
}

function resume(world: WorldView, { by, at, agent }: ResumeAgents): Decided {
  const named = whom(world, agent);
  if ('refused' in named) return named;
  const still = named.filter(({ state }) => state === 'paused' || state === 'parked');
  const [one] = named;
  if (agent !== null && one !== undefined && still.length === 0) {
    return refuse(
      'turn.state',
      `${agent} is ${one.state}; only who is paused or parked is resumed`,
      {
        agent,
        state: one.state,
      },
    );
  }
  if (still.length === 0) return { events: [], answer: { agents: [] } };
  const answer = namesOf(still);
  return { events: [{ type: 'agent.resumed', at, by: by.id, agents: answer.agents }], answer };
}

function whom(world: WorldView, agent: string | null): ManagedView[] | Refusal {
  if (agent === null) return [...world.turns.agents.values()];
  const managed = world.turns.agents.get(agent);
  return managed === undefined ? notManaged(agent) : [managed];
}

function namesOf(agents: readonly ManagedView[]): { readonly agents: readonly string[] } {
  return { agents: agents.map(({ agent }) => agent) };
}

export function evolveManaged(world: World, event: ManagedEvent): void {
  switch (event.type) {
    case 'agent.managed':
      return evolveManage(world, event);
    case 'agent.unmanaged':
      return evolveUnmanaged(world, event);
    case 'agent.paused':
    case 'agent.resumed':
      for (const name of event.agents) {
        const managed = world.turns.agents.get(name);
        if (managed === undefined) continue;
        if (event.type === 'agent.paused') enter(managed, 'paused', event.at, event.reason);
        else {
          // Of a flood a person was told when the agent was parked for it, and not before [TN13].
          if (managed.state === 'parked') managed.isFlooded = false;
          unpark(world, managed, event.at, 'resumed', event.by);
          lookNow(world, managed, event.at);
        }
      }
      return;
    case 'agent.parked': {
      const managed = world.turns.agents.get(event.agent);
      if (managed === undefined) return;
      const turn = currentTurn(world.turns, managed);
      if (turn !== null) {
        endTurn(world, turn, { state: 'cancelled', note: event.text }, event.at, { isKept: true });
      }
      const about = turn?.messages ?? world.turns.turns.get(event.turn ?? '')?.messages ?? [];
      managed.parkedFor = threadsOf(world, [...about, ...managed.pending]);
      managed.freedBy = null;
      const { at, agent, cause, text } = event;
      enter(managed, 'parked', at, `${cause}: ${text}`);
      // What a person must look at is one item, whatever it was parked for.
      const kind = cause === 'dead' ? 'dead' : 'parked';
      const [root] = managed.parkedFor;
      const thread = root === undefined ? null : `m${root}`;
      raiseItem(world, at, { kind, agent, reason: cause, thread, text, subject: agent });
      return;
    }
    case 'turn.cancelled': {
      const turn = world.turns.turns.get(event.id);
      if (turn === undefined) return;
      const { reason: note } = event;
      const isKept = event.isKept === true;
      const managed = endTurn(world, turn, { state: 'cancelled', note }, event.at, { isKept });
      if (managed === null) return;
      if (!isKept) dropPending(managed, turn.messages);
      lookNow(world, managed, event.at);
    }
  }
}

function threadsOf(world: World, messages: readonly Waking[]): number[] {
  const roots = messages.map(({ position }) => rootOf(world.turns.rails.chains, position));
  return [...new Set(roots)].slice(0, THREADS_PARKED_MAX);
}

function evolveManage(world: World, { agent: name, config, at, by }: AgentManaged): void {
  const known = world.turns.agents.get(name);
  if (known !== undefined) {
    Object.assign(known, { config, managedAt: at, managedBy: by });
    return;
  }
  const agent = world.agents.get(name);
  if (agent === undefined) return;
  const managed: Managed = {
    ...{ agent: name, config, managedAt: at, managedBy: by },
    ...{ state: 'asleep', since: at, why: null, epoch: 0, turn: null, pending: [] },
    ...{ isFlooded: false, lookAt: null, gatherFrom: null, given: [], sessionRef: null },
    ...{ cost: NO_COST, turnCount: 0, rails: createAgentRails(), stilled: [], parkedFor: [] },
    freedBy: null,
  };
  world.turns.agents.set(name, managed);
  agent.managed = managed;
  for (const member of agent.memberships.values()) member.channel.managed.add(member);
}

function evolveUnmanaged(world: World, { agent: name, at, by }: AgentUnmanaged): void {
  const managed = world.turns.agents.get(name);
  if (managed !== undefined) unpark(world, managed, at, 'managed no more', by);
  world.turns.agents.delete(name);
  world.turns.waking.delete(name);
  const agent = world.agents.get(name);
  if (agent === undefined) return;
  agent.managed = null;
  for (const member of agent.memberships.values()) member.channel.managed.delete(member);
}

/** For evolve: a person has looked, and it is off the docket. */
export function unpark(
  world: World,
  managed: Managed,
  at: number,
  outcome: string,
  by: string | null,
): void {
  for (const kind of ['parked', 'dead'] as const) {
    settleItem(world, at, kind, managed.agent, outcome, by);
  }
  clearRails(managed);
  settleStilled(world, { agent: managed.agent }, at, by);
  enter(managed, 'asleep', at, null);
}

/** For evolve: the agent is in another state now; it waits to be taken while it is waking. */
export function enter(
  managed: Managed,
  state: Managed['state'],
  at: number,
  why: string | null,
): void {
  Object.assign(managed, { state, since: at, why, lookAt: null, gatherFrom: null });
}

/** For evolve: the turn is over, and its agent asleep; null when that is managed no more. */
export function endTurn(
  world: World,
  turn: Turn,
  change: Partial<Turn> & Pick<Turn, 'state'>,
  at: number,
  { isKept = false, ...more }: Partial<TurnClose> & { readonly isKept?: boolean } = {},
): Managed | null {
  const { turns } = world;
  const managed = turns.agents.get(turn.agent);
  const end = { retryAt: null, leaseUntil: null, endedAt: at, ...billed(managed, turn) };
  const ended = { ...turn, ...end, ...change };
  turns.turns.set(turn.id, ended);
  turns.waking.delete(turn.agent);
  if (turn.state === 'busy') {
    turns.busyCount--;
    closeTurn(world, managed, turn, { at, isFruitful: change.state === 'done', ...more });
  }
  onTurnOver(world, ended, isKept, at);
  if (managed === undefined || managed.turn !== turn.id) return null;
  managed.turn = null;
  enter(managed, 'asleep', at, null);
  return managed;
}

/** For evolve: what the attempt cost is on the bill of the turn and of its agent. */
export function billed(
  managed: Managed | undefined,
  { cost, running }: Turn,
): Pick<Turn, 'cost' | 'running'> {
  if (running === null) return { cost, running };
  if (managed !== undefined) managed.cost = addCost(managed.cost, running);
  return { cost: addCost(cost ?? NO_COST, running), running: null };
}

function addCost(one: Cost, other: Cost): Cost {
  return {
    usd: one.usd + other.usd,
    tokensIn: one.tokensIn + other.tokensIn,
    tokensOut: one.tokensOut + other.tokensOut,
  };
}

export function checkPerson(by: Principal): Refusal | null {
  if (by.kind === 'human' || by.kind === 'admin') return null;
  return refuse('access.denied', 'only a person or an administrator says how agents are run');
}

export function checkText(field: string, text: string | null): Refusal | null {
  if (text === null || isProse(text, TURN_WORD_CHARS_MAX)) return null;
  const issue = `has at most ${TURN_WORD_CHARS_MAX} characters and no control characters`;
  return refuse('input.invalid', `${field} ${issue}`, { violations: [{ field, issue }] });
}

export function notManaged(agent: string): Refusal {
  return refuse(
    'agent.not-managed',
    `${agent} is not managed here; agents.manage says how it is run`,
    {
      agent,
    },
  );
}
