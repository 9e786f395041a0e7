/** Agents as processes: definitions, and their instances with who hosts them. */
import { z } from 'zod';
import {
  CAPABILITIES_LIST_MAX,
  CAPABILITY_CHARS_MAX,
  HOST_CHARS_MAX,
  INSTANCE_LEASE_MS_LONGEST,
  INSTANCE_LEASE_MS_MIN,
  INSTANCE_LINE_CHARS_MAX,
  INSTANCE_LINES_LIST_MAX,
  INSTANCE_REASON_CHARS_MAX,
  INSTANCES_PER_AGENT_MAX,
} from '../../core/processes/process-limits.ts';
import { PAGE_ROWS_MAX } from '../../core/work/work-limits.ts';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import { agentId, idempotencyKey, jsonObject, seconds } from '../schemas.ts';
import { shape } from '../shape.ts';

const instanceId = shape(() => z.string().min(1).max(32));
const capability = shape(() => z.string().min(1).max(CAPABILITY_CHARS_MAX));
const reason = shape(() => z.string().max(INSTANCE_REASON_CHARS_MAX).nullish());
const host = shape(() =>
  z
    .string()
    .min(1)
    .max(HOST_CHARS_MAX)
    .nullish()
    .describe('what the host calls itself: a machine and a number'),
);
const leaseMs = shape(() =>
  z
    .int()
    .min(INSTANCE_LEASE_MS_MIN)
    .max(INSTANCE_LEASE_MS_LONGEST)
    .optional()
    .describe('report before it lapses; omitted: 30 s'),
);
const page = shape(() => ({
  after: z.string().max(256).optional(),
  limit: z.int().min(1).max(PAGE_ROWS_MAX).default(100),
}));

const INSTANCE_STATES = [
  ...['starting', 'running', 'idle', 'stopping', 'stopped', 'failed', 'given_up'],
] as const;
const instanceState = shape(() => z.enum(INSTANCE_STATES));

const usage = shape(() =>
  z.object({
    memory_mb: z.number().min(0),
    cpu_seconds: z.number().min(0),
    files: z.number().min(0),
  }),
);

const foundView = shape(() =>
  z.object({
    agent_id: z.string(),
    state: z
      .enum(['defined', ...INSTANCE_STATES])
      .nullable()
      .describe('of the instance that is most there; null: it has a card and no definition'),
    capabilities: z
      .array(z.string())
      .describe('of its definition, and skills and tags of its card'),
    defined: z.boolean(),
    managed: z.boolean().describe('the hub sees to its turns'),
    singleton: z.boolean(),
    max_instances: z.int().nullable(),
    limits: z.record(z.string(), z.number()),
    instances: z.int().describe('that are not over'),
    defined_at: seconds().nullable(),
    defined_by: z.string().nullable(),
  }),
);

const instanceView = shape(() =>
  z.object({
    instance_id: z.string(),
    agent_id: z.string(),
    state: instanceState(),
    epoch: z.int(),
    held_by: z.string().nullable().describe('null: it waits for a host'),
    host: z.string().nullable(),
    lease_until: seconds().nullable(),
    started_at: seconds(),
    started_by: z.string(),
    since: seconds(),
    pid: z.int().nullable(),
    usage: usage().nullable().describe('as it was measured last'),
    failures: z.int().describe('in a row'),
    reason: z.string().nullable(),
    lines: z
      .array(z.string())
      .describe('the last it wrote before it failed; for people and itself'),
    limits: z.record(z.string(), z.number()).describe('what its process may use'),
  }),
);

export const agentsDefine = operation({
  id: 'agents.define',
  name: 'agents_define',
  title: 'Define an agent as a process',
  doc: 'How often an agent may be there as a process, within which limits, and what it can do. A singleton stays one.',
  access: 'person',
  toolset: 'admin',
  hints: SETS,
  input: () =>
    z.strictObject({
      agent_id: agentId(),
      capabilities: z.array(capability()).max(CAPABILITIES_LIST_MAX).default([]),
      max_instances: z.int().min(1).max(INSTANCES_PER_AGENT_MAX).default(1),
      singleton: z.boolean().default(false),
      limits: z
        .record(z.string(), z.unknown())
        .nullish()
        .describe(
          'memory_mb, cpu (seconds), files, wall (seconds); one that is left out is not bounded',
        ),
      card: jsonObject()
        .nullish()
        .describe('advertised while an instance runs; see cards.advertise'),
    }),
  output: () => foundView(),
});

