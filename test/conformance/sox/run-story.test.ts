/**
 * A wrong answer fails a fixture.
 *
 * The stories here are told to scripted doors inside this process, only to prove
 * that the judge can say no; conformance itself is never shown this way.
 */

import { describe, expect, test } from 'vitest';

import { type Check, faultsOf } from './checks.ts';
import type { Answer, Door } from './door.ts';
import { FIXTURES } from './fixtures.ts';
import { journalFaults, runStory } from './run-story.ts';
import type { Operation, Story } from './story.ts';

const SENT_AT = 1_800_000_000.5;

function fixture(id: string): Story {
  const story = FIXTURES.find((one) => one.id === id);
  if (story === undefined) throw new Error(`no fixture ${id}`);
  return story;
}

const message = (more: Record<string, unknown> = {}) => ({
  channel: 'test:basic',
  sender: 'agent-a',
  body: { type: 'status_update', subject: 'hello world' },
  sent_at: SENT_AT,
  message_id: 'm1',
  seq: 1,
  correlation_id: 'corr-001',
  ...more,
});

const sent = {
  sent_at: SENT_AT,
  message_id: 'm1',
  seq: 1,
  backpressure: { queue_depth: 0, threshold: 1000, state: 'ok' },
};

/** A door that answers each operation with its next scripted answer. */
function scripted(script: Partial<Record<Operation, readonly Partial<Answer>[]>>): Door {
  const queues = new Map(Object.entries(script).map(([op, answers]) => [op, [...answers]]));
  return {
    async call({ op }) {
      const answer = queues.get(op)?.shift() ?? { output: { subscribed: [] } };
      return { isError: false, output: {}, ...answer };
    },
    async close() {},
  };
}

const basic = (recv: Record<string, unknown>, send: Partial<Answer> = { output: sent }) =>
  runStory(
    fixture('SOX-48'),
    scripted({ send: [send], recv: [{ output: { drained_at: SENT_AT, ...recv } }] }),
  );

test('[SOX-48] the right answers pass', async () => {
  await basic({ messages: [message()] });
});

describe('[SOX-48] a wrong answer fails', () => {
  test.for([
    ['nothing delivered', { messages: [] }],
    ['delivered twice', { messages: [message(), message({ message_id: 'm2', seq: 2 })] }],
    ['another sender', { messages: [message({ sender: 'agent-b' })] }],
    ['another body', { messages: [message({ body: { type: 'status_update', subject: 'hi' } })] }],
    ['a body with more in it', { messages: [message({ body: { ...message().body, x: 1 } })] }],
    ['another message', { messages: [message({ message_id: 'm9' })] }],
    ['a field SOX does not name', { messages: [message({ secret: true })] }],
    ['a missing required field', { messages: [message({ sent_at: undefined })] }],
    ['an answer with an extra field', { messages: [message()], more: 1 }],
  ] as const)('%s', async ([_why, recv]) => {
    await expect(basic(recv)).rejects.toThrow(/recv-1|01-send-and-drain/u);
  });

  test('a refusal where success is due', async () => {
    const refusal = { isError: true, output: { error_code: 'internal_error', message: 'no' } };
    await expect(basic({ messages: [message()] }, refusal)).rejects.toThrow(/send-1\n {2}refused/u);
  });
});

describe('[SOX-10] a refusal is judged too', () => {
  const refused = (answer: Partial<Answer>) =>
    runStory(fixture('SOX-10'), scripted({ send: [answer] }));

  test('the right one passes', async () => {
    const output = { error_code: 'identity_failure', message: 'not a party of this channel' };
    await refused({ isError: true, output });
  });
  test.for([
    ['success', { output: sent }],
    ['another code', { isError: true, output: { error_code: 'internal_error', message: 'no' } }],
    ['an unknown code', { isError: true, output: { error_code: 'DM_DENIED', message: 'no' } }],
    ['no message', { isError: true, output: { error_code: 'identity_failure', message: '' } }],
    [
      'a leaked field',
      { isError: true, output: { error_code: 'identity_failure', message: 'no', stack: 'at' } },
    ],
  ] as const)('%s fails', async ([_why, answer]) => {
    await expect(refused(answer)).rejects.toThrow('third-party-send-dm');
  });
});

