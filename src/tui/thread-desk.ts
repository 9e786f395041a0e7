/**
 * What is asked of the hub about threads: how those of the channel stand, one that is open, lists to
 * choose from; and marks that are made. A refusal is thrown as it came, to be shown in the hub's words.
 */
import type { CallOutput, Client } from '../client/index.ts';
import { findChannel } from './state.ts';
import type { Store } from './store.ts';
import {
  type Choice,
  type ListPanel,
  type MarkWord,
  standingOf,
  type ThreadFilter,
  type ThreadPanel,
  type ThreadStanding,
} from './threads.ts';

type Headline = CallOutput<'threads.list'>['threads'][number];
type Found = CallOutput<'search.messages'>['messages'][number];

export interface ThreadDesk {
  /** Asks again how the threads stand that the screen shows. */
  look(): Promise<void>;
  /** Opens the thread of a message. */
  open(message: string): Promise<void>;
  list(channel: string, only: ThreadFilter | null): Promise<void>;
  search(query: string): Promise<void>;
  /** Marks the thread of a message; answers what it came to. */
  mark(message: string, mark: MarkWord, note: string | null): Promise<string>;
}

const PAGE_THREADS = 100;
const PAGES_MAX = 5;
const PAGE_REPLIES = 500;
const FOUND_MAX = 100;
const DONE: Readonly<Record<MarkWord, string>> = {
  pin: 'pinned',
  unpin: 'not pinned',
  close: 'closed',
  reopen: 'open',
  resolve: 'resolved',
  unresolve: 'not resolved',
};

export function createThreadDesk(client: Client, store: Store): ThreadDesk {
  /** Until they are enough, or as many as one look is worth. */
  async function threadsOf(
    channel: string,
    only: ThreadFilter | null,
    isEnough: (rows: readonly Headline[]) => boolean,
  ): Promise<{ rows: readonly Headline[]; isWhole: boolean }> {
    const rows: Headline[] = [];
    let after: string | null = null;
    for (let page = 0; page < PAGES_MAX; page++) {
      const answer: CallOutput<'threads.list'> = await client.call('threads.list', {
        ...{ channel, limit: PAGE_THREADS },
        ...(only !== null && { state: only }),
        ...(after !== null && { after }),
      });
      rows.push(...answer.threads);
      after = answer.next;
      if (after === null || isEnough(rows)) break;
    }
    return { rows, isWhole: after === null };
  }

  /** As far back as the screen has the talk. */
  async function lookAtChannel(channel: string): Promise<void> {
    const first = findChannel(store.state(), channel)?.talk[0]?.sentAt ?? Number.MAX_VALUE;
    const { rows } = await threadsOf(channel, null, (some) => (some.at(-1)?.sent_at ?? 0) < first);
    store.dispatch({ type: 'threads', standings: standingsOf(rows) });
  }

  /** What is new in it; the whole of one that was not open. Ends when somebody turns away. */
  async function lookAtThread(root: string): Promise<void> {
    for (;;) {
      const { open } = store.state().threads;
      const last = open?.root === root ? open.replies.at(-1)?.id : undefined;
      const page = await client.call('threads.get', {
        ...{ message_id: root, limit: PAGE_REPLIES },
        ...(last !== undefined && { after: last }),
      });
      const { panel } = store.state();
      if (panel.kind !== 'thread' || panel.root !== root) return;
      store.dispatch({ type: 'thread', page });
      if (page.next === null || page.replies.length === 0) return;
    }
  }

  async function lookAtList({ of }: ListPanel, isFresh: boolean): Promise<boolean> {
    if (of === null) return true;
    const { rows, isWhole } = await threadsOf(
      of.channel,
      of.only,
      (some) => some.length >= PAGE_THREADS,
    );
    store.dispatch({ type: 'threads', standings: standingsOf(rows) });
    store.dispatch({ type: 'listed', choices: rows.map(choiceOf), isFresh });
    return isWhole;
  }

  async function look(): Promise<void> {
    const { focus, panel } = store.state();
    if (focus !== null) await lookAtChannel(focus);
    if (panel.kind === 'thread') await lookAtThread(panel.root);
    if (panel.kind === 'list') await lookAtList(panel, false);
  }

  return {
    look,
    async open(message) {
      const page = await client.call('threads.get', { message_id: message, limit: PAGE_REPLIES });
      const { panel, focus } = store.state();
      const { thread_id: root, channel } = page.thread;
      const from = panel.kind === 'list' ? panel : null;
      const isFollowed = findChannel(store.state(), channel) !== undefined;
      if (isFollowed && channel !== focus) store.dispatch({ type: 'focused', channel });
      const opened: ThreadPanel = { kind: 'thread', root, channel, from };
      store.dispatch({ type: 'opened', panel: opened });
      store.dispatch({ type: 'thread', page });
      if (page.next !== null) await lookAtThread(root);
    },
    async list(channel, only) {
      const words = only === null ? 'Threads' : `Threads, ${only}`;
      const panel: ListPanel = { kind: 'list', title: words, of: { channel, only } };
      const isWhole = await lookAtList(panel, true);
      const title = isWhole ? words : `${words}: the newest`;
      store.dispatch({ type: 'opened', panel: { ...panel, title } });
    },
    async search(query) {
      const answer = await client.call('search.messages', { query, limit: FOUND_MAX });
      const { messages, next, complete } = answer;
      const many = next === null ? String(messages.length) : `newest ${messages.length}`;
      const part = complete ? '' : ' (the index is being built)';
      const title = `Found ${many}: ${query}${part}`;
      store.dispatch({ type: 'listed', choices: messages.map(foundChoice), isFresh: true });
      store.dispatch({ type: 'opened', panel: { kind: 'list', title, of: null } });
    },
    async mark(message, mark, note) {
      const answer = await client.call('threads.mark', { message_id: message, mark, note });
      const { thread, changed } = answer;
      store.dispatch({
        type: 'threads',
        standings: new Map([[thread.thread_id, standingOf(thread)]]),
      });
      await look();
      return `${thread.thread_id} is ${DONE[mark]}${changed ? '' : ' already'}`;
    },
  };
}

function standingsOf(rows: readonly Headline[]): Map<string, ThreadStanding> {
  return new Map(rows.map((row) => [row.thread_id, standingOf(row)]));
}

function choiceOf(row: Headline): Choice {
  const words = [{ text: row.title ?? '(no text)', isFound: false }];
  return {
    ...{ id: row.thread_id, channel: row.channel, sender: row.sender },
    ...{ sentAt: row.sent_at, words },
  };
}

/** The excerpt, cut where what was found begins and ends. */
function foundChoice({ message_id: id, channel, sender, sent_at, excerpt, found }: Found): Choice {
  const words: { text: string; isFound: boolean }[] = [];
  let at = 0;
  for (const [from = 0, to = 0] of found) {
    words.push({ text: excerpt.slice(at, from), isFound: false });
    words.push({ text: excerpt.slice(from, to), isFound: true });
    at = to;
  }
  words.push({ text: excerpt.slice(at), isFound: false });
  return { id, channel, sender, sentAt: sent_at, words: words.filter(({ text }) => text !== '') };
}
