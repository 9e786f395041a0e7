/** How the hub is doing: a short memory of rates, latencies and sizes, for who looks after it. */
import { z } from 'zod';
import { operation, READS } from '../operation.ts';
import { seconds } from '../schemas.ts';
import { shape } from '../shape.ts';

const ms = shape(() =>
  z.number().min(0).nullable().describe('milliseconds; null: nothing was measured'),
);

export const hubVitals = operation({
  id: 'hub.vitals',
  name: 'vitals',
  title: 'How the hub is doing',
  doc: 'Rates, latencies, memory, readers that were cut off and the pools of the bus, over the last ten minutes.',
  access: 'person',
  toolset: 'admin',
  hints: READS,
  input: () => z.strictObject({ since: seconds().optional().describe('only samples after it') }),
  output: () =>
    z.object({
      beat_ms: z.int().describe('how often a sample is taken; 0: none is taken here'),
      uptime_s: z.number(),
      samples: z
        .array(
          z.object({
            at: seconds(),
            entries_per_s: z.number().describe('stored in this space'),
            append_ms_p50: ms().describe('until a batch of this space was durable'),
            append_ms_p99: ms(),
            calls_per_s: z.number().describe('of the whole hub, like all that follows'),
            call_ms_p50: ms().describe('plain sends and calls that wait are not timed'),
            call_ms_p99: ms(),
            failures: z.int().describe('errors that the log of the hub tells of'),
            busy: z.number().min(0).max(1).describe('the part of the time in which it worked'),
            rss_bytes: z.int(),
            heap_bytes: z.int(),
          }),
        )
        .describe('oldest first'),
      now: z.object({
        queued: z.int().describe('commands of this space that wait'),
        feeds: z.int(),
        connections: z.record(z.string(), z.int()).describe('of the whole hub, by door'),
      }),
      slow_readers: z.object({
        total: z.int().describe('cut off in this space since the hub began'),
        last: z
          .array(
            z.object({ agent_id: z.string(), door: z.string(), bytes: z.int(), at: seconds() }),
          )
          .describe('newest first'),
      }),
      store: z.object({
        ok: z.boolean(),
        kind: z.string(),
        entries: z.int(),
        bytes: z.int().nullable().describe('on disk; null where it is not told'),
      }),
      bus: z
        .object({
          clients: z.int(),
          sessions: z.int(),
          pending: z.int().describe('requests without an answer'),
          restarts: z.int(),
          pools: z.array(
            z.object({
              pool: z.string(),
              workers: z.record(z.string(), z.int()).describe('how many, by what they do'),
              queued_bytes: z.int(),
            }),
          ),
        })
        .nullable()
        .describe('null: this hub runs no bus, or it is not of this space'),
    }),
});
