/** What the events of definitions and instances do to the state, and when a lease is looked at next. */
import { unreachable } from '../law/assert.ts';
import type { World } from '../law/state.ts';
import { failuresAfter, numberOf } from './instance.ts';
import type { InstanceMoved, ProcessEvent } from './process-events.ts';
import { ENDED_INSTANCES_MAX, INSTANCE_LEASE_MS } from './process-limits.ts';
import { enterLive, type Instance, instancesOf, isOver } from './process-state.ts';

const KINDS: Readonly<Record<ProcessEvent['type'], true>> = {
  'agent.defined': true,
  'agent.undefined': true,
  'instance.started': true,
  'instance.taken': true,
  'instance.moved': true,
  'instance.renewed': true,
};

export function isProcessEvent(event: { readonly type: string }): event is ProcessEvent {
  return event.type in KINDS;
}

export function evolveProcesses(world: World, event: ProcessEvent): void {
  const book = world.processes;
  switch (event.type) {
    case 'agent.defined': {
      const { agent, definition, at, by } = event;
      book.definitions.set(agent, { ...definition, agent, definedAt: at, definedBy: by });
      return;
    }
    case 'agent.undefined':
      book.definitions.delete(event.agent);
      return;
    case 'instance.started': {
      const { id, agent, at, by } = event;
      book.next = Math.max(book.next, numberOf(id) + 1);
      enterLive(book, {
        ...{ id, agent, state: 'starting', epoch: 0, heldBy: null, host: null },
        ...{
          leaseMs: INSTANCE_LEASE_MS,
          leaseUntil: null,
          startedAt: at,
          startedBy: by,
          since: at,
        },
        ...{ upSince: null, pid: null, usage: null, failures: 0, reason: null, lines: [] },
      });
      return;
    }
    case 'instance.taken': {
      const known = book.live.get(event.id);
      if (known === undefined) return;
      const { at, by, epoch, host, leaseMs } = event;
      const state = known.state === 'failed' ? 'starting' : known.state;
      const since = state === known.state ? known.since : at;
      const held = { heldBy: by, host, epoch, leaseMs, leaseUntil: at + leaseMs };
      return put(world, { ...known, ...held, state, since });
    }
    case 'instance.moved':
      return evolveMoved(world, event);
    case 'instance.renewed': {
      const known = book.live.get(event.id);
      if (known === undefined) return;
      const usage = event.usage ?? known.usage;
      return put(world, { ...known, usage, leaseUntil: event.at + known.leaseMs });
    }
    default:
      return unreachable(event);
  }
}

function evolveMoved(world: World, event: InstanceMoved): void {
  const known = world.processes.live.get(event.id);
  if (known === undefined) return;
  const { at, state, reason, lines } = event;
  const isUp = state === 'running' || state === 'idle';
  // What is over is kept as it was: who held it, until when, as which process.
  const isKept = isOver(state) || state === 'stopping';
  const isHeld = !event.isLapse && known.leaseUntil !== null;
  put(world, {
    ...known,
    ...{ state, since: at, reason, lines },
    leaseUntil: isOver(state) ? known.leaseUntil : isHeld ? at + known.leaseMs : null,
    upSince: isUp ? (known.upSince ?? at) : isKept ? known.upSince : null,
    pid: isUp || isKept ? (event.pid ?? known.pid) : null,
    failures: state === 'failed' ? failuresAfter(known, at) : known.failures,
    ...(event.isLapse && !isKept && { heldBy: null, host: null }),
  });
}

function put(world: World, instance: Instance): void {
  const { processes: book } = world;
  const { id, agent, state } = instance;
  if (!isOver(state)) {
    book.live.set(id, instance);
    return armInstances(world, agent);
  }
  book.live.delete(id);
  const mine = book.byAgent.get(agent);
  mine?.delete(id);
  if (mine?.size === 0) book.byAgent.delete(agent);
  book.ended.set(id, instance);
  const { oldest } = book.ended;
  if (book.ended.size > ENDED_INSTANCES_MAX && oldest !== undefined) book.ended.delete(oldest);
}

/** Sees to it that the instances of the agent are looked at when the first lease of them lapses. */
export function armInstances(world: World, agent: string): void {
  let soonest: number | null = null;
  for (const { leaseUntil } of instancesOf(world.processes, agent)) {
    if (leaseUntil !== null) soonest = Math.min(soonest ?? leaseUntil, leaseUntil);
  }
  if (soonest !== null) world.deadlines.push({ at: soonest, kind: 'instances', agent });
}
