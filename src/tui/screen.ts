/**
 * The whole screen as lines, from state and size alone [TU2]: a bar, up to three panels, a status
 * line and the line to type on. Every line has exactly the width of its panel.
 */

import { channelLabel } from '../client/names.ts';
import { byNeed, docketLines, needLines } from './docket-lines.ts';
import type { Layout } from './layout.ts';
import { paletteLines } from './palette.ts';
import { claimLines, helpLines, whoLines } from './panel-lines.ts';
import { cut, graphemes, plain, widthOf, wrap } from './plain.ts';
import { legend } from './receipts.ts';
import { agentLines, channelLines } from './side-lines.ts';
import {
  EMPTY,
  fitTo,
  line,
  lineWidth,
  type ScreenLine,
  type Style,
  span,
  spread,
} from './spans.ts';
import {
  type ChatState,
  findChannel,
  isTalk,
  type Notice,
  type Panel,
  shownTalk,
} from './state.ts';
import { talkLines } from './talk-lines.ts';
import { CHOICE_ROWS, choiceLines, threadLines } from './thread-lines.ts';
import { standingSpans } from './thread-standing.ts';
import { workLines } from './work-lines.ts';

export interface Screen {
  readonly bar: ScreenLine;
  readonly left: readonly ScreenLine[];
  readonly centre: readonly ScreenLine[];
  readonly right: readonly ScreenLine[];
  readonly status: ScreenLine;
  readonly input: ScreenLine;
  /** Where the cursor stands on the input line. */
  readonly cursor: number;
}

const PROMPT = '> ';
/** What can be done in a panel, where that differs. */
const HINTS: Readonly<Partial<Record<Panel['kind'], string>>> = {
  thread: 'What you type answers it  /pin  /resolve  /close NOTE  Esc back  /help',
  list: 'Up Down choose  Enter opens the thread  Esc back',
};
/** What the agents have at least before anything else is shown below them. */
const AGENT_ROWS_MIN = 16;

export function screenOf(state: ChatState, layout: Layout): Screen {
  const { left, right, centre, body, columns } = layout;
  const half = Math.floor(rowsOf(layout) / 2);
  const told = isLong(state, columns) ? noticeLines(state, centre).slice(0, half) : [];
  const palette = told.length > 0 ? told : paletteLines(state, half);
  const rows = rowsOf(layout) - palette.length;
  const content = centreLines(state, centre, state.scroll === 0 ? rows : undefined);
  const most = Math.max(0, content.length - rows);
  const scroll = Math.min(
    state.panel.kind === 'list' ? most - choiceTop(state, rows) : state.scroll,
    most,
  );
  const end = content.length - scroll;
  const visible = content.slice(Math.max(0, end - rows), end);
  const input = inputLine(state, columns);
  return {
    bar: barLine(state, columns),
    left: left === 0 ? [] : filled(channelLines(state, left, body), left, body),
    centre: [
      ...filled([titleLine(state, centre), ...visible], centre, body - palette.length),
      ...filled(palette, centre, palette.length),
    ],
    right: right === 0 ? [] : filled(rightLines(state, right, body), right, body),
    status: fitTo(statusLine(state, columns, scroll, layout), columns),
    input: fitTo(input.line, columns),
    cursor: input.cursor,
  };
}

/** What needs you, then the agents; what they hold and plan below them, in what room there is left. */
function rightLines(state: ChatState, width: number, rows: number): ScreenLine[] {
  // Half of the column at the most: whoever needs a person is still among the agents.
  const needs = needLines(state, width).slice(0, Math.floor(rows / 2));
  const room = rows - needs.length;
  const work = workLines(state, width, Math.max(0, room - AGENT_ROWS_MIN));
  const agents = agentLines(state, width, room - work.length);
  const left = room - agents.length;
  return [...needs, ...agents, ...(left > work.length ? workLines(state, width, left) : work)];
}

/** The line of a list that comes first, so that what is chosen stands in its middle. */
function choiceTop({ threads }: ChatState, rows: number): number {
  const lines = threads.choices.length * CHOICE_ROWS;
  const wanted = threads.at * CHOICE_ROWS - Math.floor(rows / 2);
  return Math.max(0, Math.min(wanted, lines - rows));
}

/** How far the centre can be scrolled. */
export function scrollMaxOf(state: ChatState, layout: Layout): number {
  return Math.max(0, centreLines(state, layout.centre).length - rowsOf(layout));
}

/** All of the centre but its title. */
function rowsOf({ body }: Layout): number {
  return Math.max(0, body - 1);
}

function centreLines(state: ChatState, width: number, linesMax?: number): readonly ScreenLine[] {
  const { panel } = state;
  const channel = findChannel(state, state.focus);
  switch (panel.kind) {
    case 'claims':
      return claimLines(state);
    case 'who':
      return whoLines(state);
    case 'docket':
      return docketLines(state, width);
    case 'help':
      return helpLines(width);
    case 'text':
      return panel.lines;
    case 'thread':
      return threadLines(state, panel.channel, width);
    case 'list':
      return choiceLines(state, width);
    case 'talk':
      if (channel === undefined) return [line('Join a channel: /join NAME', { dim: true })];
      if (channel.talk.length > 0 || state.sending.length > 0)
        return talkLines(state, channel, width, linesMax);
      return [line(channel.isLoaded ? 'Nothing was said here yet.' : 'Loading…', { dim: true })];
  }
}