export const agentsUndefine = operation({
  id: 'agents.undefine',
  name: 'agents_undefine',
  title: 'Take a definition away',
  doc: 'Forget how an agent is run as a process; its instances must be over.',
  access: 'person',
  toolset: 'admin',
  hints: REMOVES,
  input: () => z.strictObject({ agent_id: agentId(), idempotency_key: idempotencyKey() }),
  output: () => z.object({ agent_id: z.string(), undefined: z.literal(true) }),
});

export const agentsStart = operation({
  id: 'agents.start',
  name: 'agents_start',
  title: 'Start an instance',
  doc: 'Start an instance of a defined agent. With hold you host it yourself; else it waits for a host. One too many is refused with the holders.',
  access: 'writer',
  toolset: 'more',
  hints: ADDS,
  input: () =>
    z.strictObject({
      agent_id: agentId(),
      hold: z.boolean().default(false),
      host: host(),
      lease_ms: leaseMs(),
      idempotency_key: idempotencyKey(),
    }),
  output: () => instanceView(),
});

export const agentsStop = operation({
  id: 'agents.stop',
  name: 'agents_stop',
  title: 'Stop instances',
  doc: 'Stop one instance, or all of an agent. Its host is told with its next report; one that failed is given up.',
  access: 'writer',
  toolset: 'more',
  hints: REMOVES,
  input: () =>
    z.strictObject({
      instance_id: instanceId().optional(),
      agent_id: agentId().optional(),
      reason: reason(),
      idempotency_key: idempotencyKey(),
    }),
  output: () =>
    z.object({ stopped: z.array(z.string()).describe('ids that now stop or have stopped') }),
});

export const agentsTake = operation({
  id: 'agents.take',
  name: 'agents_take',
  title: 'Take an instance',
  doc: 'For a host: the instance that waits longest for one, under a new epoch; null when none does.',
  access: 'writer',
  toolset: 'more',
  hints: ADDS,
  input: () =>
    z.strictObject({
      agents: z.array(agentId()).min(1).max(1_000).optional().describe('omitted: all you may host'),
      host: host(),
      lease_ms: leaseMs(),
    }),
  output: () => z.object({ instance: instanceView().nullable() }),
});

export const agentsReport = operation({
  id: 'agents.report',
  name: 'agents_report',
  title: 'Report on an instance',
  doc: 'For its host: it lives, and where it is. Renews the lease; a stale epoch and an arrow that is not there are refused.',
  access: 'writer',
  toolset: 'more',
  hints: SETS,
  input: () =>
    z.strictObject({
      instance_id: instanceId(),
      epoch: z.int().min(1).describe('the number it was taken with'),
      state: instanceState().optional(),
      pid: z.int().min(1).nullish(),
      usage: usage().nullish(),
      reason: reason(),
      lines: z
        .array(z.string().max(INSTANCE_LINE_CHARS_MAX))
        .max(INSTANCE_LINES_LIST_MAX)
        .default([]),
    }),
  output: () => instanceView(),
});

export const agentsInstances = operation({
  id: 'agents.instances',
  name: 'agents_instances',
  title: 'List instances',
  doc: 'Instances, the newest first: state, host, epoch, what they use, why they failed.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      agent_id: agentId().optional(),
      state: instanceState().optional(),
      all: z.boolean().default(false).describe('also those that are over'),
      ...page(),
    }),
  output: () => z.object({ instances: z.array(instanceView()), next: z.string().nullable() }),
});

export const agentsFind = operation({
  id: 'agents.find',
  name: 'agents_find',
  title: 'Find agents by what they can do',
  doc: 'Agents by capability, from definitions and cards, with how many instances are there.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      capability: capability().optional(),
      agent_id: agentId().optional(),
      up: z.boolean().default(false).describe('only those that are there'),
      ...page(),
    }),
  output: () => z.object({ agents: z.array(foundView()), next: z.string().nullable() }),
});
