/**
 * An event of the enforcer as somebody else wrote it: read, or refused with a sentence that names
 * the field. Another major version and an unknown type are refused, never guessed at [CD10].
 */
import { z } from 'zod';
import { CADENCE_VERSION, type CadenceEvent } from './cadence.ts';

export interface BadCadenceEvent {
  readonly problem: 'cadence.event-invalid';
  readonly field: string;
  readonly message: string;
}

const VERSION = `must be ${CADENCE_VERSION}, or another version that begins with 1.`;
const fields = {
  schema_version: z
    .string({ error: VERSION })
    .regex(/^1\.\d+$/, { error: VERSION })
    .transform((): typeof CADENCE_VERSION => CADENCE_VERSION),
  agent_id: z.string({ error: 'must be text' }).min(1, { error: 'must not be empty' }),
  timestamp: z.number({ error: 'must be a number of seconds' }),
  metadata: z
    .record(z.string(), z.unknown(), { error: 'must be an object' })
    .nullish()
    .transform((said) => said ?? {}),
};
const KINDS = 'tool_used, channel_send, channel_recv, turn_started or stop_requested';
const event = z.discriminatedUnion(
  'event_type',
  [
    z.object({
      event_type: z.literal('tool_used'),
      tool_name: z.string({ error: 'must be text' }).min(1, { error: 'must not be empty' }),
      ...fields,
    }),
    z.object({
      event_type: z.enum(['channel_send', 'channel_recv', 'turn_started', 'stop_requested']),
      ...fields,
    }),
  ],
  { error: (issue) => (issue.code === 'invalid_union' ? `must be ${KINDS}` : 'must be an object') },
);

export function parseCadenceEvent(value: unknown): CadenceEvent | BadCadenceEvent {
  const parsed = event.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') || 'the event';
  const message = `${field} ${issue?.message ?? 'is not as expected'}`;
  return { problem: 'cadence.event-invalid', field, message };
}
