import { expect, test } from 'vitest';
import { billText, reasonText, stateText, type Turn, turnRow } from './turn-text.ts';

const TURN: Turn = {
  ...{ turn_id: 't1', agent_id: 'ada', state: 'done', runner: 'rule', epoch: 1, attempt: 1 },
  reason: { rule: 'wake', message_ids: ['m1', 'm2'], senders: ['bob', 'cy'], channels: ['team'] },
  ...{ failures: 0, after_restart: false, due_at: 100, taken_at: 100, taken_by: 'x' },
  ...{ lease_until: null, retry_at: null, ended_at: 160, sends: 1, pid: null, transcript: null },
  ...{
    note: null,
    cost: { usd: 0, tokens_in: 0, tokens_out: 0 },
    fruitless: false,
    traceparent: null,
  },
};

test('[CL35] a turn says why it began, what it cost and whether it did anything', () => {
  expect(reasonText(TURN)).toBe('m1 and 1 more of bob +1 on team');
  expect(stateText(TURN)).toBe('done, sent 1');
  expect(stateText({ ...TURN, sends: 0, fruitless: true })).toBe('done, read nothing');
  expect(stateText({ ...TURN, sends: 0, state: 'nothing' })).toBe('nothing');
  expect(billText(TURN.cost)).toBe('no cost told');
  expect(billText({ usd: 0.0123, tokens_in: 900, tokens_out: 100 })).toBe('$0.0123, 1000 tokens');
  expect(turnRow(TURN).slice(0, 2)).toEqual(['t1', 'ada']);
});
