/** `synod token …`: credentials for agents that are not this user on this machine. Shown once, stored hashed. */
import type { Command } from 'commander';
import type { CallOutput } from '../client/operations.ts';
import { type Context, collect, handle } from './context.ts';
import { clockTime } from './message-text.ts';
import { seconds } from './parse-value.ts';
import { neutralise } from './terminal.ts';

interface CreateFlags {
  readonly kind?: string;
  readonly tier?: string;
  readonly label?: string;
  readonly role?: readonly string[];
  readonly ttl?: number;
}

const TTL = seconds('--ttl <time>', 'seconds, or 12h, 30d: then it ends');

export function registerToken(program: Command): void {
  const token = program
    .command('token')
    .description('credentials of agents on other machines or accounts');
  const create = token
    .command('create')
    .description('make one; it is shown this once')
    .argument('<agent>')
    .option('--kind <kind>', 'agent, human, observer or admin')
    .option('--tier <tier>', 'owner, trusted, standard or untrusted')
    .option('--label <text>', 'for your own memory')
    .option('--role <role>', 'it may be told as role:<role>; may be repeated', collect)
    .option(...TTL);
  handle<CreateFlags>(create, async (context) => {
    const [agent_id = ''] = context.args;
    const { kind, tier, label, role: roles, ttl } = context.flags;
    const input = { agent_id, kind, tier, label, roles, ttl: wholeSeconds(ttl) };
    showSecret(context, await context.call('tokens.create', input));
  });
  const list = token.command('list').description('all of this space, without their secrets');
  handle(list, async ({ call, table }) => {
    const answer = await call('tokens.list', {});
    const rows = answer.tokens.map((one) => [
      one.token_id,
      one.agent_id,
      one.kind,
      one.tier,
      endOf(one),
      one.roles.join(' '),
      one.label ?? '',
    ]);
    table(answer, rows, 'no tokens');
  });
  const rotate = token
    .command('rotate')
    .description('give it a new secret; the old one ends at once')
    .argument('<token-id>')
    .option(...TTL);
  handle<{ ttl?: number }>(rotate, async (context) => {
    const [token_id = ''] = context.args;
    const input = { token_id, ttl: wholeSeconds(context.flags.ttl) };
    showSecret(context, await context.call('tokens.rotate', input));
  });
  const revoke = token.command('revoke').description('end it for good').argument('<token-id>');
  handle(revoke, async ({ args, call, say }) => {
    const [token_id = ''] = args;
    const answer = await call('tokens.revoke', { token_id });
    say(answer, answer.revoked ? `revoked ${token_id}` : `${token_id} was revoked before`);
  });
}

/** The secret alone on stdout, so that a script can take it; the rest is for the person. */
function showSecret(
  { show, remark }: Context<object>,
  answer: CallOutput<'tokens.create' | 'tokens.rotate'>,
): void {
  const { token_id: id, agent_id: agent, token } = answer;
  remark(`token ${id} for ${neutralise(agent)}; it is not shown again`);
  show(answer, () => [token]);
}

function wholeSeconds(ttl: number | undefined): number | undefined {
  return ttl === undefined ? undefined : Math.ceil(ttl);
}

function endOf(token: CallOutput<'tokens.list'>['tokens'][number]): string {
  if (token.revoked_at !== null) return `revoked ${clockTime(token.revoked_at)}`;
  return token.expires_at === null ? 'no end' : `until ${clockTime(token.expires_at)}`;
}
