/** Several servers of one store: who is there, who sequences what, and how far each has come. For the owner. */
import { z } from 'zod';
import { operation, READS, SETS } from '../operation.ts';
import { seconds, spaceName } from '../schemas.ts';

const SPACES_LISTED_MAX = 500;

export const clusterStatus = operation({
  id: 'cluster.status',
  name: 'cluster_status',
  title: 'Status of the cluster',
  doc: 'The servers that share this store, who sequences each space, how far each has come, and what the store promises. For the owner.',
  isAboutSpaces: true,
  access: 'owner',
  toolset: 'admin',
  hints: READS,
  input: () =>
    z.strictObject({
      after: spaceName().optional().describe('go on behind this space'),
      limit: z.int().min(1).max(SPACES_LISTED_MAX).default(100).describe('of spaces'),
    }),
  output: () =>
    z.object({
      server: z.string().describe('the one that answers'),
      servers: z
        .array(
          z.object({
            name: z.string(),
            state: z
              .enum(['alive', 'draining', 'gone'])
              .describe('draining: it takes no space; gone: not heard of for 3 seconds'),
            version: z.string(),
            url: z.string().nullable(),
            since: seconds().describe('when it started, by its own clock'),
            heard_s: z.number().describe('how long ago it was heard of'),
            spaces: z.int().describe('it has open'),
            sequences: z.int().describe('of these'),
            lag: z.int().describe('entries it is behind, in the space where that is most'),
          }),
        )
        .describe('by name'),
      spaces: z
        .array(
          z.object({
            space: z.string(),
            sequencer: z.string().nullable().describe('null: nobody at the moment'),
            changes: z.int().describe('of sequencer, since this server looks'),
            positions: z.array(
              z.object({ server: z.string(), position: z.int(), lag: z.int().describe('entries') }),
            ),
          }),
        )
        .describe('open at one of the servers, by name'),
      next: z.string().nullable().describe('give it as `after`; null: that is all'),
      store: z.object({
        address: z.string(),
        replicas: z.int().describe('servers of NATS that keep each entry'),
        storage: z.enum(['file', 'memory']),
        synced: z
          .boolean()
          .nullable()
          .describe('written to the disk before it is acknowledged; null: not known'),
        strict: z.boolean().describe('one machine that loses power loses nothing acknowledged'),
      }),
    }),
});

export const clusterDrain = operation({
  id: 'cluster.drain',
  name: 'cluster_drain',
  title: 'Drain this server',
  doc: 'Have this server hand over every space it sequences and take none, until it is undone or starts again. It keeps what no other server that is there may serve. Answers when it has nothing else, or after a while with how many are left: ask again. For the owner.',
  isAboutSpaces: true,
  access: 'owner',
  toolset: 'admin',
  hints: SETS,
  input: () =>
    z.strictObject({
      undo: z.boolean().default(false).describe('it takes spaces again'),
    }),
  output: () =>
    z.object({
      server: z.string(),
      draining: z.boolean(),
      left: z
        .int()
        .describe(
          'spaces it sequences, besides those it keeps; 0 while draining, with none kept: stopping it is not noticed',
        ),
      kept: z
        .array(z.string())
        .describe(
          'while draining: spaces that no other server that is there may serve. It goes on with them',
        ),
    }),
});
