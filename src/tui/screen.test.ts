import fc from 'fast-check';
import { expect, test } from 'vitest';
import { layoutOf } from './layout.ts';
import { screenOf, scrollMaxOf } from './screen.ts';
import { lineWidth, type ScreenLine } from './spans.ts';
import {
  type AgentRow,
  type ChatState,
  type ClaimRow,
  evolve,
  initialState,
  type TaskRow,
} from './state.ts';
import type { Said } from './talk.ts';

const ME = { agent_id: 'ada', kind: 'agent', tier: 'trusted', space: 'lab' } as const;

function agent(name: string, state: AgentRow['state'], note: string | null = null): AgentRow {
  const evidence = {
    connections: 1,
    last_heartbeat: null,
    last_call: null,
    last_operation: null,
    last_hook: null,
    process: null,
  };
  return {
    agent_id: name,
    project: null,
    roles: [],
    state,
    since: 1,
    note,
    evidence,
    claims: 0,
    owed: 0,
  };
}

function stateWith(messages: readonly Said[], agents: readonly AgentRow[] = []): ChatState {
  const listed = evolve(initialState(ME, 100), {
    type: 'channels',
    joined: ['room'],
    others: ['x'],
  });
  const people = evolve(listed, { type: 'agents', agents });
  return evolve(people, { type: 'said', messages });
}

function said(seq: number, text: string, sender = 'bob', replyTo: string | null = null): Said {
  return { id: `m${seq}`, channel: 'room', seq, sender, sentAt: seq, replyTo, text };
}

function textOf(lines: readonly ScreenLine[]): string {
  return lines
    .map((line) =>
      line
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    )
    .join('\n');
}

