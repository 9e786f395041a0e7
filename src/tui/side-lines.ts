/** The two lists at the sides: channels with what is unread, and agents with what they do. */

import { channelLabel } from '../client/names.ts';
import { spanText } from './clock.ts';
import { type Colour, EMPTY, line, type ScreenLine, span, spread } from './spans.ts';
import type { AgentRow, Channel, ChatState } from './state.ts';

interface Look {
  readonly mark: string;
  readonly word: string;
  readonly colour?: Colour;
}

/** In the order they are listed: whoever waits for a person comes first. */
export const LOOKS: Readonly<Record<AgentRow['state'], Look>> = {
  blocked: { mark: '!', word: 'asks', colour: 'red' },
  busy: { mark: '●', word: 'working', colour: 'green' },
  idle: { mark: '○', word: 'idle' },
  connected: { mark: '○', word: 'here' },
  stale: { mark: '~', word: 'away', colour: 'yellow' },
  gone: { mark: ' ', word: 'gone' },
};

const ORDER = Object.keys(LOOKS);
const UNREAD_SHOWN_MAX = 999;

export function channelLines(state: ChatState, width: number, rows: number): ScreenLine[] {
  const joined = state.channels.map((channel) => channelLine(state, channel, width));
  const at = state.channels.findIndex(({ name }) => name === state.focus);
  const shown = around(joined, at, rows - 1);
  const room = rows - 1 - shown.length - 2;
  const others = room > 0 && state.others.length > 0 ? state.others.slice(0, room) : [];
  return [
    line('Channels', { bold: true }),
    ...shown,
    ...(others.length === 0 ? [] : [EMPTY, line('not joined', { dim: true })]),
    ...others.map((name) => line(`  ${name}`, { dim: true })),
  ];
}

export function agentLines(state: ChatState, width: number, rows: number): ScreenLine[] {
  const here = state.agents.filter((one) => one.state !== 'gone').length;
  const lines: ScreenLine[] = [
    spread([span('Agents', { bold: true })], [span(`${here} here`, { dim: true })], width),
  ];
  const sorted = byState(state.agents);
  for (const [at, agent] of sorted.entries()) {
    const added = agentRow(state, agent, width);
    const isLast = at === sorted.length - 1;
    if (lines.length + added.length > rows - (isLast ? 0 : 1)) {
      lines.push(line(`  and ${sorted.length - at} more`, { dim: true }));
      break;
    }
    lines.push(...added);
  }
  return lines;
}

export function byState(agents: readonly AgentRow[]): AgentRow[] {
  return agents.toSorted(
    (a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || (a.agent_id < b.agent_id ? -1 : 1),
  );
}

function channelLine(state: ChatState, channel: Channel, width: number): ScreenLine {
  const isFocus = channel.name === state.focus;
  const label = channelLabel(channel.name, state.me.agent_id);
  // What is on the screen is being read; the hub hears of it a moment later.
  const unread = isFocus && state.scroll === 0 ? 0 : channel.unread;
  const count = unread > UNREAD_SHOWN_MAX ? `${UNREAD_SHOWN_MAX}+` : String(unread);
  const style = { bold: isFocus || unread > 0, inverse: isFocus };
  return spread(
    [span(isFocus ? '> ' : unread > 0 ? '* ' : '  ', style), span(label, style)],
    unread > 0 ? [span(count, { bold: true, colour: 'yellow' })] : EMPTY,
    width,
  );
}

function agentRow(state: ChatState, agent: AgentRow, width: number): ScreenLine[] {
  const { mark, word, colour } = LOOKS[agent.state];
  const isGone = agent.state === 'gone';
  const name = agent.agent_id === state.me.agent_id ? `${agent.agent_id} (you)` : agent.agent_id;
  const since = agent.since === null ? '' : ` ${spanText(state.now - agent.since)}`;
  const status = width >= 24 && agent.since !== null ? `${word}${since}` : word;
  const row = spread(
    [span(`${mark} `, { colour, bold: true }), span(name, { dim: isGone })],
    [
      span(status, {
        dim: agent.state !== 'blocked',
        colour: agent.state === 'blocked' ? colour : undefined,
      }),
    ],
    width,
  );
  if (agent.state !== 'blocked' || !agent.note) return [row];
  return [row, line(`  ${agent.note.split('\n', 1)[0]}`, { dim: true })];
}

/** A window of the list in which one of its rows is seen. */
function around(lines: readonly ScreenLine[], at: number, rows: number): readonly ScreenLine[] {
  if (lines.length <= rows) return lines;
  const from = Math.min(Math.max(0, at - Math.floor(rows / 2)), lines.length - rows);
  return lines.slice(from, from + rows);
}
