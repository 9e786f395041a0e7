/** The matcher says no: each of these would be waved through by a lenient one. */

import { describe, expect, test } from 'vitest';

import {
  ABSENT,
  ANY_LIST,
  ANY_NUMBER,
  ANY_OBJECT,
  ANY_TEXT,
  all,
  anyOrder,
  captured,
  containing,
  type Expected,
  each,
  inOrder,
  lacking,
  mentioning,
  mismatches,
  NOTHING,
  text,
  verbatim,
  violationsNaming,
} from './match.ts';

const captures = new Map([['send-1', { message_id: 'm1', seq: null }]]);
const agrees = (expected: Expected, actual: unknown) =>
  mismatches(expected, actual, captures).length === 0;

const REFUSED: readonly (readonly [why: string, expected: Expected, actual: unknown])[] = [
  ['an empty list is not any list', { messages: [] }, { messages: [{ seq: 1 }] }],
  ['a list is not a prefix', [1], [1, 2]],
  ['a list is not a superset', [1, 2], [1]],
  ['a list is in order', [1, 2], [2, 1]],
  ['a list is no object', [], {}],
  ['an object is no list', {}, []],
  ['an object is not null', {}, null],
  ['a named field must be there', { seq: 1 }, {}],
  ['a number is not its text', { seq: 1 }, { seq: '1' }],
  ['null is not absent', { _meta: ABSENT }, { _meta: null }],
  ['undefined counts as there', { _meta: ABSENT }, { _meta: undefined }],
  ['something is not nothing', { ancestors: NOTHING }, { ancestors: [] }],
  ['empty text is no text', ANY_TEXT, ''],
  ['NaN is no number', ANY_NUMBER, Number.NaN],
  ['a numeral is no number', ANY_NUMBER, '1'],
  ['a list is no object', ANY_OBJECT, []],
  ['an object is no list', ANY_LIST, {}],
  ['text must look right', text(/^\d+ms$/u), 'fast'],
  ['a capture must be equal', captured('send-1', 'message_id'), 'm2'],
  ['a null capture is missing', captured('send-1', 'seq'), null],
  ['an unknown capture is missing', captured('send-2', 'message_id'), undefined],
  ['verbatim allows no more', verbatim({ a: 1 }), { a: 1, b: 2 }],
  ['every one of none proves nothing', each(ANY_TEXT), []],
  ['every one must match', each(ANY_NUMBER), [1, 'two']],
  ['all must match', all(ANY_TEXT, text(/b/u)), 'a'],
  ['what is contained must be there', containing({ seq: 2 }), [{ seq: 1 }]],
  ['what is lacking must not be there', lacking({ name: 'x' }), [{ name: 'x', count: 1 }]],
  ['what lacks must be a list', lacking({ name: 'x' }), undefined],
  ['an order is an order', inOrder({ id: 'a' }, { id: 'b' }), [{ id: 'b' }, { id: 'a' }]],
  ['any order is still exactly these', anyOrder(1, 2), [1, 2, 3]],
  ['any order counts repeats', anyOrder(1, 2), [1, 1]],
  ['what is mentioned must be said', mentioning('field'), { issue: 'other' }],
  ['violations have two fields', violationsNaming('x'), [{ field: 'x' }]],
  ['violations name the culprit', violationsNaming('x'), [{ field: 'y', issue: 'bad' }]],
];

describe('the matcher refuses', () => {
  test.for(REFUSED)('%s', ([_why, expected, actual]) => {
    expect(mismatches(expected, actual, captures)).not.toEqual([]);
  });
});

describe('the matcher agrees', () => {
  test('an object holds at least what is expected', () => {
    expect(agrees({ a: 1, b: { c: ANY_TEXT } }, { a: 1, b: { c: 'x', d: 2 }, e: 3 })).toBe(true);
  });
  test('lists, captures and absences', () => {
    expect(agrees([], [])).toBe(true);
    expect(agrees({ id: captured('send-1', 'message_id'), gone: ABSENT }, { id: 'm1' })).toBe(true);
    expect(agrees({ a: NOTHING, b: NOTHING }, { a: null })).toBe(true);
  });
  test('lists by their members', () => {
    expect(agrees(each({ a: ANY_NUMBER }), [{ a: 1 }, { a: 2 }])).toBe(true);
    expect(agrees(all(ANY_LIST, containing(2), lacking(3), inOrder(1, 2)), [1, 5, 2])).toBe(true);
    expect(agrees(violationsNaming('x'), [{ field: '<root>', issue: 'unknown key x' }])).toBe(true);
  });
  test('any order pairs up even when the first choice is the wrong one', () => {
    expect(agrees(anyOrder(ANY_OBJECT, { a: 1 }), [{ a: 1 }, { b: 2 }])).toBe(true);
  });
});

test('a mismatch names its path and both sides', () => {
  expect(mismatches({ messages: [{ seq: 2 }] }, { messages: [{ seq: 3 }] })).toEqual([
    'answer.messages[0].seq: wanted 2, got 3',
  ]);
});
