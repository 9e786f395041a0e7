import type { Key } from 'node:readline';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Edit, editLine, INPUT_CHARS_MAX, NO_INPUT, sendLine } from './input-line.ts';
import { actionsOf } from './keys.ts';
import { graphemes } from './plain.ts';

function typed(...changes: Edit[]) {
  return changes.reduce(editLine, NO_INPUT);
}

const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ edit: fc.constant('insert' as const), text: fc.string({ unit: 'grapheme' }) }),
  fc.record({
    edit: fc.constantFrom<Exclude<Edit['edit'], 'insert' | 'set'>>(
      ...(['backspace', 'delete', 'left', 'right', 'home', 'end', 'word-back'] as const),
      ...(['kill-left', 'kill-right', 'older', 'newer', 'clear'] as const),
    ),
  }),
);

test('from wherever the cursor is, both ends are reached step by step, and nothing is torn apart', () => {
  fc.assert(
    fc.property(fc.array(anyEdit, { maxLength: 25 }), (changes) => {
      let line = typed(...changes);
      expect(line.text.isWellFormed()).toBe(true);
      const { text } = line;
      const steps = graphemes(text).length + 1;
      for (let i = 0; i < steps; i++) line = editLine(line, { edit: 'left' });
      expect(line.cursor).toBe(0);
      for (let i = 0; i < steps; i++) {
        line = editLine(line, { edit: 'right' });
        expect(text.slice(0, line.cursor).isWellFormed()).toBe(true);
      }
      expect(line).toMatchObject({ text, cursor: text.length });
    }),
  );
});

test('a character of several parts is one to delete and one to step over', () => {
  expect(typed({ edit: 'insert', text: 'a👩‍👩‍👧' }, { edit: 'backspace' }).text).toBe('a');
  expect(typed({ edit: 'insert', text: '日本' }, { edit: 'left' }).cursor).toBe(1);
});

test('words and halves of the line are deleted as in a shell', () => {
  const line: Edit = { edit: 'insert', text: 'one two  ' };
  expect(typed(line, { edit: 'word-back' }).text).toBe('one ');
  expect(typed(line, { edit: 'home' }, { edit: 'kill-right' }).text).toBe('');
  expect(typed(line, { edit: 'kill-left' }).text).toBe('');
});

test('the line has a bound', () => {
  const { text } = typed({ edit: 'insert', text: 'x'.repeat(INPUT_CHARS_MAX + 10) });
  expect(text).toHaveLength(INPUT_CHARS_MAX);
});

test('what was sent comes back with Up, and an empty line with Down', () => {
  const sent = sendLine(typed({ edit: 'insert', text: 'one' }));
  const again = sendLine(editLine(sent, { edit: 'insert', text: 'two' }));
  const up = editLine(editLine(again, { edit: 'older' }), { edit: 'older' });
  expect(up.text).toBe('one');
  expect(editLine(up, { edit: 'newer' }).text).toBe('two');
  expect(typed({ edit: 'older' }).text).toBe('');
});

const key = (sequence: string, more: Partial<Key> = {}): Key => ({ sequence, ...more });

test('a key is what it is called; what has no name and no text does nothing', () => {
  expect(actionsOf(key('\r', { name: 'return' }))).toEqual([{ do: 'enter' }]);
  expect(actionsOf(key('\u0003', { name: 'c', ctrl: true }))).toEqual([{ do: 'quit' }]);
  expect(actionsOf(key('\u001b[Z', { name: 'tab', shift: true }))).toEqual([
    { do: 'complete', step: -1 },
  ]);
  for (const nothing of ['\u001a', '\u001b[I', '\u001b[<0;1;1M', '']) {
    expect(actionsOf(key(nothing))).toEqual([]);
  }
  const insert = (text: string) => [{ do: 'edit', change: { edit: 'insert', text } }];
  for (const text of ['x', 'é', '👍', '\n']) expect(actionsOf(key(text))).toEqual(insert(text));
});

test('[TU9] what is typed right after Escape is not lost, also where both come in one piece', () => {
  const insert = (text: string) => ({ do: 'edit', change: { edit: 'insert', text } });
  expect(actionsOf(key('\u001b', { name: 'escape', meta: true }))).toEqual([{ do: 'back' }]);
  expect(actionsOf(key('\u001b/', { meta: true }))).toEqual([{ do: 'back' }, insert('/')]);
  expect(actionsOf(key('\u001bw', { name: 'w', meta: true }))).toEqual([
    { do: 'back' },
    insert('w'),
  ]);
});
