/**
 * The enforcer: when an agent is reminded to read its inbox, and when it may not stop yet.
 *
 * A pure function in the words of SOX: no clock, no I/O, nothing is changed in place. A real recv
 * resets everything, whichever way it was seen [CD2]; no two reminders without a tool call between
 * them [CD6]; a stop is never blocked without end [CD8]. The texts come from the policy as they are.
 */
import { unreachable } from '../../core/law/assert.ts';
import type { Policy } from '../../wire/policy.ts';
import { isRecvTool } from '../../wire/tool-names.ts';

export const CADENCE_VERSION = '1.0';

interface EventFields {
  readonly schema_version: typeof CADENCE_VERSION;
  readonly agent_id: string;
  /** Unix seconds. */
  readonly timestamp: number;
  /** Known: `inbox_non_empty` with a stop, `failed` with a tool call that came to nothing. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export type CadenceEvent =
  | (EventFields & { readonly event_type: 'tool_used'; readonly tool_name: string })
  | (EventFields & {
      readonly event_type: 'channel_send' | 'channel_recv' | 'turn_started' | 'stop_requested';
    });

export interface CadenceState {
  readonly schema_version: typeof CADENCE_VERSION;
  readonly agent_id: string;
  readonly tool_calls_since_drain: number;
  readonly last_drain_ts: number | null;
  readonly last_send_ts: number | null;
  readonly sends_since_last_drain: number;
  readonly turns_since_last_drain: number;
  /** Null: none was given since the last drain. Ours, like those below. */
  readonly tool_calls_since_reminder: number | null;
  readonly tool_calls_since_send_reminder: number | null;
  readonly stop_blocks_in_a_row: number;
  /** A stop was let through although something was owed. */
  readonly has_given_up: boolean;
}

export type CadenceRule =
  | 'quiet'
  | 'drained'
  | 'tool-calls'
  | 'turns'
  | 'send-and-wait'
  | 'cooling-down'
  | 'stop-blocked'
  | 'stop-given-up';

export interface CadenceDecision {
  readonly schema_version: typeof CADENCE_VERSION;
  readonly action: 'noop' | 'inject' | 'block';
  /** Null exactly for `noop`. */
  readonly message: string | null;
  readonly reason: string;
  /** Which rule spoke; for programs, where the reason is for people. */
  readonly rule: CadenceRule;
}

export interface CadenceOutcome {
  readonly decision: CadenceDecision;
  readonly state: CadenceState;
}

export function initialCadence(agentId: string): CadenceState {
  return {
    schema_version: CADENCE_VERSION,
    agent_id: agentId,
    tool_calls_since_drain: 0,
    last_drain_ts: null,
    last_send_ts: null,
    sends_since_last_drain: 0,
    turns_since_last_drain: 0,
    tool_calls_since_reminder: null,
    tool_calls_since_send_reminder: null,
    stop_blocks_in_a_row: 0,
    has_given_up: false,
  };
}

export function decide(event: CadenceEvent, state: CadenceState, policy: Policy): CadenceOutcome {
  switch (event.event_type) {
    case 'tool_used':
      return isRecvTool(event.tool_name) && event.metadata.failed !== true
        ? noop('drained', 'the inbox was read', drained(countCall(state), event.timestamp))
        : afterTool(countCall(state), policy);
    case 'channel_recv':
      return noop('drained', 'the inbox was read', drained(state, event.timestamp));
    case 'channel_send':
      return afterSend(event.timestamp, state, policy);
    case 'turn_started':
      return atTurn(state, policy);
    case 'stop_requested':
      return atStop(event, state, policy);
    default:
      return unreachable(event);
  }
}

/** `state` has counted this call already. */
function afterTool(state: CadenceState, policy: Policy): CadenceOutcome {
  const { reminder_threshold_tool_calls: threshold } = policy;
  const calls = state.tool_calls_since_drain;
  const reason = `${calls} of ${threshold} tool calls since the inbox was read`;
  if (calls < threshold) return noop('quiet', reason, state);
  return remind('tool-calls', policy.reminder_text_drain, reason, state, policy);
}

function atTurn(state: CadenceState, policy: Policy): CadenceOutcome {
  const turns = state.turns_since_last_drain + 1;
  // A turn right after a block is the harness going on with its own feedback, not a new beginning:
  // only a stop that was let through ends the row, or a harness that says so would block for ever.
  const rest = state.has_given_up ? { stop_blocks_in_a_row: 0, has_given_up: false } : {};
  const next = { ...state, turns_since_last_drain: turns, ...rest };
  const reason = `${turns} of ${policy.reminder_threshold_turns} turns since the inbox was read`;
  if (turns < policy.reminder_threshold_turns) return noop('quiet', reason, next);
  return remind('turns', policy.reminder_text_drain, reason, next, policy);
}

