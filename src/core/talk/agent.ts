/**
 * Agents: the identities of a space. A record appears with the first thing an
 * agent does; nobody registers twice.
 */

import { type Asked, type Decision, isRefusal, type Refusal, refuse } from '../law/decider.ts';
import { Heap } from '../law/heap.ts';
import { DAY_MS, ROLE_CHARS_MAX, ROLES_MAX } from '../law/limits.ts';
import { AGENT_NAME_RULE, isAgentName, type Principal } from '../law/principal.ts';
import { checkShare, count } from '../law/shares.ts';
import type { Agent, World, WorldView } from '../law/state.ts';
import { armSweep } from '../law/sweep.ts';
import { isName, NAME_ALPHABET } from '../law/text.ts';

export interface AssignRoles extends Asked {
  readonly type: 'agent.assign';
  readonly agent: string;
  readonly roles: readonly string[];
}

/** Roles outlive a restart: whoever speaks to one must still be heard [AD4]. */
export interface RolesAssigned {
  readonly type: 'agent.assigned';
  readonly at: number;
  readonly by: string;
  readonly agent: string;
  readonly roles: readonly string[];
}

/** What is told to a role reaches whoever has it, so nobody gives one to itself [AD5]. */
export function decideAssign(
  world: WorldView,
  command: AssignRoles,
): Decision<RolesAssigned, null> {
  const { by, at, agent } = command;
  const roles = [...new Set(command.roles)].sort();
  const known = world.agents.get(agent)?.roles ?? [];
  if (by.id === agent && roles.join() === known.join()) return { events: [], answer: null };
  if (by.kind !== 'admin') {
    return refuse(
      'access.denied',
      'roles come with the token or from an administrator: ask for agents.assign',
    );
  }
  const unfit =
    checkAgentName(world, agent) ?? checkAgentRoom(world, by, agent) ?? checkRoles(roles);
  if (unfit !== null) return unfit;
  if (roles.join() === known.join()) return { events: [], answer: null };
  return { events: [{ type: 'agent.assigned', at, by: by.id, agent, roles }], answer: null };
}

export function checkRoles(roles: readonly string[]): Refusal | null {
  const bad = roles.find((role) => !isName(role, ROLE_CHARS_MAX));
  if (bad === undefined && roles.length <= ROLES_MAX) return null;
  return refuse(
    'input.invalid',
    `an agent has at most ${ROLES_MAX} roles, each of 1 to ${ROLE_CHARS_MAX} ${NAME_ALPHABET}`,
    { violations: [{ field: 'roles', issue: bad === undefined ? 'too many' : 'not a name' }] },
  );
}

export function evolveAssigned(world: World, event: RolesAssigned): void {
  agentOf(world, event.agent).roles = event.roles;
}

/** The desk says that an agent is about, though nothing it did was an event. */
export interface SeeAgent extends Asked {
  readonly type: 'agent.see';
}

export interface AgentSeen {
  readonly type: 'agent.seen';
  readonly at: number;
  readonly by: string;
  /** From its first act: the door it came by vouched for it. */
  readonly isVouched?: true;
}

/** Once a day is enough to know who stays away, and little enough to be history [GA6]. */
export function decideSee(world: WorldView, { by, at }: SeeAgent): Decision<AgentSeen, null> {
  const agent = world.agents.get(by.id);
  const isNews = agent !== undefined && at - agent.seenAt >= DAY_MS;
  return { events: isNews ? [{ type: 'agent.seen', at, by: by.id }] : [], answer: null };
}

/**
 * With the first act of a caller whose door vouched for it that is put on record, or a name that came
 * by another door could not be told from it after a restart [I13].
 */
export function vouchedFor<E>(
  world: WorldView,
  { by, at }: Asked,
  decision: Decision<E, unknown>,
): Decision<E | AgentSeen, unknown> {
  if (isRefusal(decision) || decision.events.length === 0) return decision;
  const known = world.agents.get(by.id);
  if (known !== undefined && known.madeBy === null) return decision;
  const seen: AgentSeen = { type: 'agent.seen', at, by: by.id, isVouched: true };
  return { ...decision, events: [...decision.events, seen] };
}

export function evolveSeen(world: World, { by, isVouched }: AgentSeen): void {
  const agent = world.agents.get(by);
  if (agent !== undefined && isVouched) agent.isVouched = true;
}

export function createAgent(name: string): Agent {
  return {
    name,
    madeBy: null,
    isVouched: false,
    patterns: new Set(),
    roles: [],
    memberships: new Map(),
    ready: new Heap((a, b) => a.oldest < b.oldest),
    leasing: new Set(),
    leasedCount: 0,
    seenAt: 0,
    presented: null,
    fatesFrom: 0,
    presence: {
      state: 'offline',
      beatAt: 0,
      changedAt: 0,
      staleMs: 0,
      offlineMs: 0,
    },
    managed: null,
  };
}

/** For evolve: the record, made on first sight; `by` is who named it, if that was somebody else. */
export function agentOf(world: World, name: string, by: string = name): Agent {
  let agent = world.agents.get(name);
  if (agent === undefined) {
    agent = createAgent(name);
    // Not `world.at`, which what only memory knew may have moved: replay would tell another time.
    agent.seenAt = world.recordedAt;
    if (by !== name) agent.madeBy = by;
    count(world.made.agents, agent.madeBy, 1);
    world.agents.set(name, agent);
    armSweep(world);
  }
  return agent;
}

/** For decide: may somebody be called that? Who has the name already keeps it. */
export function checkAgentName(world: WorldView, name: string): Refusal | null {
  if (world.agents.has(name) || isAgentName(name)) return null;
  return refuse('agent.name-invalid', AGENT_NAME_RULE);
}

/** For evolve: an agent that came itself is nobody else's doing. */
export function ownUp(world: World, agent: Agent): void {
  count(world.made.agents, agent.madeBy, -1);
  agent.madeBy = null;
}

/** For decide: is there room for one more name, the caller's own or one it makes known? */
export function checkAgentRoom(
  world: WorldView,
  by: Principal,
  name: string = by.id,
): Refusal | null {
  if (world.agents.has(name)) return null;
  const mine = name === by.id ? 0 : (world.made.agents.get(by.id) ?? 0);
  return checkShare('AGENTS_MAX', by, world.agents.size, mine);
}
