/** `synod cluster invite|servers|revoke|permissions`: which servers a cluster has, and who comes in. */
import type { Command } from 'commander';
import { handle } from './context.ts';
import { clockTime } from './message-text.ts';
import { duration } from './parse-value.ts';
import { columns, neutralise } from './terminal.ts';

export function registerServers(cluster: Command): void {
  const invite = cluster
    .command('invite')
    .description('make a join token for one more server; it is shown this once')
    .argument('[name]', 'the server that may use it (any)')
    .option('--spaces <list>', 'it serves these alone: a,b,c (all)')
    .option(...duration('--ttl <time>', 'how long it is good: 10m, 12h, 7d (1d)'));
  handle<{ spaces?: string; ttl?: number }>(invite, async ({ args, flags, call, show, remark }) => {
    const [name] = args;
    const spaces = flags.spaces?.split(',').map((one) => one.trim());
    const answer = await call('cluster.invite', { name, spaces, ttl_ms: flags.ttl });
    const who = answer.name === null ? 'a server' : `the server ${answer.name}`;
    const serves = answer.spaces === null ? 'all spaces' : answer.spaces.join(', ');
    remark(
      `token ${answer.token_id} lets ${who} in, for ${serves}, until ${clockTime(answer.expires_at)}; it is not shown again`,
    );
    remark(`there: synod join TOKEN. Where NATS knows its users, add this one to them first:`);
    for (const line of answer.nats_user.split('\n')) remark(`  ${line}`);
    show(answer, () => [answer.token]);
  });

  const servers = cluster.command('servers').description('the registry: servers and open tokens');
  handle(servers, async ({ call, show, colours }) => {
    const answer = await call('cluster.servers', {});
    show(answer, () => {
      const rows = answer.servers.map((one) => [
        one.name,
        one.revoked === null ? 'in' : `OUT since ${clockTime(one.revoked.at)} by ${one.revoked.by}`,
        one.spaces?.join(' ') ?? 'all spaces',
        one.joined_by === null ? 'founded it' : `invited by ${one.joined_by}`,
        clockTime(one.joined_at),
      ]);
      const tokens = answer.tokens.map((one) => [
        `token ${one.token_id}`,
        one.name === null ? 'for any server' : `for ${one.name}`,
        one.spaces?.join(' ') ?? 'all spaces',
        `invited by ${one.invited_by}`,
        `until ${clockTime(one.expires_at)}`,
      ]);
      const lines = [colours.dim(`cluster ${answer.cluster}`), ...columns([...rows, ...tokens])];
      if (answer.dropped > 0)
        lines.push(`${answer.dropped} messages that no server vouched for were dropped here`);
      return lines;
    });
  });

  const revoke = cluster
    .command('revoke')
    .description('take a server out, or a token back')
    .argument('<name>', 'of a server, or the id of a token');
  handle(revoke, async ({ args, call, say, remark }) => {
    const [name = ''] = args;
    const answer = await call('cluster.revoke', { name });
    say(answer, `${answer.revoked} ${name} is out`);
    if (answer.revoked === 'server') {
      remark(
        `take the user of ${neutralise(name)} out of the configuration of NATS too: until then whoever has its key can write to the streams`,
      );
    }
  });

  const permissions = cluster
    .command('permissions')
    .description('the user of a server for the configuration of NATS')
    .argument('<name>', 'of a server, or the id of a token');
  handle(permissions, async ({ args, call, show }) => {
    const [name = ''] = args;
    const answer = await call('cluster.permissions', { name });
    show(answer, () => answer.nats_user.split('\n'));
  });
}
