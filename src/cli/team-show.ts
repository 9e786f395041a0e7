/** A team for a person: each agent with its role, how it is run, where it is and what it cost, and the plan. */
import type { CallOutput } from '../client/operations.ts';
import { PAGE_ROWS_MAX } from '../core/work/work-limits.ts';
import { ageText } from './message-text.ts';
import type { Member, Team } from './team-file.ts';
import { managedOf, type Talk } from './team-start.ts';
import { columns, neutralise } from './terminal.ts';
import { billText } from './turn-text.ts';

type Instance = CallOutput<'agents.instances'>['instances'][number];
type Task = CallOutput<'plan.board'>['tasks'][number];
type Managed = CallOutput<'agents.managed'>['agents'][number];

export interface TeamView {
  readonly team: string;
  readonly agents: readonly MemberView[];
  readonly plan: readonly {
    readonly task_id: string;
    readonly status: string;
    readonly title: string;
  }[];
}

export interface MemberView {
  readonly agent_id: string;
  readonly roles: readonly string[];
  /** `off` when it was not started. */
  readonly state: string;
  readonly since: number | null;
  readonly runner: string;
  readonly turns: number | null;
  readonly cost: Managed['cost'] | null;
  readonly reason: string | null;
}

export async function readTeamView(talk: Talk, team: Team): Promise<TeamView> {
  const managed = new Map((await managedOf(talk, team)).map((one) => [one.agent_id, one]));
  const agents: MemberView[] = [];
  for (const member of team.agents) {
    const { name: agent_id, program } = member;
    if (program === null) agents.push(managedView(member, managed.get(agent_id)));
    else {
      const { instances } = await talk.call('agents.instances', { agent_id, all: true, limit: 1 });
      agents.push(instanceView(member, instances[0]));
    }
  }
  const tasks = await tasksOf(talk, team);
  const plan = team.plan.map(({ id, title }) => {
    const task = tasks.get(id);
    return { task_id: id, status: task?.status ?? 'not there', title: task?.title ?? title };
  });
  return { team: team.name, agents, plan };
}

function managedView({ name, roles, runner }: Member, managed: Managed | undefined): MemberView {
  const kind = typeof runner === 'string' ? runner : (runner?.kind ?? '');
  return {
    ...{ agent_id: name, roles, state: managed?.state ?? 'off', since: managed?.since ?? null },
    ...{ runner: kind, turns: managed?.turns ?? null, cost: managed?.cost ?? null },
    reason: managed?.reason ?? null,
  };
}

function instanceView(
  { name, roles, program }: Member,
  instance: Instance | undefined,
): MemberView {
  return {
    ...{ agent_id: name, roles, runner: program?.command[0] ?? '', turns: null, cost: null },
    ...{ state: instance?.state ?? 'off', since: instance?.since ?? null },
    reason: instance?.reason ?? null,
  };
}

async function tasksOf({ call }: Talk, { name, plan }: Team): Promise<Map<string, Task>> {
  const found = new Map<string, Task>();
  let after: string | undefined;
  while (plan.length > 0) {
    const page = await call('plan.board', { project: name, after, limit: PAGE_ROWS_MAX });
    for (const task of page.tasks) found.set(task.task_id, task);
    if (page.next === null) break;
    after = page.next;
  }
  return found;
}

export function teamLines({ team, agents, plan }: TeamView): string[] {
  const rows = agents.map((one) => [
    ...[one.agent_id, one.roles.join(', ') || '-', one.runner],
    one.since === null ? one.state : `${one.state} for ${ageText(Date.now() / 1000 - one.since)}`,
    one.turns === null ? '-' : `${one.turns} turn${one.turns === 1 ? '' : 's'}`,
    one.cost === null ? '-' : billText(one.cost),
    one.reason ?? '',
  ]);
  const tasks = plan.map(({ task_id: id, status, title }) => [id, status, title]);
  return [
    neutralise(`${team}:`),
    ...columns(rows).map((line) => `  ${line}`),
    ...(tasks.length > 0 ? ['plan:', ...columns(tasks).map((line) => `  ${line}`)] : []),
  ];
}
