import { expect, test } from 'vitest';
import { createMcpTools } from '../../wire/mcp/tools.ts';
import { operationList } from '../../wire/operations/table.ts';
import { briefAnswer, briefTools } from './brief.ts';

/** As the hub answers `recv`. */
const message = (sender: string, text: string, more: object = {}) => ({
  ...{ channel: 'team/plan', sender, body: { text }, sent_at: 1794778846.722, message_id: 'm17' },
  ...{ seq: 4, correlation_id: null, ts: 1794778846722000000, reply_to: null },
  ...{ delivered_to: ['codex'], origin_server: null, ancestors: null },
  _meta: {
    trace_id: '0f2b6a55-7d0e-4f6c-8d53-2f4c57c1d1aa-17',
    middleware_timings: [],
    server_node_id: '3b1e7b1e-9d0b-4a55-9d7c-8c1a7e0a7c11',
    standing: 'agent/trusted',
  },
  ...more,
});

test('[MC16] a message costs little more than what it says', () => {
  const whole = { drained_at: 1794778850.1, messages: [message('bob', 'The build is red.')] };
  const short = briefAnswer('recv', {}, whole, 'codex');
  expect(short).toEqual({
    messages: [
      {
        ...{ channel: 'team/plan', sender: 'bob', body: { text: 'The build is red.' } },
        ...{ sent_at: 1794778846.722, message_id: 'm17', standing: 'agent/trusted' },
      },
    ],
  });
  expect(JSON.stringify(short).length * 2).toBeLessThan(JSON.stringify(whole).length);
});

test('[MC16] own words are counted and not shown; what answers, leases and threads say stays', () => {
  const messages = [
    message('codex', 'mine'),
    message('bob', 'yes', { reply_to: 'm3', ancestors: [message('codex', 'may I?')] }),
  ];
  const short = briefAnswer('recv', {}, { messages, lease_until: 5 }, 'codex');
  expect(short).toMatchObject({ own_not_shown: 1, lease_until: 5 });
  expect(short.messages).toEqual([
    expect.objectContaining({
      reply_to: 'm3',
      ancestors: [expect.objectContaining({ body: { text: 'may I?' } })],
    }),
  ]);
  // Who it is only the hub knows: then nothing is left out.
  expect(briefAnswer('recv', {}, { messages }, null).messages).toHaveLength(2);
});

test('[MC16] a first subscription does not look like a failure, and a full queue is told', () => {
  const first = briefAnswer('subscribe', { pattern: 'team/plan' }, { subscribed: [] }, 'codex');
  expect(first).toMatchObject({ subscribed_to: 'team/plan' });
  const known = { subscribed: ['team/plan'] };
  expect(briefAnswer('subscribe', { pattern: 'team/*' }, known, 'codex')).toBe(known);
  const sent = { message_id: 'm1', seq: 1, sent_at: 1 };
  const calm = { queue_depth: 0, threshold: 9, state: 'ok' };
  expect(briefAnswer('send', {}, { ...sent, backpressure: calm }, 'codex')).toEqual({
    message_id: 'm1',
    seq: 1,
  });
  const full = { ...calm, state: 'over' };
  expect(briefAnswer('send', {}, { ...sent, backpressure: full }, 'codex')).toMatchObject({
    backpressure: full,
  });
});

test('[MC16] a shortened answer is held to no schema, and the others keep theirs', () => {
  const listed = createMcpTools(operationList).list('core');
  if (!Array.isArray(listed)) throw new Error('no tools');
  const brief = briefTools(listed);
  const without = brief.filter(({ outputSchema }) => outputSchema === undefined);
  expect(without.map(({ name }) => name).sort()).toEqual([
    'channels__recv',
    'channels__send',
    'channels__subscribe',
  ]);
});
