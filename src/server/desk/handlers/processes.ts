/** Agents as processes: definitions, and instances with who hosts them. */
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import type { Principal } from '../../../core/law/principal.ts';
import type { WorldView } from '../../../core/law/state.ts';
import { type Found, findAgents, instancesPage } from '../../../core/processes/process-pages.ts';
import { type Instance, isOver } from '../../../core/processes/process-state.ts';
import type { OutputOf } from '../../../wire/operation.ts';
import type { agentsDefine, agentsReport } from '../../../wire/operations/processes.ts';
import { parseCard } from '../card-input.ts';
import { idempotencyOf } from '../idempotency.ts';
import type { Handlers, Room } from '../room.ts';

type InstanceOut = OutputOf<typeof agentsReport>;

export const processHandlers: Handlers<
  | 'agents.define'
  | 'agents.undefine'
  | 'agents.start'
  | 'agents.stop'
  | 'agents.take'
  | 'agents.report'
  | 'agents.instances'
  | 'agents.find'
> = {
  async 'agents.define'({ hub, by }, input) {
    const { agent_id: agent, capabilities, limits } = input;
    const card = input.card == null ? null : parseCard(agent, input.card);
    if (isRefusal(card)) return card;
    const answer = await hub.submit({
      ...{ type: 'agent.define', by, at: hub.stamp(), agent, capabilities, card },
      ...{ maxInstances: input.max_instances, isSingleton: input.singleton, limits: limits ?? {} },
    });
    if (isRefusal(answer)) return answer;
    return hub.ask((world) => {
      const [found] = findAgents(world, { agent, isUp: false }).rows;
      return found === undefined
        ? refuse('agent.undefined', `${agent} was undefined meanwhile`)
        : foundView(found);
    });
  },

  async 'agents.undefine'({ hub, by, platform }, input) {
    const { agent_id: agent } = input;
    const idempotency = idempotencyOf(platform, input);
    const at = hub.stamp();
    const answer = await hub.submit({ type: 'agent.undefine', by, at, agent, idempotency });
    return isRefusal(answer) ? answer : { agent_id: agent, undefined: true };
  },

  async 'agents.start'(room, input) {
    const { hub, by, platform } = room;
    const answer = await hub.submit({
      ...{ type: 'instance.start', by, at: hub.stamp(), agent: input.agent_id },
      ...{ isHeld: input.hold, host: input.host ?? null, leaseMs: input.lease_ms ?? null },
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : instanceOf(room, answer.id);
  },

  async 'agents.stop'({ hub, by, platform }, input) {
    const { instance_id: id = null, agent_id: agent = null, reason = null } = input;
    if ((id === null) === (agent === null)) {
      const issue = 'name an instance_id or an agent_id, and not both';
      return refuse('input.invalid', issue, { violations: [{ field: 'instance_id', issue }] });
    }
    const answer = await hub.submit({
      ...{ type: 'instance.stop', by, at: hub.stamp(), id, agent, reason },
      idempotency: idempotencyOf(platform, input),
    });
    return isRefusal(answer) ? answer : { stopped: [...answer.ids] };
  },

  async 'agents.take'(room, input) {
    const { hub, by } = room;
    const answer = await hub.submit({
      ...{ type: 'instance.take', by, at: hub.stamp(), agents: input.agents ?? null },
      ...{ host: input.host ?? null, leaseMs: input.lease_ms ?? null },
    });
    if (isRefusal(answer)) return answer;
    if (answer === null) return { instance: null };
    const instance = await instanceOf(room, answer.id);
    return isRefusal(instance) ? instance : { instance };
  },

  async 'agents.report'(room, input) {
    const { hub, by } = room;
    const { instance_id: id, epoch, state = null, pid = null, reason = null, lines } = input;
    const { usage } = input;
    const answer = await hub.submit({
      ...{ type: 'instance.report', by, at: hub.stamp(), id, epoch, state, pid, reason, lines },
      usage:
        usage == null
          ? null
          : { memoryMb: usage.memory_mb, cpuSeconds: usage.cpu_seconds, files: usage.files },
    });
    return isRefusal(answer) ? answer : instanceOf(room, id);
  },

  async 'agents.instances'({ hub, by }, { agent_id: agent, state, all: isAll, after, limit }) {
    return hub.ask((world) => {
      const { rows, next } = instancesPage(world.processes, { agent, state, isAll, after, limit });
      return { instances: rows.map((one) => instanceView(world, one, by)), next };
    });
  },

  async 'agents.find'({ hub }, { capability, agent_id: agent, up: isUp, after, limit }) {
    return hub.ask((world) => {
      const { rows, next } = findAgents(world, { capability, agent, isUp, after, limit });
      return { agents: rows.map(foundView), next };
    });
  },
};

function instanceOf({ hub, by }: Room, id: string): Promise<InstanceOut | Refusal> {
  return hub.ask((world) => {
    const instance = world.processes.live.get(id) ?? world.processes.ended.get(id);
    return instance === undefined
      ? refuse('instance.not-found', `${id} is over and forgotten`)
      : instanceView(world, instance, by);
  });
}

function instanceView(world: WorldView, instance: Instance, by: Principal): InstanceOut {
  const { usage, leaseUntil, agent } = instance;
  // What a process wrote last may be anything, also a secret.
  const isShown = by.kind === 'human' || by.kind === 'admin' || by.id === agent;
  return {
    ...{ instance_id: instance.id, agent_id: agent, state: instance.state },
    ...{ epoch: instance.epoch, held_by: instance.heldBy, host: instance.host },
    lease_until: leaseUntil === null || isOver(instance.state) ? null : leaseUntil / 1000,
    ...{ started_at: instance.startedAt / 1000, started_by: instance.startedBy },
    ...{ since: instance.since / 1000, pid: instance.pid, failures: instance.failures },
    usage:
      usage === null
        ? null
        : { memory_mb: usage.memoryMb, cpu_seconds: usage.cpuSeconds, files: usage.files },
    reason: instance.reason,
    lines: isShown ? [...instance.lines] : [],
    limits: { ...world.processes.definitions.get(agent)?.limits },
  };
}

function foundView(found: Found): OutputOf<typeof agentsDefine> {
  return {
    ...{ agent_id: found.agent, state: found.state, capabilities: [...found.capabilities] },
    ...{ defined: found.isDefined, managed: found.isManaged, singleton: found.isSingleton },
    ...{ max_instances: found.maxInstances, limits: { ...found.limits } },
    instances: found.instances,
    defined_at: found.definedAt === null ? null : found.definedAt / 1000,
    defined_by: found.definedBy,
  };
}
