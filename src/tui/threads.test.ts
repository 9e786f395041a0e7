/** Threads on the screen of the chat: how they stand, one alone, and lists to choose from. */
import { expect, test } from 'vitest';
import { layoutOf } from './layout.ts';
import { screenOf } from './screen.ts';
import { lineWidth, type ScreenLine } from './spans.ts';
import { type ChatEvent, type ChatState, evolve, initialState, type Panel } from './state.ts';
import type { Said } from './talk.ts';
import type { Choice, ThreadEvent } from './threads.ts';

const ME = { agent_id: 'ada', kind: 'human', tier: 'owner', space: 'lab' } as const;
const LAYOUT = layoutOf({ columns: 80, rows: 24 });
const LIST: Panel = { kind: 'list', title: 'Threads', of: { channel: 'room', only: null } };
const THREAD: Panel = { kind: 'thread', root: 'm1', channel: 'room', from: null };

type Page = Extract<ThreadEvent, { type: 'thread' }>['page'];

function after(...events: readonly ChatEvent[]): ChatState {
  const joined: ChatEvent = { type: 'channels', joined: ['room'], others: [] };
  return [joined, ...events].reduce(evolve, initialState(ME, 100));
}

function said(seq: number, text: string, replyTo: string | null = null): Said {
  return { id: `m${seq}`, channel: 'room', seq, sender: 'bob', sentAt: seq, replyTo, text };
}

function paged(seq: number, text: string, replyTo: string | null = null): Page['replies'][number] {
  return {
    ...{ message_id: `m${seq}`, channel: 'room', seq, sender: 'bob', sent_at: seq },
    ...{ body: { text }, reply_to: replyTo },
  };
}

function page(replies: Page['replies'], marks: Page['marks'] = []): Page {
  const closed = null;
  return {
    thread: {
      ...{ thread_id: 'm1', channel: 'room', state: 'open', resolved: false, pinned: true },
      ...{ version: marks.length, closed, reply_count: replies.length },
    },
    ...{ root: paged(1, 'which shape?'), replies, next: null, marks, marks_next: null },
  };
}

function mark(word: Page['marks'][number]['mark'], at: number, note: string | null = null) {
  return { mark: word, by: 'eve', standing: 'human', at, note, version: 1 };
}

function choice(id: string, text = 'words'): Choice {
  const words = [{ text, isFound: false }];
  return { id, channel: 'room', sender: 'bob', sentAt: 1, words };
}

function textOf(lines: readonly ScreenLine[]): string {
  return lines.map((line) => line.map(({ text }) => text).join('')).join('\n');
}

const shown = (state: ChatState): string => textOf(screenOf(state, LAYOUT).centre);

test('[TU12] a first message shows how many answered and how its thread is marked, in words', () => {
  const standing = { replies: 2, isPinned: true, isClosed: true, isResolved: true };
  const talk = after({ type: 'said', messages: [said(1, 'which shape?'), said(2, 'round', 'm1')] });
  expect(shown(talk)).not.toMatch(/repl|pinned/);
  const told = evolve(talk, { type: 'threads', standings: new Map([['m1', standing]]) });
  expect(shown(told)).toMatch(
    /which shape\? +m1 *\n {2}2 replies {2}▲ pinned {2}closed {2}resolved *\n {2}↳ m1 bob: which/,
  );
  // Told the same again, nothing is laid out again.
  const again = evolve(told, { type: 'threads', standings: new Map([['m1', { ...standing }]]) });
  expect(again).toBe(told);
  const open = { ...standing, isPinned: false, isClosed: false, isResolved: false, replies: 1 };
  const left = evolve(told, { type: 'threads', standings: new Map([['m1', open]]) });
  expect(shown(left)).toMatch(/\n {2}1 reply *\n/);
});

test('[TU12] a thread alone is root, replies and marks as they came, each with its author and note', () => {
  const replies = [paged(3, 'round', 'm1'), paged(9, 'why?', 'm3')];
  const told = page(replies, [mark('close', 8, 'settled'), mark('pin', 2)]);
  const state = after({ type: 'opened', panel: THREAD }, { type: 'thread', page: told });
  expect(shown(state)).toMatch(
    /^room: thread m1 {2}▲ pinned[\s\S]*which shape\?[\s\S]*eve ▲ pinned it[\s\S]*round[\s\S]*eve closed it[^\n]*\n {4}│ settled *\n[\s\S]*↳ m3 bob: round *\n +why\? +m9/,
  );
  expect(textOf([screenOf(state, LAYOUT).status])).toMatch(/What you type answers it/);
  // A page that comes twice, or goes on from where the last one ended, is shown once.
  const more = evolve(state, { type: 'thread', page: page([paged(9, 'why?'), paged(12, 'so')]) });
  expect(more.threads.open?.replies.map(({ id }) => id)).toEqual(['m3', 'm9', 'm12']);
});

test('[TU1] [TU12] a note and a name make no line of ours, and no line too wide', () => {
  const forged = 'ok\neve ▲ pinned it\n\u001b[2J\u202e'.repeat(20);
  const told = page([paged(3, forged, 'm1')], [{ ...mark('close', 8, forged), by: forged }]);
  const thread = after({ type: 'opened', panel: THREAD }, { type: 'thread', page: told });
  const choices = [{ ...choice('m1', forged), sender: forged, channel: forged }];
  const list = after({ type: 'opened', panel: LIST }, { type: 'listed', choices, isFresh: true });
  for (const state of [thread, list]) {
    const { centre } = screenOf(state, LAYOUT);
    expect(centre.every((line) => lineWidth(line) === LAYOUT.centre)).toBe(true);
    expect(textOf(centre)).not.toMatch(/^ *eve/m);
    for (const hidden of ['\u001b', '\u202e']) expect(textOf(centre)).not.toContain(hidden);
  }
});

test('[TU12] what is chosen stays chosen when the list changes, and is always in sight', () => {
  const many = Array.from({ length: 60 }, (_, i) => choice(`m${i + 1}`));
  const list = after(
    { type: 'opened', panel: LIST },
    { type: 'listed', choices: many, isFresh: true },
  );
  expect(shown(list)).toMatch(/\n> m1 bob/);
  const down = evolve(list, { type: 'chosen', by: 40 });
  expect(shown(down)).toMatch(/\n> m41 bob/);
  const choices = [choice('m99'), ...many];
  const changed = evolve(down, { type: 'listed', choices, isFresh: false });
  expect(shown(changed)).toMatch(/\n> m41 bob/);
  expect(shown(evolve(changed, { type: 'chosen', by: 500 }))).toMatch(/\n> m60 bob/);
  expect(evolve(changed, { type: 'listed', choices, isFresh: true }).threads.at).toBe(0);
});
