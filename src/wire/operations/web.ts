/** The window: how a person comes in by a link, and whose sessions there are. */
import { z } from 'zod';
import { ADDS, operation, READS, REMOVES } from '../operation.ts';
import { agentId, seconds } from '../schemas.ts';

const sessionView = z.object({
  session_id: z.string(),
  name: z.string().describe('the person it speaks as'),
  device: z.string().nullable().describe('what the browser said it is'),
  created_at: seconds,
  expires_at: seconds,
});

export const webLink = operation({
  id: 'web.link',
  name: 'web_link',
  title: 'A link into the window',
  doc: 'An address that opens the page for a person in one browser: good once, and for one minute. For the owner.',
  access: 'owner',
  toolset: 'admin',
  hints: ADDS,
  input: z.strictObject({
    name: agentId
      .optional()
      .describe('who sits there; omitted: the one person of the space, or the owner'),
  }),
  output: z.object({ url: z.string(), name: z.string(), expires_at: seconds }),
});

export const webSessions = operation({
  id: 'web.sessions',
  name: 'web_sessions',
  title: 'List sessions of the window',
  doc: 'Browsers that came in by a link and may still look in, newest first. For the owner.',
  access: 'owner',
  toolset: 'admin',
  hints: READS,
  input: z.strictObject({}),
  output: z.object({ sessions: z.array(sessionView) }),
});

export const webRevoke = operation({
  id: 'web.revoke',
  name: 'web_revoke',
  title: 'End a session of the window',
  doc: 'That browser is out at once, with every connection it has open. For the owner.',
  access: 'owner',
  toolset: 'admin',
  hints: REMOVES,
  input: z.strictObject({ session_id: z.string().min(1).max(64) }),
  output: z.object({
    session_id: z.string(),
    revoked: z.boolean().describe('false: it was over before'),
  }),
});
