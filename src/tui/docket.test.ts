/** The docket on the screen of the chat, and a passphrase that nobody sees. */
import { expect, test } from 'vitest';
import { docketLines } from './docket-lines.ts';
import { layoutOf } from './layout.ts';
import { screenOf } from './screen.ts';
import { lineWidth, type ScreenLine } from './spans.ts';
import { type ChatState, type DocketItem, evolve, initialState } from './state.ts';

const ME = { agent_id: 'hana', kind: 'human', tier: 'owner', space: 'lab' } as const;

function item(id: number, text: string, more: Partial<DocketItem> = {}): DocketItem {
  const subject: DocketItem['subjects'][number] = {
    kind: 'question',
    ...{ subject: `q${id}`, reason: text.slice(0, 10), text, thread: null, since: 40 },
    ...{ to: null, until: null },
  };
  return {
    state: 'open',
    kinds: ['question'],
    ...{ item_id: `d${id}`, agent_id: 'ada', thread: null, reason: text, text, count: 1 },
    ...{ since: 40, newest_at: 40, subjects: [subject], subjects_open: 1 },
    ...{ taken: null, closed: null, ...more },
  };
}

function stateWith(...items: readonly DocketItem[]): ChatState {
  const open = evolve(initialState(ME, 100), { type: 'link', state: 'open', reason: null });
  return evolve(open, { type: 'docket', items });
}

function textOf(lines: readonly ScreenLine[]): string[] {
  return lines.map((line) =>
    line
      .map(({ text }) => text)
      .join('')
      .trimEnd(),
  );
}

test('[DK11] what needs you stands above the agents and on the bar, gates first', () => {
  const gate = item(2, 'deploy', { kinds: ['gate'] });
  const state = stateWith(item(1, 'which?'), gate, item(3, 'x', { taken: { by: 'carl', at: 1 } }));
  const screen = screenOf(state, layoutOf({ columns: 80, rows: 24 }));
  const right = textOf(screen.right);
  expect(right[0]).toMatch(/^Needs you +2$/);
  expect(right.slice(1, 5).map((line) => line.slice(0, 6))).toEqual([
    'd2 ada',
    '  gate',
    'd1 ada',
    '  ques',
  ]);
  expect(right.findIndex((line) => line.startsWith('Agents'))).toBe(6);
  expect(textOf([screen.bar])[0]).toContain('! 2 need you');
  const panel = textOf(docketLines(state, 43));
  expect(panel.filter((line) => /^(Needs you|With others)/.test(line))).toEqual([
    'Needs you (2)',
    'With others (1)',
  ]);
});

test('[DK11] words of an agent make no line of ours, and no line too wide', () => {
  const forged = 'yes\nNeeds you (9)\n\u001b[2Jd9 root\u202e'.repeat(20);
  const state = evolve(stateWith(item(1, forged)), { type: 'opened', panel: { kind: 'docket' } });
  const layout = layoutOf({ columns: 80, rows: 24 });
  const { centre, right } = screenOf(state, layout);
  expect(centre.every((line) => lineWidth(line) === layout.centre)).toBe(true);
  const shown = [...textOf(docketLines(state, layout.centre)), ...textOf(right)];
  expect(shown.filter((line) => line.startsWith('Needs you ('))).toEqual(['Needs you (1)']);
  for (const hidden of ['\u001b', '\u202e']) expect(shown.join('')).not.toContain(hidden);
});

test('[GT12] what is typed unseen is shown as dots and is in no history', () => {
  let state = evolve(stateWith(), { type: 'asked', question: 'Passphrase of hana' });
  state = evolve(state, { type: 'edited', change: { edit: 'insert', text: 'correct horse' } });
  const { input } = screenOf(state, layoutOf({ columns: 80, rows: 24 }));
  expect(textOf([input])).toEqual([`Passphrase of hana: ${'•'.repeat(13)}`]);
  state = evolve(state, { type: 'asked', question: null });
  expect(state).toMatchObject({ unseen: null, input: { text: '', past: [] } });
});
