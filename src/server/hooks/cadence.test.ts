import { expect, test } from 'vitest';
import { DEFAULT_POLICY, type Policy } from '../../wire/policy.ts';
import { isRecvTool, toolNameFor, VENDORS } from '../../wire/tool-names.ts';
import {
  CADENCE_VERSION,
  type CadenceEvent,
  type CadenceState,
  decide,
  initialCadence,
} from './cadence.ts';

const fields = { schema_version: CADENCE_VERSION, agent_id: 'ada', timestamp: 7 } as const;
const tool = (tool_name = 'Bash', metadata = {}): CadenceEvent => ({
  ...fields,
  event_type: 'tool_used',
  tool_name,
  metadata,
});
const plain = (
  event_type: Exclude<CadenceEvent['event_type'], 'tool_used'>,
  metadata: Record<string, unknown> = {},
): CadenceEvent => ({ ...fields, event_type, metadata });
const [send, recv, turn] = (['channel_send', 'channel_recv', 'turn_started'] as const).map((one) =>
  plain(one),
) as [CadenceEvent, CadenceEvent, CadenceEvent];
const stop = (inbox_non_empty?: unknown): CadenceEvent =>
  plain('stop_requested', inbox_non_empty === undefined ? {} : { inbox_non_empty });
const state = (more: Partial<CadenceState> = {}): CadenceState => ({
  ...initialCadence('ada'),
  ...more,
});

/** The rules that spoke, event by event. */
function told(events: readonly CadenceEvent[], policy: Partial<Policy> = {}): string[] {
  let now = initialCadence('ada');
  return events.map((event) => {
    const outcome = decide(event, now, { ...DEFAULT_POLICY, ...policy });
    now = outcome.state;
    return outcome.decision.rule;
  });
}
const times = (count: number, event: CadenceEvent): CadenceEvent[] => Array(count).fill(event);

test('[CD1] the fifth tool call without a drain brings the text of the policy, as it is', () => {
  const table = [
    [0, 'noop'],
    [3, 'noop'],
    [4, 'inject'],
    [40, 'inject'],
  ] as const;
  for (const [calls, action] of table) {
    const { decision } = decide(tool(), state({ tool_calls_since_drain: calls }), DEFAULT_POLICY);
    expect(decision.action).toBe(action);
    expect(decision.message).toBe(action === 'noop' ? null : DEFAULT_POLICY.reminder_text_drain);
    expect(decision.schema_version).toBe('1.0');
    expect(decision.reason).toContain(`${calls + 1} of 5 tool calls`);
  }
  const early = told([tool(), tool()], { reminder_threshold_tool_calls: 2 });
  expect(early).toEqual(['quiet', 'tool-calls']);
});

test('[CD2] a recv resets, seen as a tool under any name of it or told by the hub', () => {
  const names = [
    ...VENDORS.map((vendor) => toolNameFor(vendor, 'channels__recv')),
    'channels__recv',
    'mcp__sox__channels__recv',
    'mcp__plugin_synod_synod__channels__recv',
  ];
  expect(names.slice(0, 4)).toEqual([
    'mcp__synod__channels__recv',
    'mcp__synod__channels__recv',
    'mcp_synod_channels__recv',
    'synod_channels__recv',
  ]);
  const tired = state({
    tool_calls_since_drain: 30,
    turns_since_last_drain: 9,
    sends_since_last_drain: 4,
    last_send_ts: 3,
    tool_calls_since_reminder: 2,
    tool_calls_since_send_reminder: 1,
    stop_blocks_in_a_row: 3,
    has_given_up: true,
  });
  for (const event of [recv, ...names.map((name) => tool(name))]) {
    const outcome = decide(event, tired, DEFAULT_POLICY);
    expect(outcome.state).toEqual(state({ last_drain_ts: 7, last_send_ts: 3 }));
    expect(outcome.decision).toMatchObject({ action: 'noop', rule: 'drained', message: null });
  }
});

test('[CD2] what only looks like a recv, or failed, is a tool call like any other', () => {
  const others = [
    'mcp__slack__channels__recv',
    'my_channels__recv',
    'mcp__synodic__channels__recv',
    'mcp__synod__channels__recv2',
    'mcp__synod__channels__send',
    'Bash',
  ];
  for (const name of others) {
    expect(isRecvTool(name), name).toBe(false);
    const next = decide(tool(name), state(), DEFAULT_POLICY).state;
    expect(next.tool_calls_since_drain).toBe(1);
  }
  const failed = decide(tool('channels__recv', { failed: true }), state(), DEFAULT_POLICY);
  expect(failed.state).toEqual(state({ tool_calls_since_drain: 1 }));
});

test('[CD3] the third turn without a drain brings the same text', () => {
  expect(told(times(3, turn))).toEqual(['quiet', 'quiet', 'turns']);
  expect(told([turn, turn, recv, turn, turn])).not.toContain('turns');
  const { decision } = decide(turn, state({ turns_since_last_drain: 2 }), DEFAULT_POLICY);
  expect(decision.message).toBe(DEFAULT_POLICY.reminder_text_drain);
});

