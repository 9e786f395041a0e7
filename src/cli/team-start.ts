/**
 * Starts a team that was read, and stops it. Starting twice is starting once [TE2]: channels are described, each
 * agent follows, has its roles and is run as the file says, and tasks are put on the plan. What the hub refuses
 * half-way is told, and agents that this start took up are left to themselves again. Stopping ends turns and
 * instances; what was said, and the plan, stays [TE4].
 */
import { callHub } from '../client/node/call.ts';
import type { CallInput, CallOutput } from '../client/operations.ts';
import { PAGE_ROWS_MAX } from '../core/work/work-limits.ts';
import type { Context } from './context.ts';
import type { Member, Team } from './team-file.ts';

export type Talk = Pick<Context<object>, 'call' | 'target'>;

export async function startTeam(talk: Talk, team: Team): Promise<void> {
  const { call } = talk;
  const before = new Set((await managedOf(talk, team)).map(({ agent_id: agent }) => agent));
  const taken: string[] = [];
  try {
    for (const member of team.agents) {
      await introduce(talk, member);
      await run(talk, member);
      if (member.runner !== null && !before.has(member.name)) taken.push(member.name);
    }
    // Only now: who follows a channel makes it.
    for (const [channel, description] of Object.entries(team.channels)) {
      await asPerson(talk, 'channels.describe', { channel, description, standing: true });
    }
    for (const { id: task_id, title, description, needs, owner } of team.plan) {
      await call('plan.declare', {
        ...{ task_id, title, depends_on: needs, suggested_owner: owner, project: team.name },
        // What it needs may stand below it in the file.
        ...{ description: description ?? '', allow_unknown: true },
      });
    }
  } catch (error) {
    for (const agent_id of taken) await call('agents.unmanage', { agent_id }).catch(() => {});
    throw error;
  }
}

/** As the agent: what is sent from now on is owed to it, and the hub knows its name. */
async function introduce({ call, target }: Talk, { name, follows, roles }: Member): Promise<void> {
  const self = { ...target(), agent: name };
  for (const pattern of follows) await callHub(self, 'channels.subscribe', { pattern });
  if (roles.length > 0) await call('agents.assign', { agent_id: name, roles: [...roles] });
}

async function run({ call }: Talk, member: Member): Promise<void> {
  const { name: agent_id, runner, program, wake, tools, limits, session } = member;
  if (program !== null) {
    const { can, singleton, limits: bounds } = program;
    await call('agents.define', {
      ...{ agent_id, capabilities: can ?? [], singleton: singleton ?? false },
      limits: { ...bounds },
    });
    return;
  }
  const input = { agent_id, runner, wake, tools, limits, session: session ?? 'resume' };
  await call('agents.manage', input as CallInput<'agents.manage'>);
}

function asPerson<Id extends 'channels.describe'>(
  { target }: Talk,
  id: Id,
  input: CallInput<Id>,
): Promise<CallOutput<Id>> {
  return callHub({ ...target(), isPerson: true }, id, input as never);
}

/** What became of each; names of those that stopped. */
export async function stopTeam(talk: Talk, team: Team): Promise<readonly string[]> {
  const { call } = talk;
  const managed = new Set((await managedOf(talk, team)).map(({ agent_id: agent }) => agent));
  const stopped: string[] = [];
  for (const { name: agent_id, program } of team.agents) {
    if (program === null) {
      if (!managed.has(agent_id)) continue;
      await call('agents.unmanage', { agent_id });
      stopped.push(agent_id);
      continue;
    }
    const { agents } = await call('agents.find', { agent_id });
    if (!agents.some(({ defined }) => defined)) continue;
    const { stopped: instances } = await call('agents.stop', {
      ...{ agent_id, reason: `the team ${team.name} was stopped` },
    });
    if (instances.length > 0) stopped.push(agent_id);
  }
  return stopped;
}

type Managed = CallOutput<'agents.managed'>['agents'][number];

/** Those of the team that the hub runs now. */
export async function managedOf({ call }: Talk, { agents }: Team): Promise<Managed[]> {
  const names = new Set(agents.map(({ name }) => name));
  const found: Managed[] = [];
  let after: string | undefined;
  do {
    const page = await call('agents.managed', { after, limit: PAGE_ROWS_MAX });
    found.push(...page.agents.filter(({ agent_id: agent }) => names.has(agent)));
    after = page.next ?? undefined;
  } while (after !== undefined);
  return found;
}
