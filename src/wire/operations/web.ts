/** The window: how a person comes in by a link, and whose sessions there are. */
import { z } from 'zod';
import { ADDS, operation, READS, REMOVES, SETS } from '../operation.ts';
import { agentId, seconds } from '../schemas.ts';
import { shape } from '../shape.ts';

const sessionView = shape(() =>
  z.object({
    session_id: z.string(),
    name: z.string().describe('the person it speaks as'),
    device: z.string().nullable().describe('what the browser said it is'),
    created_at: seconds(),
    expires_at: seconds(),
  }),
);

export const webLink = operation({
  id: 'web.link',
  name: 'web_link',
  title: 'A link into the window',
  doc: 'An address that opens the page for a person in one browser: good once, and for one minute. For the owner.',
  access: 'owner',
  toolset: 'admin',
  hints: ADDS,
  input: () =>
    z.strictObject({
      name: agentId()
        .optional()
        .describe('who sits there; omitted: the one person of the space, or the owner'),
    }),
  output: () => z.object({ url: z.string(), name: z.string(), expires_at: seconds() }),
});

export const webSessions = operation({
  id: 'web.sessions',
  name: 'web_sessions',
  title: 'List sessions of the window',
  doc: 'Browsers that came in by a link and may still look in, newest first. For the owner.',
  access: 'owner',
  toolset: 'admin',
  hints: READS,
  input: () => z.strictObject({}),
  output: () => z.object({ sessions: z.array(sessionView()) }),
});

export const webRevoke = operation({
  id: 'web.revoke',
  name: 'web_revoke',
  title: 'End a session of the window',
  doc: 'That browser is out at once, with every connection it has open. For the owner.',
  access: 'owner',
  toolset: 'admin',
  hints: REMOVES,
  input: () => z.strictObject({ session_id: z.string().min(1).max(64) }),
  output: () =>
    z.object({
      session_id: z.string(),
      revoked: z.boolean().describe('false: it was over before'),
    }),
});

export const webPhoneOpen = operation({
  id: 'web.phone_open',
  name: 'web_phone_open',
  title: 'Open the page for a phone',
  doc: 'Serve the page on one address of this machine over TLS, with a link for one device. It closes a minute after it was last asked for. For the owner.',
  access: 'owner',
  toolset: 'admin',
  hints: SETS,
  input: () =>
    z.strictObject({
      host: z.string().min(1).max(64).optional().describe('an address of this machine'),
      port: z
        .int()
        .min(1)
        .max(65_535)
        .optional()
        .describe('omitted: the hub’s, if it is free there'),
      name: agentId().optional().describe('who holds the phone; see web.link'),
      link: z.boolean().default(true).describe('false: only keep it open'),
    }),
  output: () =>
    z.object({
      url: z.string().nullable().describe('the link, good once and for one minute'),
      name: z.string().nullable(),
      origin: z.string(),
      fingerprint: z.string().describe('SHA-256 of the certificate, to compare on the phone'),
      open_until: seconds(),
    }),
});

export const webPhoneClose = operation({
  id: 'web.phone_close',
  name: 'web_phone_close',
  title: 'Close the page for a phone',
  doc: 'That address is closed at once, with every connection on it; the hub’s own doors stay. For the owner.',
  access: 'owner',
  toolset: 'admin',
  hints: REMOVES,
  input: () => z.strictObject({}),
  output: () => z.object({ closed: z.boolean().describe('false: it was not open') }),
});
