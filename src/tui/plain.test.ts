import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cut, graphemes, plain, widthOf, wrap } from './plain.ts';

test('[TU1] no character that cannot be seen reaches the screen, of all there are', () => {
  const HIDDEN = /^[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]$/u;
  const hidden: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    const char = String.fromCodePoint(code);
    if (HIDDEN.test(char) === (plain(char) === char)) hidden.push(code.toString(16));
  }
  // Letters and symbols that are blank; those are written out as well.
  expect(hidden).toEqual(['2800', '13441', '13442', '1d159']);
});

test('[TU1] a joiner or a selector stays where it shapes what is before it, one at a time', () => {
  for (const text of ['👩\u200d💻', '❤\ufe0f', '🏳\ufe0f\u200d🌈', 'می\u200cخواهم', 'क्\u200dष']) {
    expect(plain(text)).toBe(text);
  }
  expect(plain('a\u200db')).toBe('a\\u{200d}b');
  expect(plain('👩\u200d')).toBe('👩\\u{200d}');
  expect(plain('❤\ufe0f\ufe0e\ufe0f')).toBe('❤\ufe0f\\u{fe0e}\\u{fe0f}');
  expect(plain('می\u200c\u200d')).toBe('می\u200c\\u{200d}');
});

test('[TU1] escape sequences, bells and reordering marks are shown, not obeyed', () => {
  expect(plain('\u001b[31mred\u0007\u202e')).toBe('\\u{1b}[31mred\\u{7}\\u{202e}');
  expect(plain('a\tb')).toBe('a    b');
  expect(plain('\u009b2J')).toBe('\\u{9b}2J');
});

test.each([
  ['abc', 3],
  ['日本', 4],
  ['é', 1],
  ['e\u0301', 1],
  ['👩‍👩‍👧', 2],
  ['✓★●', 3],
  ['', 0],
])('%s takes %i columns', (text, width) => {
  expect(widthOf(text)).toBe(width);
});

const anyText = fc.string({ unit: 'grapheme', maxLength: 80 }).map(plain);

test('a text that is cut never takes more room than there is', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 0, max: 40 }), (text, width) => {
      expect(widthOf(cut(text, width))).toBeLessThanOrEqual(width);
      if (widthOf(text) <= width) expect(cut(text, width)).toBe(text);
    }),
  );
});

test('wrapping keeps every character but the spaces at a break, and fits', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 2, max: 40 }), (text, width) => {
      const lines = wrap(text, width);
      for (const one of lines) expect(widthOf(one)).toBeLessThanOrEqual(width);
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
    }),
    {
      examples: [
        ['\u2003\u2003\u2003', 2],
        ['\u3000 \u3000', 2],
        ['\u00a0\u00a0\u00a0', 2],
      ],
    },
  );
});

test('words stay whole where they can', () => {
  expect(wrap('the build is red', 9)).toEqual(['the build', 'is red']);
  expect(wrap('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
  expect(graphemes('a👩‍👩‍👧b')).toHaveLength(3);
});
