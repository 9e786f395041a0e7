/** Full text search over what the caller may read. */
import { z } from 'zod';
import { operation, READS } from '../operation.ts';
import { channelName, messageEnvelope, seconds } from '../schemas.ts';

export const SEARCH_ROWS_MAX = 100;

export const searchMessages = operation({
  id: 'search.messages',
  name: 'search',
  title: 'Search messages',
  doc: 'Find messages you may read by their words, the newest first: words, "phrases", beginnings*, -without, from:NAME, in:CHANNEL.',
  access: 'reader',
  toolset: 'more',
  hints: READS,
  input: () =>
    z.strictObject({
      query: z.string(),
      channel: channelName().optional().describe('as in:CHANNEL'),
      author: z.string().min(1).max(256).optional().describe('as from:NAME'),
      since: seconds().optional().describe('sent then or later'),
      until: seconds().optional().describe('sent before then'),
      after: z.string().max(32).optional().describe('`next` of the page before'),
      limit: z.int().min(1).max(SEARCH_ROWS_MAX).default(20),
    }),
  output: () =>
    z.object({
      messages: z.array(
        messageEnvelope().extend({
          excerpt: z.string().describe('the part in which something was found; text, never markup'),
          found: z
            .array(z.array(z.int()))
            .describe('where in the excerpt: [from, to] in UTF-16 units'),
        }),
      ),
      next: z.string().nullable().describe('give it as `after` for the next page'),
      complete: z.boolean().describe('false while the index is still built from the log'),
    }),
});
