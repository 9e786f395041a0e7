/**
 * A call with plugins around it: what they are shown of it, whom they make it act for, and how what comes out sounds.
 */
import { isRefusal, type Refusal } from '../../core/law/decider.ts';
import { REFUSALS, type Sound, toEnvelope } from '../../wire/errors.ts';
import { isFields } from '../../wire/fields.ts';
import type { Operation } from '../../wire/operation.ts';
import type { PluginHost } from '../plugins/host.ts';
import type { Reply } from '../plugins/reply.ts';
import { type Answer, envelopeAnswer } from './answer.ts';
import { actingCaller, type Caller } from './caller.ts';

interface Passing {
  readonly caller: Caller;
  readonly operation: Operation;
  readonly input: unknown;
  readonly correlationId: string;
}

/** What is done when the plugins let it pass. */
type CarryOut = (acting: Caller, input: unknown) => Promise<Record<string, unknown> | Refusal>;

/** @param callers Who is behind the context that a unit of the chain is shown. */
export async function callThroughPlugins(
  plugins: PluginHost,
  callers: WeakMap<object, Caller>,
  { caller, operation, input, correlationId }: Passing,
  wantsTrace: boolean,
  carryOut: CarryOut,
): Promise<Answer> {
  const sounds = new Map<string, Sound>();
  const context = {
    operation: operation.name,
    transport: caller.transport,
    input: isFields(input) ? { ...input } : {},
    agentId: null as string | null,
    connectionId: caller.connectionId,
    correlationId,
    metadata: { _connection_credential: caller.credential } as Record<string, unknown>,
  };
  callers.set(context, caller);
  const isObject = input === undefined || isFields(input);
  const { reply, trace } = await plugins.run(context, async (inner): Promise<Reply> => {
    const acting = actingCaller(caller, inner.agentId);
    const outcome = await carryOut(acting, isObject ? inner.input : input);
    if (!isRefusal(outcome)) return { ok: outcome };
    const error = toEnvelope(outcome);
    sounds.set(error.error_code, REFUSALS[outcome.refused]);
    return { error };
  });
  const metadata = wantsTrace
    ? { correlation_id: correlationId, pipeline_trace: trace }
    : undefined;
  if ('ok' in reply) return { ok: { ...reply.ok }, ...(metadata && { metadata }) };
  const known = sounds.get(reply.error.error_code);
  return { ...envelopeAnswer(reply.error, known), ...(metadata && { metadata }) };
}
