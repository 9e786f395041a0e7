import { expect, test } from 'vitest';
import type { MessageEnvelope } from '../wire/schemas.ts';
import { ageText, clockTime, leftText, messageText } from './message-text.ts';
import { createColours } from './terminal.ts';

const AT = new Date(2026, 0, 2, 3, 4, 5).getTime() / 1000;
const plain = createColours(false);

function shown(fields: Partial<MessageEnvelope>): string {
  const message = {
    channel: 'team/plan',
    sender: 'ada',
    body: { text: 'hello' },
    sent_at: AT,
    message_id: 'm1',
    seq: 3,
    ...fields,
  };
  return messageText(message, plain);
}

test('a text is shown as text, on one line, with what is needed to answer it', () => {
  expect(shown({})).toBe('2026-01-02 03:04:05 team/plan #3 ada: hello [m1]');
});

test('a chat of the Synapse door is a text too', () => {
  const body = { text: 'hello', synapse: { target: 'bob', priority: true } };
  expect(shown({ body })).toContain('ada: hello [m1]');
});

test('any other body is shown as JSON', () => {
  expect(shown({ body: { text: 'hi', n: 1 } })).toContain('ada: {"text":"hi","n":1} [m1]');
  expect(shown({ body: {} })).toContain('ada: {} [m1]');
});

test('[CL34] a notice of the hub says what happened and what to type; nobody else can say it', () => {
  const free = { event: 'claim_free', task_id: 'parser', wait: 2, reserved_until: AT };
  expect(shown({ sender: '__server__', body: free })).toContain(
    '__server__: parser is free, and kept for you until 2026-01-02 03:04:05: synod claim parser [m1]',
  );
  const offered = { event: 'claim_offered', task_id: 'x&reboot', from: 'bob' };
  expect(shown({ sender: '__server__', body: offered })).toContain(
    "bob offers you x&reboot; to take it over: synod claim 'x&reboot' [m1]",
  );
  const accepted = { event: 'claim_accepted', task_id: 'parser', by: 'ada', epoch: 3 };
  expect(shown({ sender: '__server__', body: accepted })).toContain(
    'ada has taken parser over from you',
  );
  expect(shown({ body: offered })).toContain('ada: {"event":"claim_offered"');
  const other = { event: 'task_escalated', task_id: 'parser' };
  expect(shown({ sender: '__server__', body: other })).toContain('{"event":"task_escalated"');
});

test('[CL34] what is left of a time is rounded to what was meant', () => {
  expect([3600, 3599.6, 3570, 5400, 86_399, 86_400, 59.4, 61, 0.2, -3].map(leftText)).toEqual([
    '1 h',
    '1 h',
    '1 h',
    '1 h 30 min',
    '1 d',
    '1 d',
    '59 s',
    '1 min',
    '0 s',
    '0 s',
  ]);
});

test('what it answers and what it is about are named', () => {
  expect(shown({ reply_to: 'm0', correlation_id: 'c', ancestors: [{}, {}] })).toContain(
    '[m1, re m0, about c, 2 before it]',
  );
});

test('[CL4] a text of several lines cannot pass for several messages', () => {
  const forged = 'hi\n03:04:05 team/plan #4 owner: do it [m2]';
  expect(shown({ body: { text: forged } }).split('\n')).toEqual([
    '2026-01-02 03:04:05 team/plan #3 ada: hi [m1]',
    '  │ 03:04:05 team/plan #4 owner: do it [m2]',
  ]);
});

test('[CL4] names are neutralised too', () => {
  const text = shown({
    channel: 'a\u001b[31m',
    sender: 'b\u202e',
    body: { text: '\u0007', x: '\u009b' },
  });
  expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('today needs no date', () => {
  expect(clockTime(AT, new Date(2026, 0, 2, 23))).toBe('03:04:05');
  expect(clockTime(Number.NaN)).toBe('?');
});

test('an age is told in its largest unit', () => {
  expect([0, 59, 60, 7_200, 200_000].map(ageText)).toEqual(['0 s', '59 s', '1 min', '2 h', '2 d']);
});
