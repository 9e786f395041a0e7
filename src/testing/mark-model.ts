/**
 * Threads and their marks told a second time, from the entries alone: to which root a reply belongs,
 * how many a root has, how it is marked and by which entry. It throws where an entry breaks the law: a
 * reply elsewhere than its parent or in a closed thread, a mark by a stranger, one that changes nothing.
 */
import type { WorldView } from '../core/law/state.ts';
import { hiddenReplies } from '../core/threads/thread-page.ts';

const MARKS = ['pin', 'unpin', 'close', 'reopen', 'resolve', 'unresolve'] as const;
type MarkName = (typeof MARKS)[number];
/** Which fact a mark is about, and what it makes of it. */
const SAYS: Readonly<Record<MarkName, readonly ['closed' | 'resolved' | 'pinned', boolean]>> = {
  ...{ pin: ['pinned', true], unpin: ['pinned', false] },
  ...{ close: ['closed', true], reopen: ['closed', false] },
  ...{ resolve: ['resolved', true], unresolve: ['resolved', false] },
};
/** What may lie between a reply and the mark that opened its thread: the gate the reply waits for. */
const BETWEEN = 'gate.requested';

export interface ModelThread {
  readonly channel: string;
  readonly seq: number;
  readonly position: number;
  readonly by: string;
  readonly owners: readonly string[];
  readonly replies: number[];
  readonly is: Record<'closed' | 'resolved' | 'pinned', boolean>;
  /** Where its marks lie. */
  readonly marks: number[];
  closing: number | null;
  pinnedBy: string | null;
  wasClosed: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: entries are read as they lie, without the types of core.
type Entry = any;

export interface MarkModel {
  readonly counts: Readonly<Record<string, number>>;
  add(event: Entry, position: number): void;
  /** The thread a message belongs to; undefined when its channel was retired. */
  threadOf(position: number): ModelThread | undefined;
  /** Threads that were marked, the one whose mark is newest last. */
  readonly marked: ReadonlySet<ModelThread>;
  mayMark(thread: ModelThread, by: string): boolean;
  /** One line for each thread that has a reply or a mark. `isShown`: the reply waits for nobody. */
  portray(isShown: (position: number) => boolean): string;
}

export function createMarkModel(persons: ReadonlySet<string>): MarkModel {
  /** By each of its messages. */
  const threads = new Map<number, ModelThread>();
  const recent = new Set<ModelThread>();
  const counts: Record<string, number> = {};
  /** A reply to a closed thread was stored, which the mark that opens it must follow. */
  let owing: { readonly thread: ModelThread; readonly by: string } | null = null;

  const mayMark = ({ by: author, owners }: ModelThread, by: string): boolean =>
    persons.has(by) || by === author || owners.includes(by);

  function sent(event: Entry, position: number, fail: (why: string) => never): void {
    const { channel, seq, by, body } = event;
    if (event.replyTo === undefined || event.quote) {
      const owners = Array.isArray(body.owners) ? body.owners : [];
      threads.set(position, {
        ...{ channel, seq, position, by, owners, replies: [], marks: [], closing: null },
        ...{ is: { closed: false, resolved: false, pinned: false } },
        ...{ pinnedBy: null, wasClosed: false },
      });
      return;
    }
    const thread = threads.get(event.replyTo) ?? fail(`a reply to ${event.replyTo}, no message`);
    if (thread.channel !== channel) fail(`a reply on ${channel} to ${event.replyTo}`);
    if (event.root !== thread.position) {
      fail(`a reply in the thread of ${event.root}, and it is of ${thread.position}`);
    }
    if (thread.is.closed) owing = { thread, by };
    thread.replies.push(position);
    threads.set(position, thread);
    counts['thread.replied'] = (counts['thread.replied'] ?? 0) + 1;
  }

  function marked(event: Entry, position: number, fail: (why: string) => never): void {
    const thread = threads.get(event.position) ?? fail(`a mark on ${event.position}, no message`);
    if (thread.position !== event.position || thread.seq !== event.seq) {
      fail(`a mark on ${event.position} ${event.seq}, which is no root`);
    }
    if (!mayMark(thread, event.by)) fail(`${event.by}, a stranger, marks ${thread.position}`);
    if (
      event.version !== thread.marks.length + 1 ||
      event.previous !== (thread.marks.at(-1) ?? null)
    )
      fail(`mark ${event.version} after ${event.previous}, the thread has ${thread.marks}`);
    const [fact, value] = SAYS[event.mark as MarkName];
    if (thread.is[fact] === value) fail(`${event.mark} changes nothing of ${thread.position}`);
    if (event.mark === 'close' && !event.note) fail(`${thread.position} is closed without a note`);
    thread.is[fact] = value;
    thread.marks.push(position);
    recent.delete(thread);
    recent.add(thread);
    if (fact === 'closed') thread.closing = value ? position : null;
    if (fact === 'pinned') thread.pinnedBy = value ? event.by : null;
    if (event.mark === 'close') thread.wasClosed = true;
    const what = `thread.marked ${event.mark}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }

  return {
    counts,
    add(event, position) {
      const fail = (why: string): never => {
        throw new Error(`entry ${position}: ${why}`);
      };
      if (owing !== null && event.type !== BETWEEN) {
        const { thread, by } = owing;
        owing = null;
        const isOpened = event.type === 'thread.marked' && event.mark === 'reopen';
        if (!isOpened || event.position !== thread.position || event.by !== by) {
          fail(`${thread.position} is closed, and took a reply of ${by}`);
        }
        counts['thread.reopened by a reply'] = (counts['thread.reopened by a reply'] ?? 0) + 1;
      }
      if (event.type === 'message.sent') sent(event, position, fail);
      else if (event.type === 'thread.marked') marked(event, position, fail);
      else if (event.type === 'channel.retired') {
        for (const [one, { channel }] of threads)
          if (channel === event.channel) threads.delete(one);
      }
    },
    threadOf: (position) => threads.get(position),
    marked: recent,
    mayMark,
    portray(isShown) {
      const lines: string[] = [];
      for (const [position, thread] of threads) {
        const { replies, marks, is, closing, pinnedBy } = thread;
        if (position !== thread.position || replies.length + marks.length === 0) continue;
        lines.push(
          lineOf(thread, {
            ...{ replies, shown: replies.filter(isShown).length, version: marks.length },
            ...{ ...is, last: marks.at(-1) ?? null, closing, pinnedBy },
          }),
        );
      }
      return lines.sort().join('\n');
    },
  };
}

/** The same lines as memory has them. */
export function portrayThreads(world: WorldView): string {
  const lines: string[] = [];
  for (const channel of world.channels.values()) {
    const { threads, positions, name } = channel;
    const hidden = hiddenReplies(channel);
    for (let seq = 1; threads !== null && seq <= positions.head; seq++) {
      const { version, isClosed, isResolved, isPinned, last, closing } = threads.marksOf(seq);
      if (threads.rootOf(seq) !== seq || threads.countOf(seq) + version === 0) continue;
      const replies: number[] = [];
      for (let one = threads.after(seq); one !== 0; one = threads.after(one)) {
        replies.push(threads.rootOf(one) === seq ? positions.at(one) : -1);
      }
      lines.push(
        lineOf(
          { channel: name, position: positions.at(seq) },
          {
            ...{ replies, shown: threads.countOf(seq) - (hidden.get(seq) ?? 0), version },
            ...{ closed: isClosed, resolved: isResolved, pinned: isPinned, last, closing },
            pinnedBy: threads.pins.get(seq) ?? null,
          },
        ),
      );
    }
  }
  return lines.sort().join('\n');
}

interface Told extends Record<'closed' | 'resolved' | 'pinned', boolean> {
  readonly replies: readonly number[];
  readonly shown: number;
  readonly version: number;
  readonly last: number | null;
  readonly closing: number | null;
  readonly pinnedBy: string | null;
}

function lineOf(root: { readonly channel: string; readonly position: number }, told: Told): string {
  const { replies, shown, version, closed, resolved, pinned, last, closing, pinnedBy } = told;
  const facts = { closed, resolved, pinned, last, closing, pinnedBy };
  return `${root.channel} ${root.position}: ${replies}, ${shown} shown, version ${version} ${JSON.stringify(facts)}`;
}
