/**
 * The enforcer bound to hooks: a hook's event in the enforcer's words, and its decision as an
 * answer. The message goes out as it is; there is no policy here [HK7].
 */
import { CADENCE_VERSION, type CadenceDecision, type CadenceEvent } from './cadence.ts';
import type { HookAnswer, HookEvent } from './hook-event.ts';

export interface BindingFacts {
  readonly agentId: string;
  /** Unix seconds. */
  readonly timestamp: number;
  /** From a peek, which takes nothing; undefined when the hub could not be asked. */
  readonly isInboxNonEmpty?: boolean;
}

/** Null for what the enforcer has no event for. */
export function cadenceEventOf(event: HookEvent, facts: BindingFacts): CadenceEvent | null {
  const fields = {
    schema_version: CADENCE_VERSION,
    agent_id: facts.agentId,
    timestamp: facts.timestamp,
  } as const;
  switch (event.kind) {
    case 'tool_used':
      if (event.tool === null) return null;
      return {
        ...fields,
        event_type: 'tool_used',
        tool_name: event.tool,
        metadata: event.isFailure ? { failed: true } : {},
      };
    case 'turn_started':
      return { ...fields, event_type: 'turn_started', metadata: {} };
    case 'stop_requested': {
      const { isInboxNonEmpty: told } = facts;
      const metadata = told === undefined ? {} : { inbox_non_empty: told };
      return { ...fields, event_type: 'stop_requested', metadata };
    }
    case 'session_started':
    case 'tool_about':
    case 'asked':
    case 'answered':
    case 'rested':
    case 'session_ended':
      return null;
  }
}

export function answerOf(decision: CadenceDecision): HookAnswer {
  if (decision.message === null || decision.action === 'noop') return { act: 'noop' };
  return decision.action === 'inject'
    ? { act: 'inject', text: decision.message }
    : { act: 'block', reason: decision.message };
}
