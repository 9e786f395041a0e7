/**
 * Runs one hook: `(immutable ctx) → void | { action: 'deny', error }`.
 *
 * Ahead of the store a hook may deny the call; behind it, what it returns is ignored. A hook that
 * fails is counted and, by the mode, passed over in silence, logged (the default), or turned into
 * the failure of the call.
 */

import { isFields } from '../../wire/fields.ts';
import { ContractViolation } from './context.ts';
import { withDeadline } from './limits.ts';
import { enter, failUnit, logFailure, type Passage, type PluginUnit } from './passage.ts';
import { parseEnvelope, type Reply } from './reply.ts';
import { finishEntry, type TraceEntry } from './trace.ts';

/** The denial, or null when the call goes on. */
export async function runHook(passage: Passage, unit: PluginUnit): Promise<Reply | null> {
  const { view, entry } = enter(passage, unit);
  const { id } = unit.manifest;
  const isPost = passage.response !== null;
  try {
    const answer = await withDeadline(
      () => unit.run(view.context),
      passage.rules.unitTimeoutMs,
      id,
    );
    const denial = isPost ? null : parseDecision(answer);
    finishEntry(entry, denial === null ? 'continue' : 'short_circuit');
    return denial;
  } catch (thrown) {
    return failHook(passage, entry, thrown);
  }
}

function parseDecision(answer: unknown): Reply | null {
  if (answer === undefined || answer === null) return null;
  if (!isFields(answer) || answer.action !== 'deny') {
    throw new ContractViolation("a hook returns nothing or { action: 'deny', error }");
  }
  // A denial that cannot say why is a denial all the same.
  return (
    parseEnvelope(answer.error, null) ?? {
      error: {
        error_code: 'validation_error',
        message: 'a plugin denied the call',
        detail: { reason: 'denied' },
      },
    }
  );
}

function failHook(passage: Passage, entry: TraceEntry, cause: unknown): Reply | null {
  const { rules } = passage;
  rules.countHookFailure();
  if (rules.hookFailureMode === 'raise') return failUnit(passage, entry, cause);
  finishEntry(entry, 'error', 'internal_error');
  if (rules.hookFailureMode === 'alarm') logFailure(passage, entry.plugin_id, cause);
  return null;
}
