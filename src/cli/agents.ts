/**
 * `synod agents …`: who is known here, and which of them the hub runs by itself. `manage` says how an
 * agent is run, what wakes it and within which limits; from then on mail begins its turns. Agents as processes
 * are in `instances.ts`.
 */
import type { Command } from 'commander';
import { callHub } from '../client/node/call.ts';
import type { CallOutput } from '../client/operations.ts';
import { collect, handle } from './context.ts';
import { registerInstances } from './instances.ts';
import { type RunnerFlags, readLimits, readRunner } from './managed-input.ts';
import { ageText } from './message-text.ts';
import { addPageFlags, type PageFlags } from './parse-value.ts';
import { billText } from './turn-text.ts';

export function registerAgents(program: Command): void {
  const agents = program.command('agents').description('who is known here, and whom the hub runs');
  registerList(agents);
  registerInstances(agents);
  registerManage(agents);
  const unmanage = agents
    .command('unmanage')
    .description('leave an agent to itself; a turn that runs is ended')
    .argument('<agent>');
  handle(unmanage, async ({ args, call, say }) => {
    const [agent_id = ''] = args;
    say(await call('agents.unmanage', { agent_id }), `${agent_id} is managed no more`);
  });
}

interface ListFlags extends PageFlags {
  readonly status?: readonly string[];
  readonly managed?: boolean;
}

function registerList(agents: Command): void {
  const list = addPageFlags(
    agents
      .command('list', { isDefault: true })
      .description('agents and their presence, or those that the hub runs')
      .option('--status <state>', 'online, busy, stale or offline; may be repeated', collect)
      .option('--managed', 'only those that the hub runs: state, runner, turns and cost'),
  );
  handle<ListFlags>(list, async ({ flags, call, table }) => {
    if (flags.managed === true) {
      const { limit, after } = flags;
      const answer = await call('agents.managed', { limit, after });
      return table(answer, answer.agents.map(managedRow), 'the hub runs no agents');
    }
    const answer = await call('channels.list_agents', { status_filter: flags.status });
    // SOX counts in nanoseconds here, and 0 is never.
    const seen = (at: number) => (at === 0 ? 'never seen' : `${sinceText(at / 1e9)} ago`);
    table(
      answer,
      answer.agents.map((one) => [one.agent_id, one.presence_state, seen(one.last_heartbeat_at)]),
      'no agents yet',
    );
  });
}

type Managed = CallOutput<'agents.managed'>['agents'][number];

function managedRow(managed: Managed): string[] {
  const { agent_id: agent, state, since, runner, turns, cost, pending, reason } = managed;
  return [
    agent,
    `${state} for ${sinceText(since)}`,
    String(runner.name ?? runner.kind),
    `${turns} turn${turns === 1 ? '' : 's'}`,
    billText(cost),
    pending > 0 ? `${pending} waiting` : '-',
    reason ?? '',
  ];
}

function sinceText(at: number): string {
  return ageText(Date.now() / 1000 - at);
}

interface ManageFlags extends RunnerFlags {
  readonly subscribe?: readonly string[];
  readonly channel?: readonly string[];
  readonly from?: readonly string[];
  readonly kind?: readonly string[];
  readonly minTier?: string;
  readonly limit?: readonly string[];
  readonly tool?: readonly string[];
  readonly fresh?: boolean;
}

function registerManage(agents: Command): void {
  const manage = agents
    .command('manage')
    .description('have the hub run an agent: mail that its wake rule selects begins a turn')
    .argument('<agent>')
    .argument('[command...]', 'after --: a program that reads the mail as JSON on stdin')
    .option('--rule <rule>', '"pattern => answer", without a model; may be repeated', collect)
    .option('--claude', 'Claude Code')
    .option('--codex', 'Codex')
    .option('--acp', 'the program after -- speaks ACP, as Gemini CLI does')
    .option('--runner <name>', 'a runner of the configuration, a JSON file, or JSON')
    .option('--outside', 'a supervisor of yours takes the turns, with turns.take')
    .option('--cwd <dir>', 'where it works, inside an allowed root')
    .option('--sign-in <how>', 'subscription or api: what a turn is billed to')
    .option('--subscribe <pattern>', 'have it follow these channels; may be repeated', collect)
    .option('--channel <glob>', 'only mail on these channels wakes it; may be repeated', collect)
    .option('--from <glob>', 'only mail of these senders; may be repeated', collect)
    .option('--kind <kind>', 'only mail of agent, human or admin; may be repeated', collect)
    .option('--min-tier <tier>', 'only mail of senders trusted so far')
    .option('--limit <limit>', 'name=number or name=none; may be repeated', collect)
    .option('--tool <operation>', 'all that its turns may use; may be repeated', collect)
    .option('--fresh', 'each turn is a new conversation');
  handle<ManageFlags>(manage, async ({ args, flags, target, call, say }) => {
    const [agent_id = '', ...command] = args;
    const runner = readRunner(flags, command);
    // As the agent: what is sent from now on is owed to it, and the hub knows its name.
    for (const pattern of flags.subscribe ?? []) {
      await callHub({ ...target(), agent: agent_id }, 'channels.subscribe', { pattern });
    }
    const { channel: channels, from, kind: kinds, minTier: min_tier } = flags;
    const answer = await call('agents.manage', {
      agent_id,
      runner: runner as never,
      wake: { channels, from, kinds, min_tier },
      limits: readLimits(flags.limit),
      tools: flags.tool,
      session: flags.fresh === true ? 'fresh' : 'resume',
    });
    say(
      answer,
      `${agent_id} is run by ${answer.runner.kind}; see: synod turns list --agent ${agent_id}`,
    );
  });
}
