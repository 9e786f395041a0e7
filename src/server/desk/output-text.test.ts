/** Outputs made as text: the doors take the text, everybody else sees an output. */
import { expect, test } from 'vitest';
import { outputFromText, outputText } from './output-text.ts';

const TEXT = '{"messages":[{"n":1}], "has_more":false}';
const page = () =>
  outputFromText<{ messages: object[]; has_more: boolean }>(TEXT, ['messages', 'has_more']);

test('[O1] an output made as text is written as that text, and read as what it says', () => {
  expect(outputText(page())).toBe(TEXT);
  expect(page()).toEqual({ messages: [{ n: 1 }], has_more: false });
  expect(JSON.stringify(page())).toBe(JSON.stringify(JSON.parse(TEXT)));
});

test('[O1] a copy that was changed is written as it is now', () => {
  expect(outputText({ ...page(), has_more: true })).toBe('{"messages":[{"n":1}],"has_more":true}');
  expect(outputText({ plain: 1 })).toBe('{"plain":1}');
});
