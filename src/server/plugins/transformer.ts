/**
 * Runs one transformer: `(ctx) → ctx`, before the store, without `next` and without a reply.
 *
 * It may change the input within the field rules, in place or by returning a changed copy, and it
 * may refuse it with a ValidationError. Anything else it throws, a short circuit included, is a
 * failure.
 */

import { isFields } from '../../wire/fields.ts';
import { ContractViolation, type MiddlewareContext } from './context.ts';
import { withDeadline } from './limits.ts';
import { enter, failUnit, isNamed, type Passage, type PluginUnit } from './passage.ts';
import { type Reply, validationReply } from './reply.ts';
import { finishEntry } from './trace.ts';

/** The refusal, or null when the call goes on. */
export async function runTransformer(passage: Passage, unit: PluginUnit): Promise<Reply | null> {
  const { view, entry } = enter(passage, unit);
  const { id } = unit.manifest;
  try {
    const answer = await withDeadline(
      () => unit.run(view.context),
      passage.rules.unitTimeoutMs,
      id,
    );
    adopt(view.context, answer);
    view.commit();
  } catch (thrown) {
    if (!isNamed(thrown, 'ValidationError')) return failUnit(passage, entry, thrown);
    finishEntry(entry, 'error', 'validation_error');
    return validationReply(thrown);
  }
  finishEntry(entry, 'continue');
  return null;
}

/** Takes over a returned copy as if its changes had been made in place. */
function adopt(context: MiddlewareContext, answer: unknown): void {
  if (answer === context) return;
  if (!isFields(answer)) throw new ContractViolation('a transformer must return the context');
  for (const field of ['operation', 'transport', 'connection_id', 'correlation_id'] as const) {
    if (field in answer && answer[field] !== context[field]) {
      throw new ContractViolation(`${field} is read-only`);
    }
  }
  if ('input' in answer && answer.input !== context.input) {
    context.input = answer.input as Record<string, unknown>;
  }
  if ('agent_id' in answer && answer.agent_id !== context.agent_id) {
    context.agent_id = answer.agent_id as string;
  }
}
