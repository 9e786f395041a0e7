import { expect, test } from 'vitest';
import { isRefusal } from '../core/law/decider.ts';
import { parseSearch } from './search-query.ts';
import { placedWords, WORD_CHARS_MAX, wordsOf } from './words.ts';

const word = (text: string, isBeginning = false): object => ({
  words: text.split(' '),
  isBeginning,
});

test('[FT2] a line is words, phrases, beginnings, what is left out, who and where', () => {
  const line =
    'Parser "two words" src/main.ts tok* "a b"* -old -"very old" from:ada in:"my channel"';
  expect(parseSearch(line)).toEqual({
    wanted: [
      word('parser'),
      word('two words'),
      word('src main ts'),
      word('tok', true),
      word('a b', true),
    ],
    unwanted: [word('old'), word('very old')],
    author: 'ada',
    channel: 'my channel',
  });
  expect(parseSearch('', { author: 'ada' })).toMatchObject({ wanted: [], author: 'ada' });
  expect(isRefusal(parseSearch('from:ada', { author: 'bob' }))).toBe(true);
});

test.each([
  ['', 'has no word'],
  ['-without', 'has no word'],
  ['***', 'has no word'],
  ['"open', 'not closed'],
  ['x from:', 'names nothing after from:'],
  ['in: room x', 'names nothing after in:'],
  ['x -from:ada', 'cannot leave out by from'],
  ['x in:a in:b', 'twice'],
  ['x '.repeat(33), '33 words'],
  ['x'.repeat(1_001), '1001 characters'],
])('[FT2] %j is refused with what to write instead', (line, why) => {
  expect(parseSearch(line)).toMatchObject({
    refused: 'search.query-invalid',
    message: expect.stringContaining(why),
  });
});

test('[FT2] words have neither case nor accents, and scripts without spaces give a word a character', () => {
  expect(wordsOf('Naïve CAFÉ, snake_case; ½ ﬁne Ⅷ')).toEqual([
    'naive',
    'cafe',
    'snake',
    'case',
    '12',
    'fine',
    'viii',
  ]);
  expect(wordsOf('東京タワー abc')).toEqual(['東', '京', 'タ', 'ワ', 'ー', 'abc']);
  expect(wordsOf('हिन्दी संस्कृत')).toEqual(['हिन्दी', 'संस्कृत']);
  expect(wordsOf('a\u0000b\u202ec')).toEqual(['a', 'b', 'c']);
  expect(wordsOf('x'.repeat(100_000))).toEqual(['x'.repeat(WORD_CHARS_MAX)]);
  expect([...placedWords('é—Zwei')]).toEqual([
    { word: 'e', from: 0, to: 1 },
    { word: 'zwei', from: 2, to: 6 },
  ]);
});
