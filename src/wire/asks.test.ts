/** What a body asks of whom. */
import { expect, test } from 'vitest';
import { asksOf } from './asks.ts';

test.each<[string, unknown, object | null]>([
  ['nothing', { text: 'the build is green' }, null],
  ['a name', { text: 'look at this, @wes.' }, { names: ['wes'], isQuestion: false }],
  ['an addressee', { to: '@wes', n: 1 }, { names: ['wes'] }],
  ['a question', { question: 'Is it done?' }, { isQuestion: true, names: [] }],
  ['a reply', { text: 'done', wants_reply: true }, { wantsReply: true, noReply: false }],
  ['no reply', { text: 'Thanks, no reply needed' }, { noReply: true, wantsReply: false }],
  ['no reply, in a field', { text: 'ok', no_reply: true }, { noReply: true }],
])('[TN15] a body that asks for %s says so', (_, body, asks) => {
  if (asks === null) expect(asksOf(body)).toBeNull();
  else expect(asksOf(body)).toMatchObject(asks);
});

test('[TN15] what is found in a body is bounded', () => {
  const text = Array.from({ length: 500 }, (_, i) => `@agent-${i}`).join(' ');
  expect(asksOf({ text, to: 'x'.repeat(1_000) })?.names).toHaveLength(32);
});
