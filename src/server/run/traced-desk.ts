/**
 * The same desk; every operation through it is a span of the trace it came in, and what it sets going goes
 * on from there [TL10]. Facts are told, never inputs or answers. What only reads is told to those who want
 * everything, unless it is a part of somebody's trace.
 */
import { parseTraceparent } from '../../core/law/traceparent.ts';
import { type Span, type SpanOptions, withTrace } from '../../telemetry/scope.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Operation } from '../../wire/operation.ts';
import type { Answer } from '../desk/answer.ts';
import type { Caller } from '../desk/caller.ts';
import type { Desk } from '../desk/desk.ts';

export function traceDesk(desk: Desk, telemetry: Telemetry): Desk {
  function inSpan<T>(
    caller: Caller,
    operation: Operation,
    traceparent: string | null | undefined,
    run: (span: Span) => T,
  ): T {
    const about = {
      'rpc.system.name': 'synod',
      'rpc.method': operation.id,
      'synod.principal.kind': caller.principal.kind,
    };
    const isTraced = parseTraceparent(traceparent) !== null;
    const turn = caller.principal.turn?.id;
    const options: SpanOptions = {
      kind: 'server',
      level: operation.hints.readOnlyHint && !isTraced ? 'debug' : 'info',
      ids: { space: caller.space, agent: caller.principal.id, ...(turn !== undefined && { turn }) },
    };
    return withTrace(traceparent, () => telemetry.span(operation.id, about, run, options));
  }

  return {
    ...desk,
    call: (caller, operation, input, options) =>
      inSpan(caller, operation, options?.traceparent, async (span) => {
        const { traceparent } = span;
        return told(span, await desk.call(caller, operation, input, { ...options, traceparent }));
      }),
    callAs: (caller, operation, input, run, signal) =>
      inSpan(caller, operation, null, async (span) =>
        told(span, await desk.callAs(caller, operation, input, run, signal)),
      ),
    callThen(caller, operation, input, done, options) {
      const { promise, resolve } = Promise.withResolvers<Answer>();
      void inSpan(caller, operation, options?.traceparent, (span) => {
        const { traceparent } = span;
        desk.callThen(
          caller,
          operation,
          input,
          (answer) => {
            resolve(told(span, answer));
            done(answer);
          },
          { ...options, traceparent },
        );
        return promise;
      });
    },
  };
}

function told(span: Span, answer: Answer): Answer {
  if ('error' in answer) span.fail(answer.error.error_code, answer.error.message);
  return answer;
}