function titleLine(state: ChatState, width: number): ScreenLine {
  const { panel, focus, me } = state;
  const name = focus === null ? '' : channelLabel(focus, me.agent_id);
  const titles = {
    talk: name,
    thread:
      panel.kind === 'thread'
        ? `${channelLabel(panel.channel, me.agent_id)}: thread ${panel.root}`
        : '',
    list: panel.kind === 'list' ? panel.title : '',
    claims: `Claims (${state.claims.length})`,
    who: 'Agents',
    docket: `Docket (${state.docket.length})`,
    help: 'Help',
    text: panel.kind === 'text' ? panel.title : '',
  };
  const aside = panel.kind === 'talk' ? '' : 'Esc: back';
  const { open } = state.threads;
  // Of a long thread the beginning is out of sight, and how it stands is not.
  const marks =
    panel.kind === 'thread' && open !== null ? standingSpans({ ...open.standing, replies: 0 }) : [];
  const left = [span(titles[panel.kind], { bold: true }), span('  '), ...marks];
  // Where both have no room, the status line says how to go back.
  const hasRoom = lineWidth(left) + aside.length < width || panel.kind !== 'thread';
  return spread(left, [span(hasRoom ? aside : '', { dim: true })], width);
}

function barLine(state: ChatState, width: number): ScreenLine {
  const { me, link } = state;
  const style = { inverse: true };
  const unread = state.channels.reduce((sum, one) => sum + one.unread, 0);
  const who = ` synod  ${me.agent_id} (${me.kind}, ${me.tier})  space ${me.space}`;
  const needed = byNeed(state).yours.length;
  const needs = needed === 0 ? '' : `! ${needed} ${needed === 1 ? 'needs' : 'need'} you  `;
  const news = `${needs}${unread > 0 ? `${unread} unread  ` : ''}`;
  const right =
    link === 'open' ? `${news}connected ` : link === 'closed' ? 'closed ' : 'reconnecting… ';
  return spread([span(who, style)], [span(right, { ...style, bold: link !== 'open' })], width).map(
    (one) => ({ ...one, inverse: true }),
  );
}

function statusLine(state: ChatState, width: number, scroll: number, layout: Layout): ScreenLine {
  const { notice, link, linkReason, upTo } = state;
  if (notice !== null && !isLong(state, width)) {
    return line(notice.text, noticeStyle(notice));
  }
  if (link !== 'open' && linkReason !== null) return line(linkReason, { colour: 'yellow' });
  if (scroll > 0 && isTalk(state.panel)) {
    const newer = upTo === null ? 0 : shownTalk(state).filter(({ seq }) => seq > upTo).length;
    return line(newer > 0 ? `${newer} newer below; PgDn` : 'further up; PgDn goes down', {
      dim: true,
    });
  }
  // Where the list of channels has no room, the unread ones are named here.
  const unread = state.channels.filter((one) => one.unread > 0 && one.name !== state.focus);
  if (layout.left === 0 && unread.length > 0) {
    const names = unread.map((one) => `${channelLabel(one.name, state.me.agent_id)} ${one.unread}`);
    return line(`unread: ${names.join(', ')}`, { colour: 'yellow' });
  }
  const hints =
    HINTS[state.panel.kind] ?? 'Tab completes  PgUp scrolls  Ctrl-N next channel  /help';
  if (width < hints.length) return line('/help', { dim: true });
  const marks = legend();
  const isWide = width > hints.length + marks.length + 4;
  return isWide
    ? spread([span(hints, { dim: true })], [span(marks, { dim: true })], width)
    : line(hints, { dim: true });
}

/** Words that have no room on the status line stand whole above it. */
function isLong({ notice }: ChatState, width: number): boolean {
  return notice !== null && widthOf(plain(notice.text)) > width;
}

function noticeLines({ notice }: ChatState, width: number): ScreenLine[] {
  if (notice === null) return [];
  const rows = wrap(plain(notice.text), Math.max(1, width));
  return rows.map((text) => line(text, noticeStyle(notice)));
}

function noticeStyle({ isProblem }: Notice): Style {
  return { colour: isProblem ? 'red' : 'cyan', bold: isProblem };
}

/** A long line shows the part around the cursor; a line break within it is shown as a sign. */
function inputLine(state: ChatState, width: number): { line: ScreenLine; cursor: number } {
  const { text, cursor } = state.input;
  const prompt = state.unseen === null ? PROMPT : `${plain(state.unseen)}: `;
  const shown = (part: string): string =>
    state.unseen === null ? plain(part.replaceAll('\n', '⏎')) : '•'.repeat(graphemes(part).length);
  const before = shown(text.slice(0, cursor));
  const room = Math.max(1, width - widthOf(prompt) - 1);
  const kept = keepEnd(before, room);
  const after = cut(shown(text.slice(cursor)), room - widthOf(kept));
  return {
    line: [span(prompt, { bold: true }), span(kept), span(after)],
    cursor: widthOf(prompt) + widthOf(kept),
  };
}

function keepEnd(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const kept: string[] = [];
  let used = 1;
  for (const one of graphemes(text).toReversed()) {
    used += widthOf(one);
    if (used > width) break;
    kept.push(one);
  }
  return `…${kept.reverse().join('')}`;
}

function filled(lines: readonly ScreenLine[], width: number, rows: number): ScreenLine[] {
  return Array.from({ length: rows }, (_, at) => fitTo(lines[at] ?? EMPTY, width));
}