test.each([
  [140, true, true],
  [80, true, true],
  [71, true, false],
  [48, true, false],
  [47, false, false],
])('[TU2] %i columns: channels %s, agents %s', (columns, hasLeft, hasRight) => {
  const layout = layoutOf({ columns, rows: 24 });
  expect([layout.left > 0, layout.right > 0]).toEqual([hasLeft, hasRight]);
  expect(layout.centre).toBeGreaterThanOrEqual(30);
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme' }),
);
const anySaid = fc
  .array(fc.tuple(anyText, anyText), { maxLength: 12 })
  .map((pairs) => pairs.map(([text, sender], i) => said(i + 1, text, sender, i > 2 ? 'm1' : null)));
const anySize = fc.record({
  columns: fc.integer({ min: 1, max: 160 }),
  rows: fc.integer({ min: 1, max: 50 }),
});
const panel = fc.constantFrom('talk' as const, 'claims' as const, 'who' as const, 'help' as const);

test('[TU1] [TU2] whatever was said, by whomever, every line fits and holds nothing a terminal obeys', () => {
  fc.assert(
    fc.property(anySaid, anySize, panel, anyText, (messages, size, kind, note) => {
      const told = stateWith(messages, [agent(note, 'blocked', note), agent('ada', 'idle')]);
      const state = evolve(told, { type: 'opened', panel: { kind } });
      const layout = layoutOf(size);
      const screen = screenOf(state, layout);
      const panels = [
        [screen.left, layout.left],
        [screen.centre, layout.centre],
        [screen.right, layout.right],
        [[screen.bar, screen.status, screen.input], layout.columns],
      ] as const;
      for (const [lines, width] of panels) {
        for (const one of lines) expect(lineWidth(one)).toBe(width);
      }
      expect(screen.centre).toHaveLength(layout.body);
      const all = panels.map(([lines]) => textOf(lines)).join('');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
      expect(all).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }),
  );
});

test('an answer shows what it answers, and my message what became of it', () => {
  const talk = [said(1, 'is it red?'), said(2, 'fixed', 'ada', 'm1')];
  const state = evolve(stateWith(talk), {
    type: 'receipts',
    seen: [
      { message: 'm2', agent: 'bob', state: 'consumed' },
      { message: 'm2', agent: 'eve', state: 'consumed' },
      { message: 'm2', agent: 'max', state: 'acted' },
    ],
  });
  const lines = textOf(screenOf(state, layoutOf({ columns: 80, rows: 24 })).centre);
  expect(lines).toMatch(/↳ m1 bob: is it red\?\n {4}fixed +●2★ m2/);
});

test('whoever waits for a person comes first, with the question', () => {
  const people = [agent('zoe', 'busy'), agent('max', 'gone'), agent('eve', 'blocked', 'May I?')];
  const { right } = screenOf(stateWith([], people), layoutOf({ columns: 80, rows: 24 }));
  expect(textOf(right).split('\n').slice(1, 5)).toEqual([
    expect.stringMatching(/^! eve +asks$/),
    '  May I?',
    expect.stringMatching(/^● zoe +working$/),
    expect.stringMatching(/^ {2}max +gone$/),
  ]);
});

test('the end of a long talk is the same whether all of it is laid out or only the end', () => {
  const talk = Array.from({ length: 300 }, (_, i) =>
    said(i + 1, `number ${i + 1} `.repeat((i % 5) + 1)),
  );
  const layout = layoutOf({ columns: 80, rows: 24 });
  const state = stateWith(talk);
  const most = scrollMaxOf(state, layout);
  expect(most).toBeGreaterThan(300);
  const up = evolve(state, { type: 'scrolled', by: 1, most });
  const end = textOf(screenOf(state, layout).centre).split('\n');
  const before = textOf(screenOf(up, layout).centre).split('\n');
  expect(before.slice(2)).toEqual(end.slice(1, -1));
  const top = evolve(state, { type: 'scrolled', by: most, most });
  expect(textOf(screenOf(top, layout).centre)).toContain('number 1 ');
});

test('a narrow terminal names what is unread below the talk', () => {
  const joined = evolve(stateWith([]), {
    type: 'channels',
    joined: ['room', 'dm/ada~bob'],
    others: [],
  });
  const state = evolve(joined, { type: 'owed', channels: new Map([['dm/ada~bob', 3]]) });
  expect(textOf([screenOf(state, layoutOf({ columns: 40, rows: 12 })).status])).toBe(
    'unread: @bob 3',
  );
});

test('[TU11] what is on its way stands under my own name', () => {
  const heard = stateWith([said(99, 'hello')]);
  const sending = { key: 1, channel: 'room', text: 'on its way', replyTo: null };
  const screen = screenOf(
    evolve(heard, { type: 'sending', sending }),
    layoutOf({ columns: 140, rows: 20 }),
  );
  expect(textOf(screen.centre)).toMatch(
    /bob[^\n]*\n {2}hello[^\n]*\nada \(you\)[^\n]*\n {2}on its way/,
  );
  const mine = evolve(stateWith([said(99, 'mine', 'ada')]), { type: 'sending', sending });
  const going = textOf(screenOf(mine, layoutOf({ columns: 140, rows: 20 })).centre);
  expect(going.match(/ada \(you\)/g)).toHaveLength(1);
});

test('[TU10] a tall window shows claims, the queue and the plan; a low one keeps to the agents', () => {
  const claim = { task_id: 'auth-7', owner: 'bob', lease_expires_at: 160 } as ClaimRow;
  const task = { task_id: 'docs-2', status: 'open', ready: true, claim: null } as TaskRow;
  const wait = {
    agent_id: 'eve',
    task_id: 'auth-7',
    since: 40,
    reserved: false,
    waits_for: ['bob'],
  };
  const busy = evolve(stateWith([], [agent('bob', 'busy')]), {
    ...{ type: 'work', claims: [claim], waits: [wait], tasks: [task] },
  });
  const right = (rows: number) => textOf(screenOf(busy, layoutOf({ columns: 140, rows })).right);
  expect(right(40)).toMatch(
    /bob[\s\S]*Claims +1\n {2}auth-7 +bob 1m[\s\S]*Queue +1 wait\n {2}auth-7 +eve 1m/,
  );
  expect(right(40)).toMatch(/Plan +1 open\n {2}docs-2 +ready/);
  expect(right(12)).not.toMatch(/Claims/);
});

test('[TU10] a slash lists the commands it may become, and what Tab has chosen stands out', () => {
  const typed = (text: string) =>
    evolve(stateWith([]), { type: 'edited', change: { edit: 'insert', text } });
  const layout = layoutOf({ columns: 140, rows: 24 });
  const list = textOf(screenOf(typed('/cl'), layout).centre);
  expect(list).toMatch(/\n {2}\/claims +who holds what/);
  expect(textOf(screenOf(typed('//cl'), layout).centre)).not.toMatch(/claims/);
  expect(textOf(screenOf(typed('/join x'), layout).centre)).not.toMatch(/follow a channel/);
  const choices = { before: '', after: '', words: ['/join', '/leave'], at: 1 };
  const chosen = evolve(typed('/'), {
    type: 'completed',
    to: { text: '/leave', cursor: 6, choices },
  });
  const inverse = screenOf(chosen, layout)
    .centre.flat()
    .filter((one) => one.inverse);
  expect(inverse.map(({ text }) => text.trim())).toEqual(['/leave [CHANNEL]']);
});

test('[TU12] a refusal too long for the status line is told whole above it', () => {
  const text = `not sent: ${'the hub says so, '.repeat(9)}and that is all`;
  const notice = { text, isProblem: true };
  const state = evolve(stateWith([said(1, 'hello')]), { type: 'noticed', notice });
  const layout = layoutOf({ columns: 80, rows: 24 });
  const words = textOf(screenOf(state, layout).centre).replace(/\s+/g, ' ');
  expect(words).toMatch(/hello.*not sent: .*and that is all$/);
  const wide = screenOf(state, layoutOf({ columns: 240, rows: 24 }));
  expect(textOf(wide.centre)).not.toContain('not sent');
  expect(textOf([wide.status])).toBe(text);
});
