/**
 * Turns and calls of models in the words of OpenTelemetry's conventions for generative AI, so that what
 * shows other agents' traces shows these. Bodies are made by whoever has them, and only if they are asked
 * for [TL6] [TL7].
 */
import type { Attributes } from './record.ts';
import { measure, type Span } from './scope.ts';

/** Whose model answers at an address; who speaks the dialect and is not known here counts as its author. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['api.anthropic.com', 'anthropic'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['api.mistral.ai', 'mistral_ai'],
  ['api.groq.com', 'groq'],
  ['api.deepseek.com', 'deepseek'],
  ['api.x.ai', 'x_ai'],
  ['api.perplexity.ai', 'perplexity'],
  ['api.cohere.com', 'cohere'],
]);
const DIALECT = 'openai';

/** Who thinks in a turn, by the kind of its runner; what has no model is ours. */
const RUNNER_PROVIDERS: Readonly<Record<string, string>> = {
  claude: 'anthropic',
  codex: 'openai',
  acp: 'acp',
  model: 'openai',
};

export interface Tokens {
  readonly tokensIn?: number | undefined;
  readonly tokensOut?: number | undefined;
}

export interface ModelCall {
  readonly baseUrl: string;
  readonly model: string;
  readonly maxTokens?: number | null;
  readonly temperature?: number | null;
}

export function agentAttributes(agent: string, runnerKind: string): Attributes {
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': RUNNER_PROVIDERS[runnerKind] ?? 'synod',
    'gen_ai.agent.name': agent,
    'gen_ai.agent.id': agent,
  };
}

export function chatAttributes({ baseUrl, model, maxTokens, temperature }: ModelCall): Attributes {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  const port = url === null ? '' : url.port || (url.protocol === 'https:' ? '443' : '80');
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': PROVIDERS.get(url?.hostname ?? '') ?? DIALECT,
    'gen_ai.request.model': model,
    'gen_ai.request.max_tokens': maxTokens,
    'gen_ai.request.temperature': temperature,
    'gen_ai.output.type': 'text',
    'server.address': url?.hostname,
    'server.port': port === '' ? null : Number(port),
  };
}

export function tellTokens(span: Span, { tokensIn, tokensOut }: Tokens, of: Attributes): void {
  span.set({
    'gen_ai.usage.input_tokens': tokensIn,
    'gen_ai.usage.output_tokens': tokensOut,
  });
  for (const [type, tokens] of [
    ['input', tokensIn],
    ['output', tokensOut],
  ] as const) {
    if (tokens === undefined) continue;
    const counted = { ...measured(of), 'gen_ai.token.type': type };
    measure('gen_ai.client.token.usage', tokens, '{token}', counted);
  }
}

export function tellDuration(ms: number, of: Attributes, error: string | null): void {
  const told = error === null ? measured(of) : { ...measured(of), 'error.type': error };
  measure('gen_ai.client.operation.duration', ms / 1_000, 's', told);
}

/** What many calls have in common. */
function measured(of: Attributes): Attributes {
  const names = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model'];
  return Object.fromEntries(names.map((name) => [name, of[name]]));
}

/** Messages in the form that the conventions have for bodies. */
export function messagesText(
  messages: readonly { readonly role: string; readonly content: string }[],
  finish?: string,
): string {
  return JSON.stringify(
    messages.map(({ role, content }) => ({
      role,
      parts: [{ type: 'text', content }],
      ...(finish !== undefined && { finish_reason: finish }),
    })),
  );
}
