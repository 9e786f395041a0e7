/** Threads for a person: how one stands, its messages and marks in order, and one line for each of many. */
import type { CallOutput } from '../client/operations.ts';
import { clockTime, messageText } from './message-text.ts';
import { type Colours, neutralise } from './terminal.ts';

type Thread = CallOutput<'threads.get'>;
type Mark = Thread['marks'][number];
type Headline = CallOutput<'threads.list'>['threads'][number];

/** What was done by each mark; also the verbs of `synod thread`. */
export const MARKED: Readonly<Record<Mark['mark'], string>> = {
  pin: 'pinned',
  unpin: 'unpinned',
  close: 'closed',
  reopen: 'reopened',
  resolve: 'resolved',
  unresolve: 'unresolved',
};

/** How it stands: `closed, pinned`. */
export function stateText(thread: {
  readonly state: string;
  readonly resolved: boolean;
  readonly pinned: boolean;
}): string {
  const { state, resolved, pinned } = thread;
  return [state, ...(resolved ? ['resolved'] : []), ...(pinned ? ['pinned'] : [])].join(', ');
}

export interface ThreadParts {
  /** How it stands and how it began: of the first page. */
  readonly hasRoot: boolean;
  readonly hasReplies: boolean;
  readonly hasMarks: boolean;
}

export const ALL_PARTS: ThreadParts = { hasRoot: true, hasReplies: true, hasMarks: true };

export function threadLines(
  { thread, root, replies, marks }: Thread,
  colours: Colours,
  { hasRoot, hasReplies, hasMarks }: ThreadParts = ALL_PARTS,
): string[] {
  const { thread_id, channel, reply_count: count } = thread;
  const place = colours.place(neutralise(`${thread_id} on ${channel}`));
  const said = [...(hasRoot && root !== null ? [root] : []), ...(hasReplies ? replies : [])];
  return [
    ...(hasRoot ? [`${place}: ${stateText(thread)}; ${repliesText(count)}`] : []),
    ...said.map((message) => pagedText(message, colours)),
    ...(hasMarks ? marks.toReversed().map((mark) => markText(mark, colours)) : []),
  ];
}

/** A body that is too long for a page is read alone. */
export function pagedText(message: Thread['replies'][number], colours: Colours): string {
  if (message.cut !== true) return messageText(message, colours);
  const text = `too long to show here: synod call messages.get '{"message_id":"${message.message_id}"}'`;
  return messageText({ ...message, body: { text } }, colours);
}

/** `12:00:01 ada closed it (agent): why`, further lines of a note behind a bar. */
function markText({ at, by, standing, mark, note }: Mark, colours: Colours): string {
  const [first = '', ...more] = (note ?? '').split(/\r?\n/).map(neutralise);
  const head = `${colours.dim(clockTime(at))} ${colours.name(neutralise(by))} (${standing}) ${MARKED[mark]} it`;
  return [note === null ? head : `${head}: ${first}`, ...more.map((line) => `  │ ${line}`)].join(
    '\n',
  );
}

export function headlineText(row: Headline, colours: Colours): string {
  const { sent_at, channel, sender, title, type, tier, reply_count: count } = row;
  const state = stateText(row);
  const about = [
    ...(type === null ? [] : [type]),
    ...(tier === null ? [] : [`tier ${tier}`]),
    ...(state === 'open' ? [] : [state]),
    ...(count === 0 ? [] : [repliesText(count)]),
  ];
  return [
    colours.dim(clockTime(sent_at)),
    colours.place(neutralise(channel)),
    `${colours.name(neutralise(sender))}:`,
    neutralise(title ?? 'no text'),
    ...(about.length === 0 ? [] : [neutralise(`(${about.join(', ')})`)]),
    colours.dim(`[${neutralise(row.message_id)}]`),
  ].join(' ');
}

function repliesText(count: number): string {
  return count === 1 ? '1 reply' : `${count} replies`;
}
