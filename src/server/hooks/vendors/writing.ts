/**
 * An answer in the form that Claude Code and Codex share. Each holds only fields that both know for
 * that event, because Codex voids an answer with any other [HK4].
 *
 * At a stop no text is injected: Claude Code would take it for a reason to go on, and Codex has no
 * field for it. Consent is silence: `permissionDecision: "allow"` skips a person's question in the
 * one and voids the answer in the other [HK5].
 */
import {
  delivered,
  fitted,
  type HookAnswer,
  type HookEvent,
  type HookOutput,
  INJECTED_CHARS_MAX,
  REASON_CHARS_MAX,
  SILENCE,
  UNDELIVERED,
} from '../hook-event.ts';

export function writeNested(answer: HookAnswer, event: HookEvent): HookOutput {
  const nested = (fields: Readonly<Record<string, string>>): HookOutput =>
    delivered({ hookSpecificOutput: { hookEventName: event.name, ...fields } });
  switch (answer.act) {
    case 'noop':
    case 'allow':
      return SILENCE;
    case 'inject':
      if (event.kind === 'stop_requested' || event.kind === 'session_ended') return UNDELIVERED;
      return nested({ additionalContext: fitted(answer.text, INJECTED_CHARS_MAX) });
    case 'deny':
      if (event.kind !== 'tool_about') return UNDELIVERED;
      return nested({
        permissionDecision: 'deny',
        permissionDecisionReason: fitted(answer.reason, REASON_CHARS_MAX),
      });
    case 'block':
      if (event.kind !== 'stop_requested') return UNDELIVERED;
      return delivered({ decision: 'block', reason: fitted(answer.reason, REASON_CHARS_MAX) });
  }
}
