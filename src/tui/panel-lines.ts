/** The panels that stand in for the talk: claims, agents with their evidence, the plan, receipts, help. */
import type { CallOutput } from '../client/index.ts';
import { spanText, timeText } from './clock.ts';
import type { Colours } from './colours.ts';
import { COMMAND_ROWS } from './commands.ts';
import { wrap } from './plain.ts';
import { MARKS } from './receipts.ts';
import { byState, LOOKS } from './side-lines.ts';
import { EMPTY, line, type ScreenLine, span } from './spans.ts';
import type { AgentRow, ChatState, ClaimRow, TaskRow } from './state.ts';

type Receipt = CallOutput<'receipts.get'>['receipts'][number];

const PATHS_SHOWN_MAX = 8;

export function claimLines({ claims, colours, now }: ChatState): ScreenLine[] {
  if (claims.length === 0) return [line('Nobody holds anything.', { dim: true })];
  return claims.flatMap((claim) => {
    const { task_id: task, owner, status, note, lease_expires_at: until } = claim;
    return [
      [
        span(task, { bold: true }),
        span(' held by '),
        span(owner, { colour: colours.get(owner) }),
        span(` until ${timeText(until)} (${spanText(until - now)})`, { dim: true }),
      ],
      line(`  ${status}: ${scopeOf(claim)}`),
      ...(note === '' ? [] : [line(`  ${firstLine(note)}`, { dim: true })]),
    ];
  });
}

export function whoLines({ agents, now }: ChatState): ScreenLine[] {
  if (agents.length === 0) return [line('Nobody.', { dim: true })];
  return byState(agents).flatMap((agent) => {
    const { mark, word, colour } = LOOKS[agent.state];
    const since = agent.since === null ? '' : ` for ${spanText(now - agent.since)}`;
    const what = agent.state === 'blocked' ? 'blocked on a human' : word;
    return [
      [
        span(`${mark} `, { colour, bold: true }),
        span(agent.agent_id, { bold: true }),
        span(` ${what}${since}`),
      ],
      ...(agent.note ? [line(`  "${firstLine(agent.note)}"`)] : []),
      line(`  ${evidenceOf(agent, now)}`, { dim: true }),
    ];
  });
}

export function boardLines(tasks: readonly TaskRow[]): ScreenLine[] {
  if (tasks.length === 0) return [line('There is nothing on the plan.', { dim: true })];
  return tasks.flatMap((task) => {
    const { task_id: id, title, status, claim, depends_on: needs, ready } = task;
    const holder = claim === null ? '' : ` by ${claim.owner}`;
    return [
      [
        span(id, { bold: true }),
        span(` ${status}${holder}${ready ? ', ready' : ''}`, { dim: true }),
      ],
      line(`  ${firstLine(title)}`),
      ...(needs.length === 0 ? [] : [line(`  after ${needs.join(', ')}`, { dim: true })]),
    ];
  });
}

export function receiptLines(receipts: readonly Receipt[], colours: Colours): ScreenLine[] {
  if (receipts.length === 0) return [line('It was owed to nobody.', { dim: true })];
  return receipts.map(({ agent_id: agent, state, reason, at }) => {
    const [mark, word] = MARKS[state];
    const when = at === null ? '' : ` ${timeText(at)}`;
    return [
      span(`${mark} `, { bold: true }),
      span(agent, { colour: colours.get(agent) }),
      span(` ${state} (${word})${when}${reason === null ? '' : `: ${reason}`}`),
    ];
  });
}

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['Tab', 'complete a command, channel, agent or id; again for the next one'],
  ['Ctrl-N Ctrl-P', 'next, previous channel'],
  ['Ctrl-X', 'next channel with something unread'],
  ['PgUp PgDn', 'scroll; older messages are fetched'],
  ['Up Down', 'lines sent before'],
  ['Ctrl-O', 'the docket: what needs you'],
  ['Ctrl-T Ctrl-G', 'claims; agents'],
  ['Ctrl-R', 'the thread that was answered last; again to leave it'],
  ['Up Down Enter', 'in a list: choose, and open the thread'],
  ['Esc', 'back to the list or the talk, and to its end; gives up a command'],
  ['Ctrl-C', 'leave'],
];

const THREAD_MARKS: readonly (readonly [mark: string, what: string])[] = [
  ['▲ pinned', 'kept in view by its author, an owner it names, or a person'],
  ['closed', 'takes no reply until it is opened again; a note says why'],
  ['resolved', 'what it asked is settled; it may go on'],
];

export function helpLines(width: number): ScreenLine[] {
  const commands = COMMAND_ROWS.map(({ name, usage, summary }) => [
    `/${name} ${usage}`.trimEnd(),
    summary,
  ]);
  const marks = Object.entries(MARKS).map(([state, [mark, word]]) => [`${mark} ${state}`, word]);
  return [
    line('Keys', { bold: true }),
    ...table(KEYS, width),
    EMPTY,
    line('Commands', { bold: true }),
    ...table(commands, width),
    EMPTY,
    line('Marks on your messages, with how many recipients', { bold: true }),
    ...table(marks, width),
    EMPTY,
    line('Marks of threads', { bold: true }),
    ...table(THREAD_MARKS, width),
  ];
}

/** Two columns, the second wrapped under itself. */
function table(rows: readonly (readonly string[])[], width: number): ScreenLine[] {
  const first = Math.max(...rows.map(([left = '']) => left.length)) + 2;
  return rows.flatMap(([left = '', right = '']) =>
    wrap(right, Math.max(10, width - first - 2)).map((text, at) => [
      span(`  ${(at === 0 ? left : '').padEnd(first)}`, { colour: 'cyan' }),
      span(text),
    ]),
  );
}

function scopeOf({ worktree, paths, branch }: ClaimRow): string {
  const more = paths.length > PATHS_SHOWN_MAX ? ` and ${paths.length - PATHS_SHOWN_MAX} more` : '';
  const files =
    paths.length === 0
      ? worktree === ''
        ? 'no files'
        : `all of ${worktree}`
      : `${paths.slice(0, PATHS_SHOWN_MAX).join(', ')}${more}`;
  return branch === null ? files : `${files} on ${branch}`;
}

function evidenceOf(agent: AgentRow, now: number): string {
  const { connections, last_heartbeat: beat, last_call: call, last_operation: op } = agent.evidence;
  const facts = [
    connections > 0 ? 'connected' : '',
    beat === null ? '' : `heartbeat ${spanText(now - beat)} ago`,
    call === null ? '' : `${op ?? 'a call'} ${spanText(now - call)} ago`,
    agent.evidence.process === null ? '' : `process ${agent.evidence.process}`,
    agent.roles.length === 0 ? '' : `roles ${agent.roles.join(' ')}`,
    agent.claims === 0 ? '' : counted(agent.claims, 'claim'),
    agent.owed === 0 ? '' : `${agent.owed} unread`,
  ];
  return facts.filter(Boolean).join(', ') || 'no sign of life';
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
