/**
 * `synod agents define | undefine | run | start | stop | instances | find`: agents as processes. `run` hosts a
 * program as an instance until Ctrl-C; `start` leaves an instance waiting for a host somewhere else.
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CallOutput } from '../client/operations.ts';
import { collect, handle } from './context.ts';
import { fail, TROUBLE_EXIT } from './failure.ts';
import { hostAll, hostProgram } from './host-program.ts';
import { readLimits } from './managed-input.ts';
import { ageText } from './message-text.ts';
import { addPageFlags, type PageFlags, whole } from './parse-value.ts';

export function registerInstances(agents: Command): void {
  registerDefine(agents);
  registerRun(agents);
  registerStartStop(agents);
  registerLists(agents);
}

interface DefineFlags {
  readonly can?: readonly string[];
  readonly max?: number;
  readonly singleton?: boolean;
  readonly limit?: readonly string[];
}

function registerDefine(agents: Command): void {
  const define = agents
    .command('define')
    .description('say how often an agent may be there as a process, and within which limits')
    .argument('<agent>')
    .option('--can <capability>', 'what it can do; may be repeated', collect)
    .option(...whole('--max <n>', 'so many instances at once (1)'))
    .option('--singleton', 'one for ever: only undefine takes that back')
    .option('--limit <limit>', 'memory_mb, cpu, files or wall: name=number; repeatable', collect);
  handle<DefineFlags>(define, async ({ args, flags, call, say }) => {
    const [agent_id = ''] = args;
    const answer = await call('agents.define', {
      ...{ agent_id, capabilities: [...(flags.can ?? [])], limits: readLimits(flags.limit) },
      ...(flags.max !== undefined && { max_instances: flags.max }),
      singleton: flags.singleton === true,
    });
    const times = answer.max_instances ?? 1;
    say(answer, `${agent_id} may be there ${times === 1 ? 'once' : `${times} times`}`);
  });
  const undefine = agents
    .command('undefine')
    .description('forget how an agent is run as a process; its instances must be over')
    .argument('<agent>');
  handle(undefine, async ({ args, call, say }) => {
    const [agent_id = ''] = args;
    say(await call('agents.undefine', { agent_id }), `${agent_id} is defined no more`);
  });
}

interface RunFlags {
  readonly ready?: string;
  readonly restart?: string;
  readonly cwd?: string;
  readonly passEnv?: readonly string[];
}

const RESTARTS = ['always', 'on-failure', 'never'] as const;

function registerRun(agents: Command): void {
  const run = agents
    .command('run')
    .description('host a program as an instance of a defined agent, until Ctrl-C')
    .argument('<agent>')
    .argument('<command...>', 'behind --, as you would type it')
    .option('--ready <pattern>', 'the line that says it is ready; else when it runs')
    .option('--restart <when>', 'always, on-failure (unless said) or never')
    .option('--cwd <dir>', 'where it works; else here')
    .option('--pass-env <name>', 'a variable it is given too; may be repeated', collect);
  handle<RunFlags>(run, async (context) => {
    const { args, flags } = context;
    const [agent = '', ...command] = args;
    const restart = RESTARTS.find((one) => one === flags.restart);
    if (flags.restart !== undefined && restart === undefined) {
      throw fail('cli.usage', `--restart is ${RESTARTS.join(', ')}; found ${flags.restart}`);
    }
    const hosting = await hostProgram(context, {
      ...{ agent, command, cwd: resolve(flags.cwd ?? '.') },
      ...(flags.ready !== undefined && { ready: flags.ready }),
      ...(restart !== undefined && { restart }),
      ...(flags.passEnv !== undefined && { passEnv: flags.passEnv }),
    });
    hosting.ready.catch(() => {});
    if (!(await hostAll([hosting]))) process.exitCode = TROUBLE_EXIT;
  });
}

interface StopFlags {
  readonly reason?: string;
}

function registerStartStop(agents: Command): void {
  const start = agents
    .command('start')
    .description('start an instance that waits for a host to take it')
    .argument('<agent>');
  handle(start, async ({ args, call, say }) => {
    const [agent_id = ''] = args;
    const instance = await call('agents.start', { agent_id });
    say(instance, `${instance.instance_id} of ${agent_id} waits for a host`);
  });
  const stop = agents
    .command('stop')
    .description('stop an instance, or all of an agent; its host ends the process')
    .argument('<agent-or-instance>', 'i7 is an instance')
    .option('--reason <text>', 'why, for the record');
  handle<StopFlags>(stop, async ({ args, flags, call, show }) => {
    const [which = ''] = args;
    const id = /^i\d+$/.test(which) ? { instance_id: which } : { agent_id: which };
    const answer = await call('agents.stop', { ...id, reason: flags.reason });
    const { stopped } = answer;
    show(answer, () => [stopped.length === 0 ? 'nothing ran' : `stopped: ${stopped.join(', ')}`]);
  });
}

interface InstanceFlags extends PageFlags {
  readonly state?: string;
  readonly all?: boolean;
}

interface FindFlags extends PageFlags {
  readonly up?: boolean;
}

type Instance = CallOutput<'agents.instances'>['instances'][number];

function registerLists(agents: Command): void {
  const instances = addPageFlags(
    agents
      .command('instances')
      .description('instances, the newest first: state, host, usage, why they failed')
      .argument('[agent]')
      .option('--state <state>', 'starting, running, idle, stopping, stopped, failed, given_up')
      .option('--all', 'also those that are over'),
  );
  handle<InstanceFlags>(instances, async ({ args, flags, call, table }) => {
    const [agent_id] = args;
    const { state, limit, after, all = false } = flags;
    const isAll = all || state === 'stopped' || state === 'given_up';
    const answer = await call('agents.instances', { agent_id, state, all: isAll, limit, after });
    table(answer, answer.instances.map(instanceRow), 'no instances');
  });
  const find = addPageFlags(
    agents
      .command('find')
      .description('agents by what they can do, from definitions and cards')
      .argument('[capability]')
      .option('--up', 'only those that are there'),
  );
  handle<FindFlags>(find, async ({ args, flags, call, table }) => {
    const [capability] = args;
    const { limit, after, up = false } = flags;
    const answer = await call('agents.find', { capability, up, limit, after });
    const rows = answer.agents.map((one) => [
      ...[one.agent_id, one.state ?? 'not defined', one.capabilities.join(', ') || '-'],
      one.max_instances === null ? '-' : `${one.instances} of ${one.max_instances} there`,
    ]);
    table(answer, rows, 'nobody');
  });
}

function instanceRow(one: Instance): string[] {
  const { usage } = one;
  return [
    ...[one.instance_id, one.agent_id],
    `${one.state} for ${ageText(Date.now() / 1000 - one.since)}`,
    one.host ?? one.held_by ?? 'no host',
    one.pid === null ? '-' : `process ${one.pid}`,
    usage === null ? '-' : `${usage.memory_mb} MB, ${usage.cpu_seconds} s, ${usage.files} files`,
    [one.reason, ...one.lines.slice(-1)].filter((text) => text !== null).join(': '),
  ];
}
