/** Which servers a cluster has: invited with a token, listed, taken out again. For the owner. */
import { z } from 'zod';
import { ADDS, operation, READS, REMOVES } from '../operation.ts';
import { seconds, spaceName } from '../schemas.ts';
import { shape } from '../shape.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const SPACES_OF_ONE_MAX = 64;

const serverName = shape(() => z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/));
const scope = shape(() => z.array(z.string()).nullable().describe('null: all'));
const revoked = shape(() => z.object({ by: z.string(), at: seconds() }).nullable());
const invitation = shape(() =>
  z.object({
    token_id: z.string(),
    name: z.string().nullable().describe('null: any that is free'),
    spaces: scope(),
    invited_by: z.string(),
    expires_at: seconds().describe('by the clock of NATS'),
  }),
);

export const clusterInvite = operation({
  id: 'cluster.invite',
  name: 'cluster_invite',
  title: 'Invite a server',
  doc: 'Make a join token for one more server of this cluster: good once, for a time, for a name and for spaces or for any. It is shown once; no secret of it is stored. For the owner.',
  isAboutSpaces: true,
  access: 'owner',
  toolset: 'admin',
  hints: ADDS,
  input: () =>
    z.strictObject({
      name: serverName().nullish().describe('the server that may use it'),
      spaces: z
        .array(spaceName())
        .min(1)
        .max(SPACES_OF_ONE_MAX)
        .nullish()
        .describe('it serves these alone, and may neither invite nor revoke'),
      ttl_ms: z
        .int()
        .min(1_000)
        .max(30 * DAY_MS)
        .default(DAY_MS),
    }),
  output: () =>
    z.object({
      token: z.string().describe('for synod join'),
      ...invitation().shape,
      nats_user: z.string().describe('for the configuration of NATS, where it knows its users'),
    }),
});

export const clusterServers = operation({
  id: 'cluster.servers',
  name: 'cluster_servers',
  title: 'List the servers of the cluster',
  doc: 'The registry of this cluster: its servers, who invited each, what each serves, and the join tokens that are open. For the owner.',
  isAboutSpaces: true,
  access: 'owner',
  toolset: 'admin',
  hints: READS,
  input: () => z.strictObject({}),
  output: () =>
    z.object({
      cluster: z.string(),
      servers: z.array(
        z.object({
          name: z.string(),
          key: z.string(),
          spaces: scope(),
          joined_by: z.string().nullable().describe('null: it founded the cluster'),
          joined_at: seconds(),
          revoked: revoked(),
        }),
      ),
      tokens: z.array(invitation()).describe('neither used nor taken back'),
      dropped: z.int().describe('messages that no server vouched for, since this one started'),
    }),
});

export const clusterRevoke = operation({
  id: 'cluster.revoke',
  name: 'cluster_revoke',
  title: 'Take a server or a join token out',
  doc: 'A server is heard no more by the others and serves nothing from now on; a token lets nobody in. Take the user of a server out of the configuration of NATS too. For the owner.',
  isAboutSpaces: true,
  access: 'owner',
  toolset: 'admin',
  hints: REMOVES,
  input: () =>
    z.strictObject({
      name: z.string().min(1).max(64).describe('of a server, or the id of a token'),
    }),
  output: () => z.object({ revoked: z.enum(['server', 'token']), name: z.string() }),
});

export const clusterPermissions = operation({
  id: 'cluster.permissions',
  name: 'cluster_permissions',
  title: 'What a server needs at NATS',
  doc: 'The user of a server for the configuration of NATS, with the subjects that it needs and no others. For the owner.',
  isAboutSpaces: true,
  access: 'owner',
  toolset: 'admin',
  hints: READS,
  input: () =>
    z.strictObject({
      name: z.string().min(1).max(64).describe('of a server, or the id of a token'),
    }),
  output: () => z.object({ nats_user: z.string() }),
});
