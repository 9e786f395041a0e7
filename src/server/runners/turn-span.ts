/**
 * A turn as a span: under what the first message that began it was sent in, with links to the others, and
 * with the ids that the law stored when it was taken, so that what is done in it stands below [TL7] [TL10].
 */
import { parseTraceparent } from '../../core/law/traceparent.ts';
import type { TakenTurn } from '../../core/turns/turn-events.ts';
import { agentAttributes, tellDuration, tellTokens } from '../../telemetry/gen-ai.ts';
import { withTrace } from '../../telemetry/scope.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { TurnResult, TurnStopped } from './runner.ts';

export interface TurnSpan {
  ended(result: TurnResult, stopped: TurnStopped['why'] | null): void;
}

const NO_SPAN: TurnSpan = { ended() {} };

export function inTurnSpan(
  telemetry: Telemetry | null,
  space: string,
  { turn, config, sessionRef }: TakenTurn,
  run: (span: TurnSpan) => Promise<void>,
): Promise<void> {
  if (telemetry === null) return withTrace(turn.trace, () => run(NO_SPAN));
  const [cause, ...others] = turn.messages.flatMap(({ trace }) => parseTraceparent(trace) ?? []);
  const links = others.filter(({ spanId }) => spanId !== cause?.spanId);
  const about = agentAttributes(turn.agent, config.runnerKind);
  const facts = {
    ...about,
    'gen_ai.conversation.id': sessionRef,
    'synod.runner': config.runnerKind,
    'synod.attempt': turn.attempt,
    'synod.messages': turn.messages.length,
    'synod.waited_ms': (turn.takenAt ?? turn.dueAt) - turn.dueAt,
  };
  const came = turn.messages.find(({ trace }) => trace !== undefined)?.trace;
  const ids = { space, agent: turn.agent, turn: turn.id };
  return telemetry.within(ids, () =>
    withTrace(came, () =>
      telemetry.span(
        `invoke_agent ${turn.agent}`,
        facts,
        (span) => {
          const began = performance.now();
          return run({
            ended({ outcome, cost, note }, stopped) {
              span.set({ 'synod.outcome': outcome, 'synod.cost.usd': cost?.usd });
              const tokens = { tokensIn: cost?.tokens_in, tokensOut: cost?.tokens_out };
              // A model's own call has counted them.
              if (config.runnerKind !== 'model') tellTokens(span, tokens, about);
              const error = outcome === 'failed' ? (stopped ?? 'failed') : null;
              if (error !== null) span.fail(error, note);
              tellDuration(performance.now() - began, about, error);
            },
          });
        },
        { kind: 'internal', as: parseTraceparent(turn.trace), links },
      ),
    ),
  );
}
