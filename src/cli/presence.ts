/** Who is here: `synod who` with what they do and how the hub knows, `synod agents`, and `synod report`. */
import type { Command } from 'commander';
import type { CallOutput } from '../client/operations.ts';
import { collect, handle } from './context.ts';
import { ageText } from './message-text.ts';
import { addPageFlags, type PageFlags, seconds, whole } from './parse-value.ts';

interface WhoFlags extends PageFlags {
  readonly state?: readonly string[];
  readonly project?: string;
}

export type Seen = CallOutput<'presence.list'>['agents'][number];

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
  handle<WhoFlags>(command, async ({ flags, call, table }) => {
    const { state, project, limit, after } = flags;
    const answer = await call('presence.list', { state, project, limit, after });
    table(answer, answer.agents.map(rowOf), 'nobody');
  });
}

export function rowOf(agent: Seen): string[] {
  const { agent_id: name, claims, owed } = agent;
  const held = [
    claims > 0 ? `${claims} claim${claims === 1 ? '' : 's'}` : '',
    owed > 0 ? `${owed} unread` : '',
  ];
  return [name, stateText(agent), held.filter(Boolean).join(', ') || '-', evidenceText(agent)];
}

/** Who called a moment ago and holds no line was seen; it is not connected to anything. */
function stateText({ state, since, evidence }: Seen): string {
  const { connections, last_call: call } = evidence;
  if (state === 'connected' && connections === 0 && call !== null) {
    return `seen ${sinceText(call)} ago`;
  }
  return since === null ? state : `${state} for ${sinceText(since)}`;
}

function evidenceText({ evidence, note, roles }: Seen): string {
  const {
    connections,
    last_heartbeat: beat,
    last_call: call,
    last_operation: operation,
    last_hook: hook,
  } = evidence;
  const facts = [
    // One program may hold several lines, as a chat does: how many says nothing to a person.
    connections > 0 ? 'connected' : '',
    beat === null ? '' : `heartbeat ${sinceText(beat)} ago`,
    hook === null ? '' : `hook ${sinceText(hook)} ago`,
    call === null ? '' : `called ${operation ?? 'the hub'} ${sinceText(call)} ago`,
    evidence.process === null ? '' : `process ${evidence.process}`,
    roles.length === 0 ? '' : `roles ${roles.join(' ')}`,
  ].filter(Boolean);
  const known = facts.join(', ') || 'no sign of life';
  return note ? `"${note}"; ${known}` : known;
}

function sinceText(at: number): string {
  return ageText(Date.now() / 1000 - at);
}

interface ReportFlags {
  readonly role?: readonly string[];
  readonly process?: number;
  readonly ttl?: number;
}

export function registerReport(program: Command): void {
  const command = program
    .command('report')
    .description('say what you are doing')
    .argument('<state>', 'idle, busy, or blocked: waiting for a person')
    .argument('[note]', 'what you are at, or the question to the person')
    .option(
      '--role <role>',
      'a role you answer to, with the owner’s credential; may be repeated',
      collect,
    )
    .option(...whole('--process <pid>', 'the process that is you'))
    .option(...seconds('--ttl <time>', 'how long that holds unless said again (2m; blocked: 24h)'));
  handle<ReportFlags>(command, async ({ args, flags, call, say }) => {
    const [state = '', note] = args;
    const { role: roles, process, ttl } = flags;
    const answer = await call('presence.report', { state, note, roles, process, ttl });
    say(answer, `${answer.agent_id} is ${answer.state}`);
  });
}
