/**
 * Instances of defined agents: started, taken by a host, reported on, stopped. One too many is refused with
 * those that hold a place [IP4]; every arrow is one of the table, or refused with both names [IP3]; what an
 * earlier holder says is refused by its epoch [IP5]. A lease that lapses is a failure [IP6].
 */
import { type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import { type Principal, SERVER } from '../law/principal.ts';
import { checkShare } from '../law/shares.ts';
import type { WorldView } from '../law/state.ts';
import { isLine } from '../law/text.ts';
import { dropCard } from '../work/card.ts';
import type {
  InstanceMoved,
  InstanceTaken,
  ProcessDecided,
  ReportInstance,
  StartInstance,
  StopInstances,
  TakeInstance,
} from './process-events.ts';
import {
  FAILURES_IN_A_ROW,
  HEALTHY_AFTER_MS,
  HOST_CHARS_MAX,
  INSTANCE_LEASE_MS,
  INSTANCE_LEASE_MS_LONGEST,
  INSTANCE_LEASE_MS_MIN,
  INSTANCE_LINE_CHARS_MAX,
  INSTANCE_LINES_LIST_MAX,
  INSTANCE_REASON_CHARS_MAX,
  INSTANCES_MAX,
} from './process-limits.ts';
import { ARROWS, type Instance, type InstanceState, instancesOf, isOver } from './process-state.ts';

type Decided<Answer> = Decision<ProcessDecided, Answer>;

export function decideStart(
  world: WorldView,
  command: StartInstance,
): Decided<{ readonly id: string }> {
  const { by, at, agent, isHeld } = command;
  const denied = checkHost(by, agent) ?? checkHold(command);
  if (denied !== null) return denied;
  const { definitions, live, next } = world.processes;
  const definition = definitions.get(agent);
  if (definition === undefined) return notDefined(agent);
  const holders = instancesOf(world.processes, agent);
  if (holders.length >= definition.maxInstances) return tooMany(agent, definition, holders);
  if (live.size >= INSTANCES_MAX) return refuseFull('INSTANCES_MAX', INSTANCES_MAX);
  const id = `i${next}`;
  const events: ProcessDecided[] = [{ type: 'instance.started', at, by: by.id, id, agent }];
  if (isHeld) events.push(taken(command, id, 1));
  return { events, answer: { id } };
}

export function decideTake(
  world: WorldView,
  command: TakeInstance,
): Decided<{ readonly id: string } | null> {
  const { by, agents } = command;
  const denied = checkHold(command);
  if (denied !== null) return denied;
  const wanted = agents ?? [...world.processes.definitions.keys()];
  const foreign = agents?.find((agent) => checkHost(by, agent) !== null);
  if (foreign !== undefined) return checkHost(by, foreign) as Refusal;
  let first: Instance | null = null;
  for (const agent of wanted) {
    if (checkHost(by, agent) !== null) continue;
    for (const one of instancesOf(world.processes, agent)) {
      if (one.leaseUntil !== null || (one.state !== 'starting' && one.state !== 'failed')) continue;
      if (first === null || numberOf(one.id) < numberOf(first.id)) first = one;
    }
  }
  if (first === null) return { events: [], answer: null };
  return { events: [taken(command, first.id, first.epoch + 1)], answer: { id: first.id } };
}

export function decideReport(
  world: WorldView,
  command: ReportInstance,
): Decided<{ readonly id: string }> {
  const { by, at, id, epoch, usage, pid } = command;
  const instance = world.processes.live.get(id) ?? world.processes.ended.get(id);
  if (instance === undefined) return notFound(id);
  const denied = checkHost(by, instance.agent) ?? checkReport(command);
  if (denied !== null) return denied;
  const answer = { id };
  const state = command.state ?? instance.state;
  // The last word, said again after its answer was lost.
  if (isOver(instance.state) && instance.epoch === epoch) {
    return state === instance.state ? { events: [], answer } : noArrow(instance, state);
  }
  if (instance.epoch !== epoch || instance.leaseUntil === null || instance.heldBy !== by.id) {
    return stale(instance, epoch);
  }
  if (state === instance.state) {
    return { events: [{ type: 'instance.renewed', at, by: by.id, id, usage }], answer };
  }
  if (!ARROWS[instance.state].includes(state)) return noArrow(instance, state);
  const { reason, lines } = command;
  const move = { by: by.id, at, reason, lines, pid };
  const events = moved(world, instance, { ...move, state });
  if (usage !== null) events.push({ type: 'instance.renewed', at, by: by.id, id, usage });
  return { events, answer };
}

export function decideStop(
  world: WorldView,
  command: StopInstances,
): Decided<{ readonly ids: readonly string[] }> {
  const { by, at, id, agent, reason } = command;
  const flaw = checkReason(reason);
  if (flaw !== null) return flaw;
  const named = id === null ? undefined : world.processes.live.get(id);
  const over = id === null ? undefined : world.processes.ended.get(id);
  const whose = named?.agent ?? over?.agent ?? agent;
  if (whose === null || (id !== null && named === undefined && over === undefined)) {
    return notFound(id ?? '');
  }
  const denied = checkHost(by, whose);
  if (denied !== null) return denied;
  if (over !== undefined) return noArrow(over, 'stopping');
  if (named?.state === 'stopping') return { events: [], answer: { ids: [named.id] } };
  if (id === null && !world.processes.definitions.has(whose)) return notDefined(whose);
  const wanted = named === undefined ? instancesOf(world.processes, whose) : [named];
  const going = wanted.filter(({ state }) => state !== 'stopping');
  const events = going.flatMap((one) => {
    const move = { by: by.id, at, reason: reason ?? 'stopped', lines: one.lines, pid: null };
    if (one.state === 'failed') return moved(world, one, { ...move, state: 'given_up' });
    const stopping = moved(world, one, { ...move, state: 'stopping' });
    // Nobody runs it yet, so nobody could say that it has stopped.
    if (one.leaseUntil !== null) return stopping;
    return [...stopping, ...moved(world, one, { ...move, state: 'stopped' })];
  });
  return { events, answer: { ids: going.map((one) => one.id) } };
}

/** Instances of the agent whose host was not heard of in time. */
export function lapsedInstances(world: WorldView, agent: string, at: number): ProcessDecided[] {
  const late = instancesOf(world.processes, agent).filter(
    ({ leaseUntil }) => leaseUntil !== null && leaseUntil <= at,
  );
  return late.flatMap((one) => {
    const reason = `its host ${one.host ?? one.heldBy ?? ''} was not heard of for ${one.leaseMs} ms`;
    const state = one.state === 'stopping' ? 'stopped' : 'failed';
    const move = { by: SERVER.id, at, state, reason, lines: one.lines, pid: null } as const;
    return moved(world, one, { ...move, isLapse: true });
  });
}

/** An agent that is forgotten takes its definition and its instances along. */
export function abandonedInstances(
  world: WorldView,
  agent: string,
  by: string,
  at: number,
): ProcessDecided[] {
  if (!world.processes.definitions.has(agent)) return [];
  const reason = `${agent} was removed`;
  const ends = instancesOf(world.processes, agent).flatMap((one): ProcessDecided[] => {
    const move = { type: 'instance.moved', at, by, id: one.id, reason, pid: null } as const;
    const state = one.state === 'failed' ? 'given_up' : 'stopped';
    return [{ ...move, state, lines: one.lines }];
  });
  return [...ends, { type: 'agent.undefined', at, by, agent }];
}

type Move = Omit<InstanceMoved, 'type' | 'id'>;

/** The step, what follows from it by itself, and the card that goes with it. */
function moved(world: WorldView, instance: Instance, move: Move): ProcessDecided[] {
  const { id, agent } = instance;
  const event: InstanceMoved = { type: 'instance.moved', id, ...move };
  const events: ProcessDecided[] = [event];
  if (move.state === 'failed' && failuresAfter(instance, move.at) >= FAILURES_IN_A_ROW) {
    const reason = `it failed ${FAILURES_IN_A_ROW} times in a row: ${move.reason ?? 'no reason given'}`;
    const last = {
      ...event,
      state: 'given_up',
      reason: reason.slice(0, INSTANCE_REASON_CHARS_MAX),
    };
    events.push(last as InstanceMoved);
  }
  const isUp = move.state === 'running' || move.state === 'idle';
  const others = instancesOf(world.processes, agent).filter((one) => one.id !== id);
  const card = world.processes.definitions.get(agent)?.card ?? null;
  if (card === null) return events;
  if (isUp && !world.cards.cards.has(agent)) {
    const by = { id: agent, tier: 'standard' } as const;
    if (checkShare('CARDS_MAX', by, world.cards.cards.size, 0) === null) {
      events.push({ type: 'card.advertised', at: move.at, agent, card });
    }
  }
  const isLast = !isUp && others.every(({ upSince }) => upSince === null);
  if (isLast && instance.upSince !== null) events.push(...dropCard(world.cards, agent, move.at));
  return events;
}

/** For decide and evolve: it counts from anew after a healthy minute [IP7]. */
export function failuresAfter({ upSince, failures }: Instance, at: number): number {
  return upSince !== null && at - upSince >= HEALTHY_AFTER_MS ? 1 : failures + 1;
}

function taken(
  { by, at, host, leaseMs }: StartInstance | TakeInstance,
  id: string,
  epoch: number,
): InstanceTaken {
  const forMs = leaseMs ?? INSTANCE_LEASE_MS;
  return { type: 'instance.taken', at, by: by.id, id, epoch, host, leaseMs: forMs };
}

/** Who may host an agent: a person, an administrator, and the agent itself [IP8]. */
function checkHost(by: Principal, agent: string): Refusal | null {
  if (by.kind === 'human' || by.kind === 'admin') return null;
  if (by.kind === 'agent' && by.id === agent) return null;
  return refuse(
    'access.denied',
    `${agent} is started, hosted and stopped by itself, a person or an administrator`,
  );
}

function checkHold({ host, leaseMs }: StartInstance | TakeInstance): Refusal | null {
  if (host !== null && (host === '' || !isLine(host, HOST_CHARS_MAX))) {
    return invalid('host', `is one line of 1 to ${HOST_CHARS_MAX} characters`);
  }
  const [min, max] = [INSTANCE_LEASE_MS_MIN, INSTANCE_LEASE_MS_LONGEST];
  if (leaseMs === null || (Number.isSafeInteger(leaseMs) && leaseMs >= min && leaseMs <= max)) {
    return null;
  }
  return invalid('lease_ms', `is a whole number from ${min} to ${max}`);
}

function checkReport({ reason, lines, pid, usage }: ReportInstance): Refusal | null {
  if (lines.length > INSTANCE_LINES_LIST_MAX) {
    return refuseFull('INSTANCE_LINES_LIST_MAX', INSTANCE_LINES_LIST_MAX);
  }
  if (!lines.every((line) => isLine(line, INSTANCE_LINE_CHARS_MAX))) {
    return invalid('lines', `have at most ${INSTANCE_LINE_CHARS_MAX} characters, and no controls`);
  }
  if (pid !== null && !(Number.isSafeInteger(pid) && pid > 0)) {
    return invalid('pid', 'is the number of a process');
  }
  const numbers = usage === null ? [] : [usage.memoryMb, usage.cpuSeconds, usage.files];
  if (!numbers.every((one) => Number.isFinite(one) && one >= 0 && one < 1e12)) {
    return invalid('usage', 'has numbers from 0');
  }
  return checkReason(reason);
}

function checkReason(reason: string | null): Refusal | null {
  if (reason === null || isLine(reason, INSTANCE_REASON_CHARS_MAX)) return null;
  return invalid('reason', `is one line of at most ${INSTANCE_REASON_CHARS_MAX} characters`);
}

function invalid(field: string, issue: string): Refusal {
  return refuse('input.invalid', `${field} ${issue}`, { violations: [{ field, issue }] });
}

function tooMany(
  agent: string,
  { maxInstances, isSingleton }: { readonly maxInstances: number; readonly isSingleton: boolean },
  holders: readonly Instance[],
): Refusal {
  const most = isSingleton ? 'is a singleton' : `has max_instances ${maxInstances}`;
  return refuse(
    'instance.too-many',
    `${agent} ${most}, and its place is held: ${inWords(holders)}; agents.stop ends one`,
    { agent, max_instances: maxInstances, holders: holdersOf(holders) },
  );
}

export function holdersOf(instances: readonly Instance[]): object[] {
  return instances.map(({ id, state, epoch, host, heldBy, since }) => ({
    ...{ instance_id: id, state, epoch, host, held_by: heldBy, since: since / 1000 },
  }));
}

const NAMED = 5;

export function inWords(instances: readonly Instance[]): string {
  const named = instances.slice(0, NAMED).map(({ id, state, host, heldBy }) => {
    const holder = host ?? heldBy;
    return `${id} (${state}${holder === null ? ', no host' : `, ${holder}`})`;
  });
  const rest = instances.length - named.length;
  return rest > 0 ? `${named.join(', ')} and ${rest} more` : named.join(', ');
}

function noArrow({ id, state }: Instance, to: InstanceState): Refusal {
  const after = ARROWS[state].join(', ');
  const instead =
    after === '' ? 'it is over; agents.start begins another' : `only ${after} follows`;
  return refuse('instance.state', `${id} is ${state} and cannot become ${to}: ${instead}`, {
    ...{ instance_id: id, from: state, to },
  });
}

function stale({ id, epoch: now, heldBy, host }: Instance, epoch: number): Refusal {
  const holder = heldBy === null ? 'nobody holds it' : `${host ?? heldBy} holds it`;
  return refuse(
    'instance.stale',
    `${id} is not held under epoch ${epoch} any more (${holder}, epoch ${now}): end this process`,
    { instance_id: id, epoch: now, held_by: heldBy },
  );
}

export function notDefined(agent: string): Refusal {
  return refuse(
    'agent.undefined',
    `${agent} is not defined here; a person defines it with agents.define`,
    { agent },
  );
}

function notFound(id: string): Refusal {
  return refuse(
    'instance.not-found',
    `there is no instance ${id.slice(0, 64)}; agents.instances shows them`,
  );
}

/** Instances are numbered as they are started. */
export function numberOf(id: string): number {
  return /^i\d{1,15}$/.test(id) ? Number(id.slice(1)) : 0;
}
