/**
 * Marks: what is said about a thread as a whole. It is open or closed with a note, and resolved and
 * pinned besides [TM3]. A mark is an event with author, time and note, and names the one before it, so
 * that the history of a thread's marks can be read back from the log [TM2]; memory keeps where the
 * newest lies, and nothing of its words.
 */
import { assert } from '../law/assert.ts';
import { type Asked, type Decision, type Refusal, refuse, refuseFull } from '../law/decider.ts';
import { type Principal, type Standing, standingOf } from '../law/principal.ts';
import type { World, WorldView } from '../law/state.ts';
import { isProse } from '../law/text.ts';
import { checkWriter, invalid } from '../law/writer.ts';
import { channelWith, checkRead } from '../talk/channel.ts';
import { type MessageRef, messageId } from '../talk/message-id.ts';
import { ThreadIndex, type ThreadMarks, UNMARKED } from './thread-index.ts';
import { MARK_NOTE_CHARS_MAX, PINS_PER_AGENT_MAX, PINS_PER_CHANNEL_MAX } from './thread-limits.ts';

export type Mark = 'pin' | 'unpin' | 'close' | 'reopen' | 'resolve' | 'unresolve';

/** The root of a thread, as the log has it: facts that never change. */
export interface RootRef extends MessageRef {
  /** Whom its body names in `owners`. */
  readonly owners: readonly string[];
}

export interface MarkThread extends Asked {
  readonly type: 'thread.mark';
  readonly root: RootRef;
  readonly mark: Mark;
  readonly note: string | null;
  readonly expectedVersion: number | null;
}

export interface ThreadMarked {
  readonly type: 'thread.marked';
  readonly at: number;
  readonly by: string;
  readonly as: Standing;
  readonly channel: string;
  /** Of the root. */
  readonly seq: number;
  readonly position: number;
  readonly mark: Mark;
  readonly note: string | null;
  /** How many marks the thread has with this one. */
  readonly version: number;
  /** Where the mark before this one lies; null for the first. */
  readonly previous: number | null;
}

export interface MarkAnswer {
  readonly marks: ThreadMarks;
  readonly isChanged: boolean;
}

const CHANGES: Readonly<Record<Mark, Partial<ThreadMarks>>> = {
  pin: { isPinned: true },
  unpin: { isPinned: false },
  close: { isClosed: true },
  reopen: { isClosed: false, closing: null },
  resolve: { isResolved: true },
  unresolve: { isResolved: false },
};

export function decideMark(
  world: WorldView,
  command: MarkThread,
): Decision<ThreadMarked, MarkAnswer> {
  const { by, root, mark, note, expectedVersion } = command;
  const forbidden = checkWriter(by, world.settings) ?? checkMarker(world, by, root);
  if (forbidden !== null) return forbidden;
  const marks = marksOf(world, root);
  if (marks === null) return retiredUnder(root);
  if (expectedVersion !== null && expectedVersion !== marks.version) {
    const message = `${messageId(root.position)} is at version ${marks.version}, not ${expectedVersion}: somebody marked it since; look again`;
    return refuse('mark.version', message, { thread: messageId(root.position), ...told(marks) });
  }
  const badNote = checkNote(mark, note);
  if (badNote !== null) return badNote;
  const event = markEvent(world, command, root, mark, note);
  if (event === null) return { events: [], answer: { marks, isChanged: false } };
  const full = mark === 'pin' ? checkPins(world, by, root.channel) : null;
  if (full !== null) return full;
  const answer = { marks: marksAfter(marks, event, world.length), isChanged: true };
  return { events: [event], answer };
}

/** The event that changes the marks so; null when they are so already [TM4]. */
export function markEvent(
  world: WorldView,
  { by, at }: Asked,
  { channel, seq, position }: MessageRef,
  mark: Mark,
  note: string | null,
): ThreadMarked | null {
  const marks = world.channels.get(channel)?.threads?.marksOf(seq) ?? UNMARKED;
  const change = Object.entries(CHANGES[mark]);
  if (change.every(([name, value]) => marks[name as keyof ThreadMarks] === value)) return null;
  return {
    ...{ type: 'thread.marked', at, by: by.id, as: standingOf(by), channel, seq, position },
    ...{ mark, note, version: marks.version + 1, previous: marks.last },
  };
}

