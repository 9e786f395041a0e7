import { expect, test } from 'vitest';
import { type Agent, amountText, budgetsOf, lastSignOf, type Managed, rosterOf } from './roster.ts';

const agent = (
  id: string,
  state: Agent['state'],
  evidence: Partial<Agent['evidence']> = {},
): Agent => ({
  ...{ agent_id: id, project: null, roles: [], state, since: 1, note: null, claims: 0, owed: 0 },
  evidence: {
    ...{ connections: 0, last_heartbeat: null, last_call: null, last_operation: null },
    ...{ last_hook: null, process: null },
    ...evidence,
  },
});
const managed = (id: string, state: Managed['state'], fields: Partial<Managed> = {}): Managed => ({
  ...{ agent_id: id, state, runner: {}, session: 'resume', tools: null, since: 1, reason: null },
  wake: { channels: null, from: null, kinds: null, min_tier: null },
  ...{ limits: {}, turn_id: null, next_look_at: null, pending: 0, turns: 0, session_ref: null },
  cost: { usd: 0, tokens_in: 0, tokens_out: 0 },
  day: { turns: 3, wall_ms: 90_000, usd: 0.5, tokens: 12_000 },
  ...{ managed_at: 1, managed_by: 'mia' },
  ...fields,
});

test('who waits for a person comes first, and a turn says more than a socket', () => {
  const groups = rosterOf(
    [
      agent('idle', 'idle'),
      agent('stuck', 'blocked'),
      agent('run', 'connected'),
      agent('off', 'gone'),
    ],
    [managed('run', 'busy'), managed('off', 'asleep'), managed('lost', 'parked')],
  );
  expect(groups.map(({ title, rows }) => [title, rows.map(({ id }) => id)])).toEqual([
    ['Wait for a person', ['lost', 'stuck']],
    ['Working', ['run']],
    ['Here', ['idle']],
    ['Managed, asleep', ['off']],
  ]);
});

test('the last sign of life is the newest of all', () => {
  expect(lastSignOf(agent('a', 'idle'))).toBe(null);
  expect(lastSignOf(agent('a', 'idle', { last_call: 5, last_heartbeat: 9 }))).toBe(9);
});

test('budgets are shown where there is a limit, in words that fit on a line', () => {
  const limits = { day_usd: 2, day_tokens: null, turns_per_day: 200, day_wall_ms: 14_400_000 };
  const budgets = budgetsOf(managed('a', 'asleep', { limits }));
  expect(budgets.map(({ name, spent, limit }) => [name, spent, limit])).toEqual([
    ['money today', 0.5, 2],
    ['turns today', 3, 200],
    ['running today', 90_000, 14_400_000],
  ]);
  expect([amountText(0.5, 'usd'), amountText(90_000, 'ms'), amountText(14_400_000, 'ms')]).toEqual([
    '$0.50',
    '2 min',
    '4 h',
  ]);
  expect([amountText(12_345, 'tokens'), amountText(3, 'turns')]).toEqual(['12 k', '3']);
});
