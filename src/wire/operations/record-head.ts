/** The record: what the log's chain comes to, and what vouches for it. */
import { z } from 'zod';
import { operation, READS } from '../operation.ts';
import { seconds } from '../schemas.ts';
import { shape } from '../shape.ts';

const signedHead = shape(() => ({
  position: z.int().describe('how many entries the log had'),
  head: z.string().describe('the chain head there'),
  at: seconds(),
  key: z.string().describe('`ed25519:` and the public key, base64url'),
}));

export const recordHead = operation({
  id: 'record.head',
  name: 'record_head',
  title: 'The head of the record',
  doc: 'How long the log of this space is, its chain head, the head signed last, the last anchor known, and what the last walk over the whole chain found.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () => z.strictObject({}),
  output: () =>
    z.object({
      length: z.int(),
      head: z.string(),
      signed: z
        .object(signedHead())
        .nullable()
        .describe('null: nothing is signed yet, or no key is had'),
      anchor: z
        .object({ ...signedHead(), way: z.string() })
        .nullable()
        .describe(
          'as noted beside the log by `synod log anchor`; the anchor itself lies elsewhere',
        ),
      verified: z
        .object({
          ok: z.boolean(),
          through: z.int().describe('how many entries are sound'),
          at: seconds(),
          reason: z.string().nullable().describe('what is wrong behind them'),
        })
        .nullable()
        .describe('null: the chain was not walked yet'),
    }),
});