/** Who may mark a thread: its author, whom its root names as owners, and people [TM1]. */
export function checkMarker(world: WorldView, by: Principal, root: RootRef): Refusal | null {
  if (checkRead(world, by, root.channel) !== null) {
    return refuse(
      'message.not-found',
      `there is no message ${messageId(root.position)} that you may read`,
    );
  }
  const isPerson = by.kind === 'human' || by.kind === 'admin';
  if (isPerson || by.id === root.sender || root.owners.includes(by.id)) return null;
  return refuse(
    'mark.not-author',
    `${messageId(root.position)} is for its author ${root.sender}, whom it names in owners, and people to mark; ask one of them`,
    { thread: messageId(root.position), author: root.sender },
  );
}

export function evolveMarked(world: World, event: ThreadMarked, position: number): void {
  const channel = channelWith(world, event);
  if (channel === undefined) return;
  channel.threads ??= new ThreadIndex();
  const before = channel.threads.marksOf(event.seq);
  channel.threads.mark(event.seq, marksAfter(before, event, position), event.by);
}

/** Null when its channel is gone. */
function marksOf(world: WorldView, root: MessageRef): ThreadMarks | null {
  const channel = channelWith(world, root);
  if (channel === undefined) return null;
  assert((channel.threads?.rootOf(root.seq) ?? root.seq) === root.seq, 'marks are of a root');
  return channel.threads?.marksOf(root.seq) ?? UNMARKED;
}

function marksAfter(
  before: ThreadMarks,
  { mark, version }: ThreadMarked,
  position: number,
): ThreadMarks {
  const closing = mark === 'close' ? { closing: position } : {};
  return { ...before, ...CHANGES[mark], ...closing, version, last: position };
}

/** For a refusal: how it is marked, in the words of the wire. */
export function told({ version, isClosed, isResolved, isPinned }: ThreadMarks): {
  version: number;
  state: 'open' | 'closed';
  resolved: boolean;
  pinned: boolean;
} {
  const state = isClosed ? 'closed' : 'open';
  return { version, state, resolved: isResolved, pinned: isPinned };
}

export function retiredUnder({ position, channel }: MessageRef): Refusal {
  return refuse(
    'channel.retired',
    `${channel}, where ${messageId(position)} was said, was retired, and its threads with it; messages.get still reads the message`,
    { channel },
  );
}

function checkNote(mark: Mark, note: string | null): Refusal | null {
  if (mark === 'close' && (note === null || note.trim() === '')) {
    const message = `to close a thread, say why in note, 1 to ${MARK_NOTE_CHARS_MAX} characters`;
    return refuse('mark.note-needed', message, {
      violations: [{ field: 'note', issue: 'is needed to close a thread' }],
    });
  }
  if (note === null || isProse(note, MARK_NOTE_CHARS_MAX)) return null;
  return invalid(
    `a note has at most ${MARK_NOTE_CHARS_MAX} characters, and none that cannot be seen but ends of line and tabs`,
  );
}

/** One agent does not fill what all of a channel pin. */
function checkPins(world: WorldView, by: Principal, channel: string): Refusal | null {
  const pins = world.channels.get(channel)?.threads?.pins ?? new Map<number, string>();
  const isPerson = by.kind === 'human' || by.kind === 'admin';
  let mine = 0;
  for (const one of pins.values()) if (one === by.id) mine++;
  if (!isPerson && mine >= PINS_PER_AGENT_MAX) {
    return refuseFull('PINS_PER_AGENT_MAX', PINS_PER_AGENT_MAX);
  }
  if (pins.size < PINS_PER_CHANNEL_MAX) return null;
  return refuseFull('PINS_PER_CHANNEL_MAX', PINS_PER_CHANNEL_MAX);
}
