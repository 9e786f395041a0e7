/**
 * Goal: no history of events makes the enforcer nag, trap or forget.
 * Method: random events under random policies; what it said is checked against what happened.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_POLICY, type Policy } from '../../wire/policy.ts';
import {
  CADENCE_VERSION,
  type CadenceEvent,
  type CadenceOutcome,
  decide,
  initialCadence,
} from './cadence.ts';

const fields = fc.record({
  schema_version: fc.constant(CADENCE_VERSION),
  agent_id: fc.constant('ada'),
  timestamp: fc.nat(),
});
const event: fc.Arbitrary<CadenceEvent> = fc
  .tuple(
    fields,
    fc.oneof(
      fc.record({
        event_type: fc.constant('tool_used' as const),
        tool_name: fc.constantFrom('Bash', 'Edit', 'channels__send', 'mcp__synod__channels__recv'),
        metadata: fc.constantFrom({}, {}, {}, { failed: true }),
      }),
      fc.record({
        event_type: fc.constantFrom(
          ...(['channel_send', 'channel_recv', 'turn_started', 'turn_started'] as const),
        ),
        metadata: fc.constant({}),
      }),
      fc.record({
        event_type: fc.constant('stop_requested' as const),
        metadata: fc.constantFrom(
          {},
          { inbox_non_empty: true },
          { inbox_non_empty: true },
          { inbox_non_empty: false },
        ),
      }),
    ),
  )
  .map(([one, rest]) => ({ ...one, ...rest }));
const policy: fc.Arbitrary<Policy> = fc
  .record({
    reminder_threshold_tool_calls: fc.integer({ min: 1, max: 6 }),
    reminder_threshold_turns: fc.integer({ min: 1, max: 5 }),
    send_followed_by_idle_turns: fc.integer({ min: 1, max: 5 }),
    force_drain_on_stop: fc.boolean(),
    suspect_send_and_wait: fc.boolean(),
    stop_blocks_max: fc.integer({ min: 1, max: 7 }),
  })
  .map((some) => ({ ...DEFAULT_POLICY, ...some }));

type Step = CadenceOutcome & { readonly event: CadenceEvent };

function live(events: readonly CadenceEvent[], by: Policy): Step[] {
  let state = initialCadence('ada');
  return events.map((one) => {
    const outcome = decide(one, state, by);
    state = outcome.state;
    return { ...outcome, event: one };
  });
}

function everywhere(check: (steps: readonly Step[], by: Policy) => void): void {
  const events = fc.array(event, { maxLength: 120, size: 'max' });
  fc.assert(
    fc.property(events, policy, (some, by) => check(live(some, by), by)),
    { numRuns: 500 },
  );
}

const isCall = ({ event: { event_type } }: Step): boolean => event_type === 'tool_used';
const isDrain = ({ decision }: Step): boolean => decision.rule === 'drained';

test('[CD6] never two reminders without a tool call between', () => {
  everywhere((steps) => {
    let calls = 1;
    for (const step of steps) {
      if (isCall(step)) calls++;
      if (step.decision.action !== 'inject') continue;
      expect(calls).toBeGreaterThan(0);
      calls = 0;
    }
  });
});

test('[CD5] a reminder to drain, and a suspicion, repeat only after N calls or a drain', () => {
  everywhere((steps, by) => {
    const enough = by.reminder_threshold_tool_calls;
    let sinceAny = enough;
    let sinceSend = enough;
    for (const step of steps) {
      if (isCall(step)) {
        sinceAny++;
        sinceSend++;
      }
      if (isDrain(step)) sinceAny = sinceSend = enough;
      const { rule, action } = step.decision;
      if (rule === 'tool-calls' || rule === 'turns') {
        expect(sinceAny).toBeGreaterThanOrEqual(enough);
      }
      if (rule === 'send-and-wait') expect(sinceSend).toBeGreaterThanOrEqual(enough);
      if (action === 'inject') sinceAny = 0;
      if (rule === 'send-and-wait') sinceSend = 0;
    }
  });
});

test('[CD8] never more blocks in a row than the limit, whatever comes between', () => {
  everywhere((steps, by) => {
    let blocks = 0;
    for (const step of steps) {
      if (isDrain(step)) blocks = 0;
      if (step.event.event_type !== 'stop_requested') continue;
      blocks = step.decision.action === 'block' ? blocks + 1 : 0;
      expect(blocks).toBeLessThanOrEqual(by.stop_blocks_max);
    }
  });
});

test('[CD2] after every recv nothing is counted and nothing is held against the agent', () => {
  everywhere((steps) => {
    for (const { event: one, state, decision } of steps.filter(isDrain)) {
      expect(decision.action).toBe('noop');
      expect(state).toEqual({
        ...initialCadence('ada'),
        last_drain_ts: one.timestamp,
        last_send_ts: state.last_send_ts,
        tool_calls_since_reminder: state.tool_calls_since_reminder,
      });
      expect([null, 0]).toContain(state.tool_calls_since_reminder);
    }
    const isRecv = ({ event: one }: Step): boolean =>
      one.event_type === 'channel_recv' ||
      (one.event_type === 'tool_used' &&
        one.tool_name.endsWith('recv') &&
        one.metadata.failed !== true);
    expect(steps.filter(isRecv)).toEqual(steps.filter(isDrain));
  });
});

test('[CD11] the same question has the same answer, and nothing is changed in place', () => {
  everywhere((steps, by) => {
    let state = initialCadence('ada');
    for (const step of steps) {
      const frozen = Object.freeze({ ...state });
      const asked = Object.freeze({ ...step.event });
      const outcome = decide(asked, frozen, Object.freeze({ ...by }));
      expect(outcome).toEqual({ decision: step.decision, state: step.state });
      expect(outcome.decision.message === null).toBe(outcome.decision.action === 'noop');
      state = outcome.state;
    }
  });
});
