/**
 * The seven scenarios: longer stories, told over MCP by tool name.
 *
 * The writers of S4 really write at the same time; the published one takes turns.
 * What a scenario calls `schema_valid` holds for every answer of every story here.
 */

import { ANY_NUMBER, ANY_TEXT, anyOrder, captured, type Expected, verbatim } from './match.ts';
import { type CallStep, type Story, status } from './story.ts';

const SENT: Expected = { sent_at: ANY_NUMBER, message_id: ANY_TEXT };

const send = (
  id: string,
  as: string,
  channel: string,
  body: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): CallStep => ({ id, as, op: 'send', input: { channel, body, ...more }, expect: SENT });

const recv = (
  id: string,
  as: string,
  messages: Expected,
  input: Readonly<Record<string, unknown>> = {},
): CallStep => ({ id, as, op: 'recv', input, expect: { drained_at: ANY_NUMBER, messages } });

const WRITERS = ['w1', 'w2', 'w3', 'w4', 'w5'];
const ROUNDS = [1, 2, 3, 4];
const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth'];

export const SCENARIOS: readonly Story[] = [
  {
    id: 'SOX-S1',
    category: 'scenarios',
    name: '01-send-and-recv',
    agents: ['agent-alpha', 'agent-beta'],
    subscribe: [['agent-beta', 'ticket:test-01']],
    steps: [
      send('send-1', 'agent-alpha', 'ticket:test-01', status('hello from alpha'), {
        correlation_id: 'corr-01',
      }),
      recv('recv-1', 'agent-beta', [
        {
          channel: 'ticket:test-01',
          sender: 'agent-alpha',
          correlation_id: 'corr-01',
          body: verbatim(status('hello from alpha')),
          message_id: captured('send-1', 'message_id'),
          sent_at: captured('send-1', 'sent_at'),
        },
      ]),
    ],
    checks: [{ check: 'no_loss', step: 'recv-1', min: 1 }],
  },
  {
    id: 'SOX-S2',
    category: 'scenarios',
    name: '02-group-broadcast',
    agents: ['agent-alpha', 'agent-beta', 'agent-gamma', 'agent-delta'],
    subscribe: [
      ['agent-beta', 'broadcast:group-02'],
      ['agent-gamma', 'broadcast:group-02'],
      ['agent-delta', 'broadcast:group-02'],
    ],
    steps: [
      send('send-1', 'agent-alpha', 'broadcast:group-02', status('broadcast to all')),
      recv('recv-beta', 'agent-beta', [{ channel: 'broadcast:group-02' }]),
      recv('recv-gamma', 'agent-gamma', [{ channel: 'broadcast:group-02' }]),
      recv('recv-delta', 'agent-delta', [{ channel: 'broadcast:group-02' }]),
    ],
    checks: [
      {
        check: 'all_receivers_got_message',
        sent: 'send-1',
        steps: ['recv-beta', 'recv-gamma', 'recv-delta'],
      },
      { check: 'no_duplication', step: 'recv-beta' },
    ],
  },
  {
    id: 'SOX-S3',
    category: 'scenarios',
    name: '03-subscription-glob',
    agents: ['agent-alpha', 'agent-beta'],
    subscribe: [['agent-beta', 'ticket:proj-*']],
    steps: [
      send('send-matching-1', 'agent-alpha', 'ticket:proj-001', status('one')),
      send('send-matching-2', 'agent-alpha', 'ticket:proj-002', status('two')),
      send('send-non-matching', 'agent-alpha', 'broadcast:announcements', status('three')),
      recv(
        'recv-1',
        'agent-beta',
        anyOrder({ channel: 'ticket:proj-001' }, { channel: 'ticket:proj-002' }),
      ),
    ],
    checks: [
      { check: 'received_count', step: 'recv-1', min: 2, max: 2 },
      { check: 'no_channel_leak', step: 'recv-1', channel: 'broadcast:announcements' },
      { check: 'all_channels_match_pattern', step: 'recv-1', pattern: 'ticket:proj-*' },
    ],
  },
  {
    id: 'SOX-S4',
    category: 'scenarios',
    name: '04-concurrent-writers',
    agents: ['agent-reader', ...WRITERS.map((writer) => `agent-${writer}`)],
    subscribe: [['agent-reader', 'task:concurrent-04']],
    steps: [
      {
        id: 'all-at-once',
        together: WRITERS.flatMap((writer) =>
          ROUNDS.map((round) =>
            send(`send-${writer}-${round}`, `agent-${writer}`, 'task:concurrent-04', {
              ...status(`${writer} msg ${round}`),
              writer,
              seq: round,
            }),
          ),
        ),
      },
      recv(
        'recv-all',
        'agent-reader',
        Array.from({ length: 20 }, (_none, at) => ({ seq: at + 1 })),
        { max_messages: 100 },
      ),
    ],
    checks: [
      { check: 'no_loss', step: 'recv-all', min: 20 },
      { check: 'no_duplication', step: 'recv-all' },
      { check: 'all_writers_represented', step: 'recv-all', field: 'writer', writers: WRITERS },
    ],
  },
  {
    id: 'SOX-S5',
    category: 'scenarios',
    name: '05-per-channel-ordering',
    agents: ['agent-alpha', 'agent-beta'],
    subscribe: [['agent-beta', 'ticket:order-05']],
    steps: [
      ...ORDINALS.map((ordinal, at) =>
        send(`send-${at + 1}`, 'agent-alpha', 'ticket:order-05', {
          ...status(`${ordinal} message`),
          seq: at + 1,
        }),
      ),
      recv(
        'recv-1',
        'agent-beta',
        ORDINALS.map((_ordinal, at) => ({ seq: at + 1, body: { seq: at + 1 } })),
        { max_messages: 100 },
      ),
    ],
    checks: [
      { check: 'ordering', step: 'recv-1', channel: 'ticket:order-05', by: 'sent_at' },
      { check: 'no_loss', step: 'recv-1', min: 5 },
      { check: 'body_seq_ascending', step: 'recv-1', field: 'seq' },
    ],
  },
  {
    id: 'SOX-S6',
    category: 'scenarios',
    name: '06-listener-buffering',
    agents: ['agent-alpha', 'agent-beta'],
    subscribe: [['agent-beta', 'ticket:buffer-06']],
    steps: [
      send('send-1', 'agent-alpha', 'ticket:buffer-06', status('buffered message')),
      { id: 'wait-for-buffer', sleepMs: 500 },
      recv('recv-1', 'agent-beta', [
        { channel: 'ticket:buffer-06', body: verbatim(status('buffered message')) },
      ]),
    ],
    checks: [
      { check: 'no_loss', step: 'recv-1', min: 1 },
      { check: 'message_id_present', step: 'recv-1', sent: 'send-1' },
    ],
  },
  {
    id: 'SOX-S7',
    category: 'scenarios',
    name: '07-recv-atomicity',
    agents: ['agent-alpha', 'agent-beta', 'agent-gamma'],
    subscribe: [
      ['agent-beta', 'ticket:atom-07'],
      ['agent-gamma', 'ticket:atom-07'],
    ],
    steps: [
      send('send-1', 'agent-alpha', 'ticket:atom-07', status('atomic message')),
      { id: 'wait-for-buffer', sleepMs: 500 },
      recv('recv-beta-first', 'agent-beta', [{ channel: 'ticket:atom-07' }]),
      recv('recv-beta-second', 'agent-beta', []),
      recv('recv-gamma', 'agent-gamma', [{ channel: 'ticket:atom-07' }]),
    ],
    checks: [
      { check: 'no_redelivery', step: 'recv-beta-second' },
      { check: 'independent_delivery', step: 'recv-gamma', min: 1 },
      { check: 'no_loss', step: 'recv-beta-first', min: 1 },
      { check: 'message_id_present', step: 'recv-beta-first', sent: 'send-1' },
      { check: 'message_id_present', step: 'recv-gamma', sent: 'send-1' },
    ],
  },
];