/** A reminder to drain comes N calls after the one before it, whatever that one was about [CD5]. */
function remind(
  rule: 'tool-calls' | 'turns',
  message: string,
  reason: string,
  state: CadenceState,
  policy: Policy,
): CadenceOutcome {
  const since = state.tool_calls_since_reminder;
  if (since !== null && since < policy.reminder_threshold_tool_calls) {
    return noop('cooling-down', `${reason}; reminded ${since} tool calls ago`, state);
  }
  return speak('inject', rule, message, reason, { ...state, tool_calls_since_reminder: 0 });
}

function afterSend(timestamp: number, state: CadenceState, policy: Policy): CadenceOutcome {
  const { sends_since_last_drain: sends, turns_since_last_drain: turns } = state;
  const next = { ...state, last_send_ts: timestamp, sends_since_last_drain: sends + 1 };
  const reason = `${sends} sent and ${turns} turns begun since the inbox was read`;
  const isWaiting =
    policy.suspect_send_and_wait && sends > 0 && turns >= policy.send_followed_by_idle_turns;
  if (!isWaiting) return noop('quiet', reason, next);
  // With SOX's defaults the reminder of the third turn always comes just before this one. One call
  // between is enough here, or this rule could never speak; it repeats itself only after N calls.
  const { tool_calls_since_reminder: since, tool_calls_since_send_reminder: sinceSend } = state;
  const isCooling =
    since === 0 || (sinceSend !== null && sinceSend < policy.reminder_threshold_tool_calls);
  if (isCooling) return noop('cooling-down', `${reason}; just reminded`, next);
  return speak('inject', 'send-and-wait', policy.reminder_text_send_and_wait, reason, {
    ...next,
    tool_calls_since_reminder: 0,
    tool_calls_since_send_reminder: 0,
  });
}

function atStop(event: CadenceEvent, state: CadenceState, policy: Policy): CadenceOutcome {
  const { inbox_non_empty: told } = event.metadata;
  const isOwed = typeof told === 'boolean' ? told : state.sends_since_last_drain > 0;
  if (!isOwed || !policy.force_drain_on_stop) {
    const reason = isOwed ? 'blocking on stop is switched off' : 'nothing is owed';
    return noop('quiet', reason, { ...state, stop_blocks_in_a_row: 0, has_given_up: false });
  }
  const blocks = state.stop_blocks_in_a_row;
  if (state.has_given_up || blocks >= policy.stop_blocks_max) {
    const reason = `gave up: the stop was blocked ${blocks} times in a row and the inbox is still unread`;
    return noop('stop-given-up', reason, { ...state, has_given_up: true });
  }
  const reason = `the inbox is unread; block ${blocks + 1} of at most ${policy.stop_blocks_max}`;
  return speak('block', 'stop-blocked', policy.reminder_text_drain_on_stop, reason, {
    ...state,
    stop_blocks_in_a_row: blocks + 1,
  });
}

function countCall(state: CadenceState): CadenceState {
  const { tool_calls_since_reminder: since, tool_calls_since_send_reminder: sinceSend } = state;
  return {
    ...state,
    tool_calls_since_drain: state.tool_calls_since_drain + 1,
    tool_calls_since_reminder: since === null ? null : since + 1,
    tool_calls_since_send_reminder: sinceSend === null ? null : sinceSend + 1,
  };
}

/** A new beginning; only a reminder that no tool call has followed yet is still remembered [CD6]. */
function drained(state: CadenceState, timestamp: number): CadenceState {
  return {
    ...initialCadence(state.agent_id),
    last_drain_ts: timestamp,
    last_send_ts: state.last_send_ts,
    tool_calls_since_reminder: state.tool_calls_since_reminder === 0 ? 0 : null,
  };
}

function noop(rule: CadenceRule, reason: string, state: CadenceState): CadenceOutcome {
  const decision = { schema_version: CADENCE_VERSION, action: 'noop', message: null } as const;
  return { decision: { ...decision, reason, rule }, state };
}

function speak(
  action: 'inject' | 'block',
  rule: CadenceRule,
  message: string,
  reason: string,
  state: CadenceState,
): CadenceOutcome {
  return { decision: { schema_version: CADENCE_VERSION, action, message, reason, rule }, state };
}
