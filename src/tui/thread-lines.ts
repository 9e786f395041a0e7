/**
 * Threads as lines: one alone, with its marks where they were made, and lists to choose from. What others
 * wrote is never taken for a line of ours.
 */
import { channelLabel, senderLabel } from '../client/names.ts';
import { dayText, timeText } from './clock.ts';
import { wrap } from './plain.ts';
import { type Colour, EMPTY, line, type ScreenLine, span, spread } from './spans.ts';
import type { ChatState } from './state.ts';
import { answered, bodyLines, sendingLines, speaker } from './talk-lines.ts';
import { standingSpans } from './thread-standing.ts';
import type { Choice, MarkRow, MarkWord } from './threads.ts';

interface MarkLook {
  /** What somebody did. */
  readonly did: string;
  readonly colour?: Colour;
}

const MARK_LOOKS: Readonly<Record<MarkWord, MarkLook>> = {
  pin: { did: '▲ pinned it', colour: 'yellow' },
  unpin: { did: 'unpinned it' },
  close: { did: 'closed it', colour: 'magenta' },
  reopen: { did: 'opened it again' },
  resolve: { did: 'resolved it', colour: 'green' },
  unresolve: { did: 'said it is not resolved' },
};
/** A list has two lines for each. */
export const CHOICE_ROWS = 2;

/** Of a thread that is open: its first message, and then replies and marks as they came. */
export function threadLines(state: ChatState, channel: string, width: number): ScreenLine[] {
  const { upTo, threads } = state;
  const { open } = threads;
  if (open === null) return [line('Loading…', { dim: true })];
  const { root, first, standing, marks } = open;
  const replies = open.replies.filter(({ seq }) => upTo === null || seq <= upTo);
  const head =
    first === null
      ? [line(`${root} is not for you to read; its replies are.`, { dim: true })]
      : [speaker(state, first), ...bodyLines(state, first, 2, width)];
  const byId = new Map(open.replies.map((one) => [one.id, one]));
  const stands = standingSpans(standing);
  const left = standing.replies - open.replies.length;
  const items = [
    ...replies.map((said) => ({
      at: said.sentAt,
      lines: [
        [span('  '), ...speaker(state, said)],
        ...(said.replyTo === null || said.replyTo === root
          ? []
          : [answered(said.replyTo, byId, width)]),
        ...bodyLines(state, said, 4, width),
      ],
    })),
    ...marks.toReversed().map((mark) => ({ at: mark.at, lines: markLines(mark, width) })),
  ].toSorted((a, b) => a.at - b.at);
  const sending = state.sending.filter((one) => one.replyTo === root);
  return [
    ...head,
    ...(stands.length === 0 ? [] : [[span('  '), ...stands]]),
    ...(left > 0 && open.replies.length > 0
      ? [line(`  ${left} older replies are not shown`, { dim: true })]
      : []),
    EMPTY,
    ...items.flatMap(({ lines }) => lines),
    ...sendingLines(state, sending, replies.at(-1) ?? null, width),
    ...(items.length + sending.length === 0
      ? [line(`No reply yet on ${channelLabel(channel, state.me.agent_id)}.`, { dim: true })]
      : []),
  ];
}

function markLines({ mark, by, at, note }: MarkRow, width: number): ScreenLine[] {
  const { did, colour } = MARK_LOOKS[mark];
  const words = (note ?? '')
    .split(/\r?\n/)
    .flatMap((each) => (each === '' ? [] : wrap(each, Math.max(10, width - 6))));
  return [
    [span(`  ${senderLabel(by)} ${did}`, { colour }), span(` ${timeText(at)}`, { dim: true })],
    // Words of others stand behind a bar, so that none of them looks like ours.
    ...words.map((each) => [span('    │ ', { dim: true }), span(each)]),
  ];
}

export function choiceLines(state: ChatState, width: number): ScreenLine[] {
  const { choices, at } = state.threads;
  if (choices.length === 0) return [line('Nothing.', { dim: true })];
  return choices.flatMap((one, i) => choiceRows(state, one, i === at, width));
}

function choiceRows(
  state: ChatState,
  { id, channel, sender, sentAt, words }: Choice,
  isChosen: boolean,
  width: number,
): ScreenLine[] {
  const style = { inverse: isChosen };
  const isToday = dayText(sentAt) === dayText(state.now);
  const when = isToday ? timeText(sentAt) : dayText(sentAt);
  const place = channel === state.focus ? '' : ` on ${channelLabel(channel, state.me.agent_id)}`;
  const head = [
    span(`${isChosen ? '>' : ' '} ${id} `, { ...style, dim: !isChosen }),
    span(senderLabel(sender), { ...style, bold: true, colour: state.colours.get(sender) }),
    span(`${place} ${when}`, { ...style, dim: !isChosen }),
  ];
  const text = words.map(({ text: part, isFound }) =>
    span(part.replace(/\s+/g, ' '), { bold: isFound, ...(isFound && { colour: 'cyan' }) }),
  );
  const stands = standingSpans(state.threads.standings.get(id));
  return [spread(head, stands, width), [span('    '), ...text]];
}
