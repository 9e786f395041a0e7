/**
 * `synod team FILE`: a named team from one file, started, shown and stopped. The hub runs its agents from then
 * on; programs that stay are hosted here, and the command with them, until Ctrl-C [TE5].
 */
import type { Command } from 'commander';
import { type Context, handle } from './context.ts';
import { TROUBLE_EXIT } from './failure.ts';
import { type Hosting, hostAll, hostProgram } from './host-program.ts';
import { readTeam, type Team } from './team-file.ts';
import { readTeamView, teamLines } from './team-show.ts';
import { startTeam, stopTeam } from './team-start.ts';
import { neutralise } from './terminal.ts';

interface StartFlags {
  readonly check?: boolean;
}

export function registerTeam(program: Command): void {
  const team = program
    .command('team')
    .usage('[command] FILE')
    .description('a named team of agents, from one file; without a command it is started');
  const start = team
    .command('start', { isDefault: true })
    .description('start it, and show it; programs that stay are hosted until Ctrl-C')
    .argument('<file>', 'YAML: agents, runners, roles, channels, plan')
    .option('--check', 'only look whether it could be started; nothing is changed');
  handle<StartFlags>(start, async (context) => {
    const found = readTeam(context.args[0] ?? '');
    if (context.flags.check === true) {
      const count = found.agents.length;
      const said = `${found.name}: ${count} agent${count === 1 ? '' : 's'}, nothing wrong with the file`;
      return context.say({ team: found.name, agents: count }, said);
    }
    await startTeam(context, found);
    await show(context, found);
    await host(context, found);
  });
  const shown = team
    .command('show')
    .description('each agent with its role, state and cost, and the plan')
    .argument('<file>');
  handle(shown, async (context) => show(context, readTeam(context.args[0] ?? '')));
  const stop = team
    .command('stop')
    .description('end its turns and instances; what was said, and the plan, stays')
    .argument('<file>');
  handle(stop, async (context) => {
    const found = readTeam(context.args[0] ?? '');
    const stopped = await stopTeam(context, found);
    const names = stopped.join(', ');
    const said = names === '' ? `nobody of ${found.name} was running` : `stopped: ${names}`;
    context.say({ team: found.name, stopped }, said);
  });
}

async function show(context: Context<object>, team: Team): Promise<void> {
  const view = await readTeamView(context, team);
  context.show(view, () => teamLines(view));
}

async function host(context: Context<object>, team: Team): Promise<void> {
  const programs = team.agents.flatMap(({ name, program }) =>
    program === null ? [] : [{ name, program }],
  );
  if (programs.length === 0) return;
  context.remark('hosting its programs; Ctrl-C ends them');
  const hostings: Hosting[] = [];
  for (const { name: agent, program } of programs) {
    const { command, cwd = '.', env, pass_env: passEnv, ready, restart } = program;
    hostings.push(
      await hostProgram(context, {
        ...{ agent, command, cwd },
        ...(env !== undefined && { env }),
        ...(passEnv !== undefined && { passEnv }),
        ...(ready !== undefined && { ready }),
        ...(restart !== undefined && { restart }),
      }),
    );
  }
  for (const { ready } of hostings) ready.catch(() => {});
  if (await hostAll(hostings)) return;
  context.remark(neutralise(`not all programs of ${team.name} ended well`));
  process.exitCode = TROUBLE_EXIT;
}
