/** `synod join TOKEN`: this data directory becomes a server of a cluster. It speaks to NATS, and needs no hub. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { dataDirectory, type Globals } from '../client/node/target.ts';
import { handle } from './context.ts';

interface JoinFlags extends Globals {
  readonly serverName?: string;
  readonly store?: string;
  readonly ca?: string;
}

export function registerJoin(program: Command): void {
  const command = program
    .command('join')
    .description(
      'make this data directory a server of a cluster, with a token of "synod cluster invite"',
    )
    .argument('<token>')
    .option('--server-name <name>', 'where the token is for any server')
    .option(
      '--store <url>',
      'another way to the store than the token says, with credentials of yours',
    )
    .option('--ca <file>', 'of the authority that signed the certificates of NATS');
  handle<JoinFlags>(command, async ({ args, flags, show }) => {
    const { joinCluster } = await import('../server/run/join-cluster.ts');
    const dir = dataDirectory(flags.dir, process.env);
    const joined = await joinCluster({
      ...{ token: args[0] ?? '', dir, name: flags.serverName ?? null, store: flags.store ?? null },
      ca: flags.ca === undefined ? null : resolve(flags.ca),
    });
    const { name, cluster, spaces, invitedBy: invited_by, config } = joined;
    show({ name, cluster, spaces, invited_by, config, dir }, () => [
      `this is the server ${name} now, for ${spaces?.join(', ') ?? 'all spaces'}, invited by ${invited_by}`,
      `start it: synod serve --dir ${dir}`,
    ]);
  });
}