test('[SOX-50] the meta block must be there when asked for, and the key gone when not', async () => {
  const meta = { trace_id: 't', middleware_timings: ['auth:2ms'], server_node_id: 'n' };
  const tell = (first: unknown, second: Record<string, unknown>) =>
    runStory(
      fixture('SOX-50'),
      scripted({
        send: [{ output: sent }, { output: { ...sent, seq: 2, message_id: 'm2' } }],
        recv: [
          {
            output: { drained_at: 1, messages: [message({ channel: 'test:meta', _meta: first })] },
          },
          {
            output: {
              drained_at: 1,
              messages: [message({ channel: 'test:meta', seq: 2, message_id: 'm2', ...second })],
            },
          },
        ],
      }),
    );
  await tell(meta, {});
  await expect(tell(null, {})).rejects.toThrow('recv-with-meta');
  await expect(tell({ ...meta, middleware_timings: [] }, {})).rejects.toThrow('recv-with-meta');
  await expect(tell({ ...meta, middleware_timings: ['auth'] }, {})).rejects.toThrow('timings');
  await expect(tell(meta, { _meta: null })).rejects.toThrow('recv-without-meta');
});

test('[SOX-36] a call must bring the trace that its step asks for', async () => {
  const output = { error_code: 'internal_error', message: 'internal error' };
  const tell = (trace: unknown) =>
    runStory(fixture('SOX-36'), scripted({ send: [{ isError: true, output, trace }] }));
  const entry = (plugin_id: string, verdict: string) => ({
    ...{ plugin_id, verdict, kind: 'builtin', correlation_id: 'c' },
    ...{ started_at: 1, finished_at: 2 },
  });
  await tell([entry('auth', 'continue'), entry('org.acme.violating', 'error')]);
  await expect(tell(undefined)).rejects.toThrow('trace');
  await expect(tell([entry('auth', 'continue')])).rejects.toThrow('trace');
  await expect(
    tell([
      entry('auth', 'continue'),
      entry('org.acme.violating', 'error'),
      entry('store_dispatch', 'continue'),
    ]),
  ).rejects.toThrow('store_dispatch');
});

describe('each check can fail', () => {
  const answers = new Map<string, Record<string, unknown>>([
    ['sent', { message_id: 'm9' }],
    ['empty', { messages: [] }],
    ['two', { messages: [message({ seq: 2 }), message({ seq: 1, sent_at: SENT_AT - 1 })] }],
    ['refused', { error_code: 'internal_error', message: 'no' }],
  ]);
  const failing: readonly Check[] = [
    { check: 'no_loss', step: 'empty', min: 1 },
    { check: 'no_loss', step: 'refused', min: 0 },
    { check: 'independent_delivery', step: 'empty', min: 1 },
    { check: 'no_duplication', step: 'two' },
    { check: 'no_redelivery', step: 'two' },
    { check: 'no_redelivery', step: 'never-told' },
    { check: 'received_count', step: 'two', min: 1, max: 1 },
    { check: 'received_count', step: 'two', min: 3, max: 3 },
    { check: 'ordering', step: 'two', channel: 'test:basic', by: 'seq' },
    { check: 'ordering', step: 'two', channel: 'test:basic', by: 'sent_at' },
    { check: 'ordering', step: 'two', channel: 'test:other', by: 'seq' },
    { check: 'body_seq_ascending', step: 'two', field: 'n' },
    { check: 'body_seq_ascending', step: 'empty', field: 'n' },
    { check: 'no_channel_leak', step: 'two', channel: 'test:basic' },
    { check: 'all_channels_match_pattern', step: 'two', pattern: 'team/*' },
    { check: 'all_receivers_got_message', sent: 'sent', steps: ['two'] },
    { check: 'all_receivers_got_message', sent: 'empty', steps: ['two'] },
    { check: 'all_writers_represented', step: 'two', field: 'writer', writers: ['w1'] },
    { check: 'message_id_present', step: 'two', sent: 'sent' },
  ];
  test.for(failing)('$check of $step', (check) => {
    expect(faultsOf(check, answers)).not.toEqual([]);
  });
});

describe('what plugins wrote', () => {
  const wanted = ['made', 'send', 'recv', 'ended'];

  test.each([
    ['at one server', [wanted]],
    [
      'at two, each with its own beginning and end',
      [
        ['made', 'recv', 'ended'],
        ['made', 'send', 'ended'],
      ],
    ],
  ])('is as wanted %s', (_, journals) => {
    expect(journalFaults(wanted, journals)).toEqual([]);
  });

  test.each([
    ['a line less', [['made', 'send', 'ended']]],
    ['a line more', [['made', 'send', 'recv', 'recv', 'ended']]],
    ['another order', [['made', 'recv', 'send', 'ended']]],
    [
      'a call at two servers of three',
      [
        ['made', 'send', 'recv', 'ended'],
        ['made', 'recv', 'ended'],
        ['made', 'ended'],
      ],
    ],
    [
      'a call at none',
      [
        ['made', 'send', 'ended'],
        ['made', 'ended'],
      ],
    ],
    ['a stranger', [['made', 'send', 'recv', 'ended'], ['other']]],
  ])('with %s is a fault', (_, journals) => {
    expect(journalFaults(wanted, journals)).toHaveLength(1);
  });
});
