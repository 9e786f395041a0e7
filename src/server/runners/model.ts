/**
 * The runner `model`: one request to an endpoint of the OpenAI dialect. It has no tools; what the model
 * says is the answer. The key is read when the turn begins and is in no argument, log or transcript.
 * A refusal for want of quota is told apart from a server that is overloaded [RU14].
 */

import { stopReason } from '../../bus/process/line-process.ts';
import { type Endpoint, streamChat, type Usage } from '../../bus/programs/chat-endpoint.ts';
import { messageOfError, ProgramError } from '../../bus/programs/program-error.ts';
import { isRefusal } from '../../core/law/decider.ts';
import { chatAttributes, messagesText, tellDuration, tellTokens } from '../../telemetry/gen-ai.ts';
import type { Attributes } from '../../telemetry/record.ts';
import { type Span, withSpan } from '../../telemetry/scope.ts';
import type { SpecOf } from '../../wire/operations/runner-spec.ts';
import { checkSecret, readSecret } from './read-secret.ts';
import type { Runner, TurnJob, TurnResult } from './runner.ts';
import { createLiner, spokenPrompt, spokenResult } from './spoken-turn.ts';
import { failedResult } from './turn-result.ts';

type ModelSpec = SpecOf<'model'>;

const IDLE_MS = 120_000;
const TOTAL_MS = 86_400_000;

export function createModelRunner(
  env: Readonly<Record<string, string | undefined>>,
): Runner<ModelSpec> {
  return {
    kind: 'model',
    check: async ({ secret }) => (secret === undefined ? null : checkSecret(secret)),
    run: (job) => run(job, env),
  };
}

async function run(
  job: TurnJob<ModelSpec>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<TurnResult> {
  const { spec, transcript, signal } = job;
  if (signal.aborted) return failedResult(stopReason(signal));
  const key = spec.secret === undefined ? null : await readSecret(spec.secret, env);
  if (isRefusal(key)) return failedResult(key.message);
  if (key !== null) transcript.hide(key);
  const endpoint = endpointOf(spec, key);
  const about = chatAttributes(endpoint);
  return withSpan(`chat ${spec.model}`, about, (span) => chat(job, endpoint, about, span), {
    kind: 'client',
  });
}

async function chat(
  job: TurnJob<ModelSpec>,
  endpoint: Endpoint,
  about: Attributes,
  span: Span,
): Promise<TurnResult> {
  const { spec, transcript, signal } = job;
  const began = performance.now();
  const said: string[] = [];
  const liner = createLiner((line) => transcript.append(line));
  let usage: Usage | null = null;
  try {
    const messages = [
      ...(spec.system_prompt === undefined
        ? []
        : [{ role: 'system' as const, content: spec.system_prompt }]),
      { role: 'user' as const, content: spokenPrompt(job, Date.now()) },
    ];
    span.content('gen_ai.input.messages', () => messagesText(messages));
    const pieces = streamChat(endpoint, messages, signal, (one) => {
      usage = one;
      tellTokens(span, one, about);
    });
    for await (const piece of pieces) {
      said.push(piece);
      liner.push(piece);
    }
    liner.end();
    tellDuration(performance.now() - began, about, null);
  } catch (error) {
    liner.end();
    const word =
      error instanceof ProgramError ? String(error.detail.status ?? error.code) : 'error';
    span.fail(word, messageOfError(error));
    tellDuration(performance.now() - began, about, word);
    return failed(error, signal);
  }
  span.content('gen_ai.output.messages', () =>
    messagesText([{ role: 'assistant', content: said.join('') }], 'stop'),
  );
  return spokenResult(job, said.join(''), usage === null ? undefined : costOf(usage));
}

function endpointOf(spec: ModelSpec, apiKey: string | null): Endpoint {
  return {
    ...{ baseUrl: spec.base_url, apiKey, model: spec.model, idleMs: IDLE_MS, totalMs: TOTAL_MS },
    maxTokens: spec.max_tokens ?? null,
    temperature: spec.temperature ?? null,
  };
}

function costOf({ tokensIn, tokensOut }: Usage): TurnResult['cost'] {
  return { tokens_in: tokensIn, tokens_out: tokensOut };
}

const EXHAUSTED = 429;
const OVERLOADED: ReadonlySet<unknown> = new Set([503, 529]);

function failed(error: unknown, signal: AbortSignal): TurnResult {
  if (signal.aborted) return failedResult(stopReason(signal));
  const result = failedResult(messageOfError(error));
  const { status, retryAfterMs } = error instanceof ProgramError ? error.detail : {};
  const kind = status === EXHAUSTED ? 'exhausted' : OVERLOADED.has(status) ? 'overloaded' : null;
  if (kind === null) return result;
  const until = typeof retryAfterMs === 'number' ? { until: Date.now() + retryAfterMs } : {};
  return { ...result, quota: { kind, ...until } };
}
