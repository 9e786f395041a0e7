/** `synod token …`: credentials for agents that are not this user on this machine. Shown once, stored hashed. */
import type { Command } from 'commander';
import { type Context, given, handle } from './context.ts';
import { clockTime } from './message-text.ts';
import { parseDurationMs } from './parse-value.ts';
import { columns, neutralise } from './terminal.ts';

interface CreateFlags {
  readonly kind?: string;
  readonly tier?: string;
  readonly label?: string;
  readonly ttl?: string;
}

interface TokenView {
  readonly token_id: string;
  readonly agent_id: string;
  readonly kind: string;
  readonly tier: string;
  readonly label: string | null;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

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
    .option('--ttl <time>', 'seconds, or 12h, 30d: then it ends');
  handle<CreateFlags>(create, async (context) => {
    const { args, flags, call } = context;
    const { kind, tier, label } = flags;
    const input = given({ agent_id: args[0], kind, tier, label, ttl: ttlOf(flags.ttl) });
    showSecret(context, await call('tokens_create', input));
  });
  const list = token.command('list').description('all of this space, without their secrets');
  handle(list, async ({ call, show, remark }) => {
    const answer = await call('tokens_list', {});
    const tokens = answer.tokens as TokenView[];
    show(answer, () =>
      columns(
        tokens.map((one) => [
          one.token_id,
          one.agent_id,
          one.kind,
          one.tier,
          endOf(one),
          one.label ?? '',
        ]),
      ),
    );
    if (tokens.length === 0) remark('no tokens');
  });
  const rotate = token
    .command('rotate')
    .description('give it a new secret; the old one ends at once')
    .argument('<token-id>')
    .option('--ttl <time>', 'seconds, or 12h, 30d: then it ends');
  handle<{ ttl?: string }>(rotate, async (context) => {
    const { args, flags, call } = context;
    showSecret(
      context,
      await call('tokens_rotate', given({ token_id: args[0], ttl: ttlOf(flags.ttl) })),
    );
  });
  const revoke = token.command('revoke').description('end it for good').argument('<token-id>');
  handle(revoke, async ({ args, call, show }) => {
    const answer = await call('tokens_revoke', { token_id: args[0] });
    show(answer, () => [answer.revoked ? `revoked ${args[0]}` : `${args[0]} was revoked before`]);
  });
}

/** The secret alone on stdout, so that a script can take it; the rest is for the person. */
function showSecret(context: Context<object>, answer: Record<string, unknown>): void {
  const { show, remark } = context;
  const { token_id: id, agent_id: agent } = answer as unknown as TokenView;
  remark(`token ${id} for ${neutralise(agent)}; it is not shown again`);
  show(answer, () => [String(answer.token)]);
}

function ttlOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Math.ceil(parseDurationMs(text, '--ttl') / 1000);
}

function endOf(token: TokenView): string {
  if (token.revoked_at !== null) return `revoked ${clockTime(token.revoked_at)}`;
  return token.expires_at === null ? 'no end' : `until ${clockTime(token.expires_at)}`;
}
