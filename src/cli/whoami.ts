/**
 * `synod whoami`: who the hub takes you for, how that came about (flag, environment, credential, git,
 * default), and a warning for everything about it that looks accidental [CL12].
 */
import type { Command } from 'commander';
import { SynodError } from '../client/error.ts';
import { callHub } from '../client/node/call.ts';
import { defaultAgent, type Target } from '../client/node/target.ts';
import { type IdentityWarning, resolveIdentity } from '../place/identity.ts';
import { readRepository } from '../place/repository.ts';
import { type Context, handle } from './context.ts';
import { columns, neutralise } from './terminal.ts';

export function registerWhoami(program: Command): void {
  const command = program
    .command('whoami')
    .description('who you are here, how that came about, and whether it looks accidental');
  handle(command, whoami);
}

async function whoami(context: Context<object>): Promise<void> {
  const { flags, target, show } = context;
  const { agent, url } = target();
  const credentialAgent = await readCredentialAgent(context);
  const identity = resolveIdentity({
    asFlag: flags.as,
    env: process.env,
    credentialAgent,
    repository: await readRepository(process.cwd()),
    defaultAgent: defaultAgent(),
  });
  // A name that the credential contradicts opens nothing; we still want to say who it would open.
  const asked = credentialAgent === null ? agent : null;
  const hub = await callHub({ ...target(), agent: asked }, 'hub.whoami', {});
  const document = {
    ...hub,
    project: identity.project,
    hub: url.origin,
    credential: credentialText(credentialAgent, target()),
    parts: identity.parts,
    warnings: identity.warnings,
  };
  show(document, () => [
    ...columns([
      ['agent', String(hub.agent_id)],
      ['kind', `${hub.kind}, ${hub.tier}`],
      ['space', String(hub.space)],
      ['hub', url.origin],
      ['credential', document.credential],
      ...identity.parts.map(({ part, value, from }) => [`${part} from`, `${from}: ${value}`]),
      ['owed from', (hub.subscriptions as string[]).join(' ') || '-'],
    ]),
    ...identity.warnings.map(warningLine),
  ]);
}

/** The agent a token was made for. The owner's credential is nobody's in particular. */
async function readCredentialAgent({ flags, target }: Context<object>): Promise<string | null> {
  const isShown = flags.token !== undefined || Boolean(process.env.SYNOD_TOKEN);
  if (!isShown) return null;
  try {
    const answer = await callHub({ ...target(), agent: null }, 'hub.whoami', {});
    return answer.tier === 'owner' ? null : answer.agent_id;
  } catch (error) {
    if (error instanceof SynodError && error.code === 'access.unknown') return null;
    throw error;
  }
}

function credentialText(agent: string | null, { token, socketPath }: Target): string {
  if (agent !== null) return `a token of ${agent}`;
  if (token !== null) return 'the owner’s';
  return socketPath === null ? 'none' : 'none needed: the socket of the owner';
}

function warningLine({ message, remedy }: IdentityWarning): string {
  return neutralise(`warning: ${message}; ${remedy}`);
}
