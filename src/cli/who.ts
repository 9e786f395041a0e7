/** `synod who`: who is here, what they do, since when, and how the hub knows. */
import type { Command } from 'commander';
import { collect, given, handle } from './context.ts';
import { ageText } from './message-text.ts';
import { addPageFlags, type PageFlags, pageOf, remarkMore } from './paging.ts';
import { columns } from './terminal.ts';

interface WhoFlags extends PageFlags {
  readonly state?: readonly string[];
  readonly project?: string;
}

interface Row {
  readonly agent_id: string;
  readonly roles: readonly string[];
  readonly state: string;
  readonly since: number | null;
  readonly note: string | null;
  readonly evidence: {
    readonly connections: number;
    readonly last_heartbeat: number | null;
    readonly last_call: number | null;
    readonly last_operation: string | null;
    readonly process: number | null;
  };
  readonly claims: number;
  readonly owed: number;
}

export function registerWho(program: Command): void {
  const command = addPageFlags(
    program
      .command('who')
      .description('who is here, what they do, and how the hub knows')
      .option(
        '--state <state>',
        'connected, idle, busy, blocked, stale or gone; may be repeated',
        collect,
      )
      .option('--project <name>', 'only agents named <project>/…'),
  );
  handle<WhoFlags>(command, async ({ flags, call, show, remark }) => {
    const { state, project } = flags;
    const answer = await call('presence_list', given({ state, project, ...pageOf(flags) }));
    const agents = answer.agents as Row[];
    show(answer, () => columns(agents.map(rowOf)));
    if (agents.length === 0) remark('nobody');
    remarkMore(answer.next, remark);
  });
}

function rowOf(agent: Row): string[] {
  const { agent_id: name, state, since, claims, owed } = agent;
  const held = [claims > 0 ? `${claims} claims` : '', owed > 0 ? `${owed} unread` : ''];
  return [
    name,
    since === null ? state : `${state} for ${sinceText(since)}`,
    held.filter(Boolean).join(', ') || '-',
    evidenceText(agent),
  ];
}

function evidenceText({ evidence, note, roles }: Row): string {
  const {
    connections,
    last_heartbeat: beat,
    last_call: call,
    last_operation: operation,
  } = evidence;
  const facts = [
    connections > 0 ? `${connections} connections` : '',
    beat === null ? '' : `heartbeat ${sinceText(beat)} ago`,
    call === null ? '' : `${operation ?? 'a call'} ${sinceText(call)} ago`,
    evidence.process === null ? '' : `process ${evidence.process}`,
    roles.length === 0 ? '' : `roles ${roles.join(' ')}`,
  ].filter(Boolean);
  const known = facts.join(', ') || 'no sign of life';
  return note ? `${known}; "${note}"` : known;
}

function sinceText(seconds: number): string {
  return ageText(Date.now() / 1000 - seconds);
}
