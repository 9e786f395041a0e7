import { expect, test } from 'vitest';
import { parseDurationMs, parseObject, parseWhole } from './parse-value.ts';

test('a duration is seconds, or a number with its unit', () => {
  const given = ['30', '1.5', '500ms', '5m', '2h', '7d', ' 3s '];
  expect(given.map((text) => parseDurationMs(text, '--ttl'))).toEqual([
    30_000, 1_500, 500, 300_000, 7_200_000, 604_800_000, 3_000,
  ]);
});

test.each(['', 'soon', '-1', '1w', '1e3', '5 m 3'])('the duration %j is a usage error', (text) => {
  expect(() => parseDurationMs(text, '--ttl')).toThrow('--ttl must be seconds');
});

test('a whole number is one', () => {
  expect([parseWhole('0', '--max'), parseWhole('-1', '--max')]).toEqual([0, -1]);
  expect(() => parseWhole('1.5', '--max')).toThrow('--max must be a whole number; found 1.5');
});

test('an input is a JSON object and nothing else', () => {
  expect(parseObject('{"a":1}', 'the body')).toEqual({ a: 1 });
  for (const text of ['[1]', 'null', '"x"']) {
    expect(() => parseObject(text, 'the body')).toThrow('the body must be a JSON object');
  }
  expect(() => parseObject('{', 'the body')).toThrow('the body is not JSON');
});
