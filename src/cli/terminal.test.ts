import { describe, expect, test } from 'vitest';
import { columns, createColours, jsonText, neutralise, wantsColours } from './terminal.ts';

describe('neutralise', () => {
  test.each([
    ['escape sequence', '\u001b[2J', '\\u{1b}[2J'],
    ['one-character CSI', '\u009b31m', '\\u{9b}31m'],
    ['bell and backspace', 'a\u0007\u0008', 'a\\u{7}\\u{8}'],
    ['carriage return', 'safe\revil', 'safe\\u{d}evil'],
    ['line break', 'one\ntwo', 'one\\ntwo'],
    ['right-to-left override', '\u202egnp.exe', '\\u{202e}gnp.exe'],
    ['hidden tag characters', 'x\u{e0041}', 'x\\u{e0041}'],
    ['line separator', 'a\u2028b', 'a\\u{2028}b'],
    ['lone surrogate', 'a\ud800b', 'a\\u{d800}b'],
  ])('[CL4] a peer’s %s is shown, not obeyed', (_, text, shown) => {
    expect(neutralise(text)).toBe(shown);
  });

  test('ordinary text of any script, and joined emoji, stay as they are', () => {
    const text = 'Grüße, 世界 \t 👩\u200d💻 می\u200cخواهم';
    expect(neutralise(text)).toBe(text);
  });
});

describe('jsonText', () => {
  test('[CL4] is the same value, without a raw control character', () => {
    const value = { text: 'a\u001b[2J\u009b\u202e\u2028\u{e0041}é👩', deep: [1, null, '\n'] };
    const text = jsonText(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u);
    expect(jsonText(value, 2).split('\n').length).toBeGreaterThan(3);
    expect(JSON.parse(jsonText(value, 2))).toEqual(value);
  });
});

test('colours need a terminal and no NO_COLOR', () => {
  expect(wantsColours({ isTTY: true }, {})).toBe(true);
  expect(wantsColours({ isTTY: true }, { NO_COLOR: '1' })).toBe(false);
  expect(wantsColours({ isTTY: true }, { NO_COLOR: '' })).toBe(true);
  expect(wantsColours({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
  expect(wantsColours({}, {})).toBe(false);
  expect(createColours(false).name('ada')).toBe('ada');
  expect(createColours(true).name('ada')).toBe('\u001b[36mada\u001b[39m');
});

test('columns line up, and cells are neutralised', () => {
  expect(
    columns([
      ['a', 'x', 'end'],
      ['long', 'y\n', ''],
    ]),
  ).toEqual(['a     x    end', 'long  y\\n']);
});

test('a row whose last cells are empty ends with its last word', () => {
  const rows = [
    ['ada', 'consumed', '', ''],
    ['bob', 'refused', 'full', ''],
  ];
  expect(columns(rows)).toEqual(['ada  consumed', 'bob  refused   full']);
});
