/**
 * What was said, as lines: oldest first, under the name of whoever speaks and the time. An answer
 * is set in and shows what it answers; the id and what became of a message stand at the right.
 */

import { senderLabel } from '../client/names.ts';
import { dayText, timeText } from './clock.ts';
import { plain, wrap } from './plain.ts';
import { receiptMark } from './receipts.ts';
import { type Colour, EMPTY, line, type ScreenLine, type Span, span, spread } from './spans.ts';
import type { Channel, ChatState, Sending } from './state.ts';
import type { Said } from './talk.ts';
import { standingSpans } from './thread-standing.ts';

/** After so long a silence the speaker is named again. */
const PAUSE_S = 300;
const WIDE_MIN = 60;
const GUTTERS = { narrow: 8, wide: 12 };

/** The talk that was laid out whole last: whoever scrolls through it asks for it again and again. */
let last: { readonly of: readonly unknown[]; readonly lines: readonly ScreenLine[] } | null = null;

/** Only the end of the talk is looked at when no more than so many lines of it are shown. */
export function talkLines(
  state: ChatState,
  channel: Channel,
  width: number,
  linesMax?: number,
): readonly ScreenLine[] {
  if (linesMax !== undefined) return layOut(state, channel, width, linesMax);
  const { upTo, receipts, sending, me, threads } = state;
  const of = [channel, width, upTo, receipts, sending, me, threads.standings];
  if (last === null || of.some((one, at) => one !== last?.of[at])) {
    last = { of, lines: layOut(state, channel, width, channel.talk.length) };
  }
  return last.lines;
}

function layOut(state: ChatState, channel: Channel, width: number, linesMax: number): ScreenLine[] {
  const { upTo } = state;
  const shown = upTo === null ? channel.talk : channel.talk.filter(({ seq }) => seq <= upTo);
  // Each message has a line at least; one more, because the first is shown without what was before it.
  const talk = shown.slice(-Math.min(shown.length, linesMax) - 1);
  const byId = new Map(channel.talk.map((one) => [one.id, one]));
  const lines: ScreenLine[] = [];
  let before: Said | null = null;
  for (const said of talk) {
    if (before === null || dayText(before.sentAt) !== dayText(said.sentAt)) {
      if (before !== null) lines.push(EMPTY);
      lines.push(rule(dayText(said.sentAt), width));
      before = null;
    }
    const isNew = said.seq === channel.newFrom;
    if (isNew) lines.push(rule('new', width, 'red'));
    if (before === null || isNew || isBreak(before, said)) lines.push(speaker(state, said));
    if (said.replyTo !== null) lines.push(answered(said.replyTo, byId, width));
    lines.push(...bodyLines(state, said, said.replyTo === null ? 2 : 4, width));
    const stands = standingSpans(state.threads.standings.get(said.id));
    if (stands.length > 0) lines.push([span('  '), ...stands]);
    before = said;
  }
  const mine = state.sending.filter((one) => one.channel === channel.name);
  if (upTo === null) lines.push(...sendingLines(state, mine, before, width));
  return lines;
}

/** The first words of a message, on one line. */
export function gist(said: Said): string {
  return `${senderLabel(said.sender)}: ${said.text.split('\n', 1)[0] ?? ''}`;
}

export function rule(text: string, width: number, colour?: Colour): ScreenLine {
  const words = ` ${text} `;
  const left = Math.max(0, Math.floor((width - words.length) / 2));
  const right = Math.max(0, width - words.length - left);
  return line(`${'─'.repeat(left)}${words}${'─'.repeat(right)}`, {
    colour,
    dim: colour === undefined,
  });
}

function isBreak(before: Said, said: Said): boolean {
  return before.sender !== said.sender || said.sentAt - before.sentAt > PAUSE_S;
}

export function speaker(state: ChatState, said: Pick<Said, 'sender' | 'sentAt'>): ScreenLine {
  const isMe = said.sender === state.me.agent_id;
  return [
    span(senderLabel(said.sender), { bold: true, colour: state.colours.get(said.sender) }),
    span(isMe ? ' (you)' : '', { dim: true }),
    span(` ${timeText(said.sentAt)}`, { dim: true }),
  ];
}

export function answered(id: string, byId: ReadonlyMap<string, Said>, width: number): ScreenLine {
  const parent = byId.get(id);
  const words = parent === undefined ? 'further up' : gist(parent);
  return spread([span(`  ↳ ${id} ${words}`, { dim: true })], EMPTY, width);
}

export function bodyLines(
  state: ChatState,
  said: Said,
  indent: number,
  width: number,
): ScreenLine[] {
  const gutter = width >= WIDE_MIN ? GUTTERS.wide : GUTTERS.narrow;
  const mark = receiptMark(state.receipts.get(said.id));
  const marks: Span[] = [span(mark === '' ? '' : `${mark} `), span(said.id, { dim: true })];
  return said.text
    .split(/\r?\n/)
    .flatMap((text) => wrap(plain(text), width - indent - gutter))
    .map((text, at) =>
      spread([span(' '.repeat(indent)), span(text)], at === 0 ? marks : EMPTY, width),
    );
}

/** On its way: under my own name, whoever spoke last. */
export function sendingLines(
  state: ChatState,
  mine: readonly Sending[],
  before: Said | null,
  width: number,
): ScreenLine[] {
  const { me, now } = state;
  if (mine.length === 0) return [];
  const isGoingOn = before?.sender === me.agent_id && now - before.sentAt <= PAUSE_S;
  return [
    ...(isGoingOn ? [] : [speaker(state, { sender: me.agent_id, sentAt: now })]),
    ...mine.map(({ text }) =>
      spread([span(`  ${text}`, { dim: true })], [span('sending…', { dim: true })], width),
    ),
  ];
}
