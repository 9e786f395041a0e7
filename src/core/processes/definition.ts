/**
 * Definitions: how often an agent may be there as a process, within which limits, and what it can do
 * [IP1]. The name is the agent's own, managed or not: there is no second list of agents. Only a person or
 * an administrator defines. A singleton stays one until it is undefined [IP2].
 */
import { type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import { AGENT_NAME_RULE, isAgentName } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import { isName, NAME_ALPHABET } from '../law/text.ts';
import { checkPerson } from '../turns/managed.ts';
import { cleanCard } from '../work/card-fields.ts';
import { holdersOf, inWords, notDefined } from './instance.ts';
import type {
  AgentDefined,
  AgentUndefined,
  DefineAgent,
  ProcessDecided,
  UndefineAgent,
} from './process-events.ts';
import {
  CAPABILITIES_LIST_MAX,
  CAPABILITY_CHARS_MAX,
  DEFINITIONS_MAX,
  INSTANCES_PER_AGENT_MAX,
  PROCESS_LIMITS,
  type ProcessLimit,
  type ProcessLimits,
} from './process-limits.ts';
import { type DefinitionFields, instancesOf } from './process-state.ts';

type Decided = Decision<ProcessDecided, { readonly agent: string }>;

export function decideDefine(world: WorldView, command: DefineAgent): Decided {
  const { by, at, agent } = command;
  const denied = checkPerson(by);
  if (denied !== null) return denied;
  const definition = cleanDefinition(command);
  if ('refused' in definition) return definition;
  const { definitions } = world.processes;
  const known = definitions.get(agent);
  if (known === undefined && definitions.size >= DEFINITIONS_MAX) {
    return refuseFull('DEFINITIONS_MAX', DEFINITIONS_MAX);
  }
  if (known?.isSingleton && !definition.isSingleton) {
    return refuse(
      'agent.singleton',
      `${agent} is defined as a singleton and stays one; take the definition away with agents.undefine first`,
      { agent },
    );
  }
  const answer = { agent };
  if (known !== undefined && isSame(known, definition)) return { events: [], answer };
  const event: AgentDefined = { type: 'agent.defined', at, by: by.id, agent, definition };
  return { events: [event], answer };
}

export function decideUndefine(world: WorldView, { by, at, agent }: UndefineAgent): Decided {
  const denied = checkPerson(by);
  if (denied !== null) return denied;
  if (!world.processes.definitions.has(agent)) return notDefined(agent);
  const holders = instancesOf(world.processes, agent);
  if (holders.length > 0) {
    return refuse(
      'agent.in-use',
      `${agent} has instances: ${inWords(holders)}; end them with agents.stop first`,
      { agent, holders: holdersOf(holders) },
    );
  }
  const event: AgentUndefined = { type: 'agent.undefined', at, by: by.id, agent };
  return { events: [event], answer: { agent } };
}

function cleanDefinition(command: DefineAgent): DefinitionFields | Refusal {
  const { agent, maxInstances, isSingleton } = command;
  if (!isAgentName(agent)) return refuse('agent.name-invalid', AGENT_NAME_RULE);
  const capabilities = [...new Set(command.capabilities)].sort();
  if (capabilities.length > CAPABILITIES_LIST_MAX) {
    return refuseFull('CAPABILITIES_LIST_MAX', CAPABILITIES_LIST_MAX);
  }
  const odd = capabilities.find((one) => !isName(one, CAPABILITY_CHARS_MAX));
  if (odd !== undefined) {
    return unfit('capabilities', `have 1 to ${CAPABILITY_CHARS_MAX} ${NAME_ALPHABET}`);
  }
  if (!isCount(maxInstances, 1, INSTANCES_PER_AGENT_MAX)) {
    return unfit('max_instances', `is a whole number from 1 to ${INSTANCES_PER_AGENT_MAX}`);
  }
  if (isSingleton && maxInstances !== 1) return unfit('max_instances', 'of a singleton is 1');
  const limits = cleanLimits(command.limits);
  if ('refused' in limits) return limits as Refusal;
  const card = command.card === null ? null : cleanCard(command.card);
  if (card !== null && 'refused' in card) return card;
  return { capabilities, maxInstances, isSingleton, limits: limits as ProcessLimits, card };
}

function cleanLimits(asked: DefineAgent['limits']): ProcessLimits | Refusal {
  const limits: Record<string, number> = {};
  for (const [name, value] of Object.entries(asked)) {
    if (!Object.hasOwn(PROCESS_LIMITS, name)) {
      const known = Object.keys(PROCESS_LIMITS).join(', ');
      return unfit(`limits.${name.slice(0, 64)}`, `is no limit; there are ${known}`);
    }
    if (value === null) continue;
    const { min, max } = PROCESS_LIMITS[name as ProcessLimit];
    if (!isCount(value, min, max)) {
      return unfit(`limits.${name}`, `is a whole number from ${min} to ${max}, or null`);
    }
    limits[name] = value;
  }
  return limits;
}

function isCount(value: unknown, min: number, max: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

function isSame(known: DefinitionFields, fields: DefinitionFields): boolean {
  const { capabilities, maxInstances, isSingleton, limits, card } = known;
  const before = { capabilities, maxInstances, isSingleton, limits, card };
  return JSON.stringify(before) === JSON.stringify(fields);
}

function unfit(field: string, issue: string): Refusal {
  return refuse('input.invalid', `${field} ${issue}`, { violations: [{ field, issue }] });
}