test('[CD4] sending again after idle turns is suspected of waiting; the first send never', () => {
  const table: readonly (readonly [Partial<CadenceState>, Partial<Policy>, string])[] = [
    [{ sends_since_last_drain: 0, turns_since_last_drain: 9 }, {}, 'quiet'],
    [{ sends_since_last_drain: 1, turns_since_last_drain: 2 }, {}, 'quiet'],
    [{ sends_since_last_drain: 1, turns_since_last_drain: 3 }, {}, 'send-and-wait'],
    [
      { sends_since_last_drain: 1, turns_since_last_drain: 3 },
      { suspect_send_and_wait: false },
      'quiet',
    ],
    [
      { sends_since_last_drain: 1, turns_since_last_drain: 3 },
      { send_followed_by_idle_turns: 4 },
      'quiet',
    ],
  ];
  for (const [before, policy, rule] of table) {
    const outcome = decide(send, state(before), { ...DEFAULT_POLICY, ...policy });
    expect(outcome.decision.rule).toBe(rule);
    expect(outcome.state.last_send_ts).toBe(7);
    expect(outcome.state.sends_since_last_drain).toBe((before.sends_since_last_drain ?? 0) + 1);
    if (rule === 'send-and-wait') {
      expect(outcome.decision.message).toBe(DEFAULT_POLICY.reminder_text_send_and_wait);
    }
  }
});

test('[CD4] with the defaults of SOX the suspicion can be heard although the turn was reminded', () => {
  expect(told([send, turn, turn, turn, tool(), send])).toEqual([
    ...['quiet', 'quiet', 'quiet', 'turns', 'quiet', 'send-and-wait'],
  ]);
  expect(told([send, turn, turn, turn, send]).at(-1)).toBe('cooling-down');
  const again = told([send, turn, turn, turn, tool(), send, tool(), send]);
  expect(again.at(-1)).toBe('cooling-down');
});

test('[CD5] after a reminder the next one to drain comes after as many calls again', () => {
  const rules = told(times(15, tool()));
  expect(rules.flatMap((rule, at) => (rule === 'tool-calls' ? [at + 1] : []))).toEqual([5, 10, 15]);
  const turns = told([...times(10, turn), ...times(5, tool())]);
  expect(turns.filter((rule) => rule === 'turns')).toHaveLength(1);
  expect(turns.at(-1)).toBe('tool-calls');
});

test('[CD7] a stop is blocked while something is owed, by the peek if there was one', () => {
  const sent = { sends_since_last_drain: 1 };
  const table: readonly (readonly [
    CadenceEvent,
    Partial<CadenceState>,
    Partial<Policy>,
    string,
  ])[] = [
    [stop(true), {}, {}, 'block'],
    [stop(false), sent, {}, 'noop'],
    [stop(), sent, {}, 'block'],
    [stop(), {}, {}, 'noop'],
    [stop('yes'), {}, {}, 'noop'],
    [stop(null), sent, {}, 'block'],
    [stop(true), sent, { force_drain_on_stop: false }, 'noop'],
  ];
  for (const [event, before, policy, action] of table) {
    const { decision } = decide(event, state(before), { ...DEFAULT_POLICY, ...policy });
    expect(decision.action).toBe(action);
    expect(decision.message).toBe(
      action === 'block' ? DEFAULT_POLICY.reminder_text_drain_on_stop : null,
    );
  }
});

test('[CD8] the fourth stop in a row goes through and says why; reading makes it start again', () => {
  const four = times(4, stop(true));
  expect(told(four)).toEqual([...times(3, stop()).map(() => 'stop-blocked'), 'stop-given-up']);
  expect(told([...four, recv, stop(true)]).at(-1)).toBe('stop-blocked');
  expect(told([...four, stop(false), stop(true)]).at(-1)).toBe('stop-blocked');
  expect(told([stop(true), stop(true)], { stop_blocks_max: 1 }).at(-1)).toBe('stop-given-up');
  const last = decide(stop(true), state({ stop_blocks_in_a_row: 3 }), DEFAULT_POLICY);
  expect(last.decision).toMatchObject({ action: 'noop', message: null });
  expect(last.decision.reason).toContain('gave up: the stop was blocked 3 times in a row');
});

test('[CD8] tools and turns between do not make the row longer, a turn after giving up ends it', () => {
  // Gemini begins a turn of its own with our reason as its prompt.
  const retry = [stop(true), turn, tool(), stop(true), turn, stop(true), turn, stop(true)];
  expect(told(retry).filter((rule) => rule === 'stop-blocked')).toHaveLength(3);
  expect(told(retry).at(-1)).toBe('stop-given-up');
  expect(told([...retry, stop(true), turn, stop(true)]).slice(-3)).toEqual([
    'stop-given-up',
    'cooling-down',
    'stop-blocked',
  ]);
});
