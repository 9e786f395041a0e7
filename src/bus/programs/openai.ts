/**
 * An ACP agent in front of any endpoint of the OpenAI dialect: the session's history goes along,
 * the answer streams, a cancel closes the connection. The key comes from the environment, never
 * from the command line.
 */

import type { ContentBlock } from '@agentclientprotocol/sdk';
import type { JsonObject } from '../process/json-object.ts';
import type { AnswerTurn, Brain, Outcome } from './acp-agent.ts';
import { serveAcp } from './acp-front.ts';
import { type ChatMessage, type Endpoint, streamChat } from './chat-endpoint.ts';
import { ProgramConfigError } from './program-error.ts';
import { blockText } from './prompt-text.ts';
import type { LineIo } from './stdio-lines.ts';

export interface ChatOptions {
  readonly endpoint: Endpoint;
  readonly systemPrompt: string | null;
  /** The variable its key is looked for in. */
  readonly keyVariable: string;
}

const IDLE_MS = 60_000;
const TOTAL_MS = 600_000;

export interface ChatFlags {
  readonly baseUrl?: string;
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly maxTokens?: string;
  readonly temperature?: string;
  readonly idleMs?: number;
  readonly totalMs?: number;
}

/** Flags first, then the reference's variables, then its defaults. */
export function readChatOptions(
  env: NodeJS.ProcessEnv,
  flags: ChatFlags,
  keyVariable = 'OPENAI_API_KEY',
): ChatOptions {
  const baseUrl = flags.baseUrl ?? (env.OPENAI_BASE_URL || 'https://api.openai.com/v1');
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new ProgramConfigError(
      'OPENAI_BASE_URL is no http(s) URL; write it like http://127.0.0.1:8080/v1',
    );
  }
  return {
    systemPrompt: flags.systemPrompt ?? (env.OPENAI_SYSTEM_PROMPT || null),
    keyVariable,
    endpoint: {
      baseUrl,
      // A tier never sends the key of another.
      apiKey: env[keyVariable] || null,
      model: flags.model ?? (env.OPENAI_MODEL || 'gpt-4o'),
      maxTokens: numberOf('OPENAI_MAX_TOKENS', flags.maxTokens ?? env.OPENAI_MAX_TOKENS),
      temperature: numberOf('OPENAI_TEMPERATURE', flags.temperature ?? env.OPENAI_TEMPERATURE),
      idleMs: flags.idleMs ?? IDLE_MS,
      totalMs: flags.totalMs ?? TOTAL_MS,
    },
  };
}

function numberOf(name: string, text: string | undefined): number | null {
  if (!text) return null;
  const value = Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new ProgramConfigError(`${name} must be a number, not negative; found ${text}`);
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The host that what is said goes to; null when that is this machine. */
export function hostBeyond({ endpoint }: ChatOptions): string | null {
  const { hostname } = new URL(endpoint.baseUrl);
  return LOOPBACK.test(hostname) ? null : hostname;
}

/** Says so when a key is missing where one will be asked for: a server of this machine wants none. */
export function noteMissingKey(chat: ChatOptions, note: (text: string) => void): void {
  const hostname = hostBeyond(chat);
  const { endpoint, keyVariable } = chat;
  if (endpoint.apiKey !== null || hostname === null) return;
  note(
    `${keyVariable} is not set: ${hostname} will be asked without a key, and will hardly answer; ` +
      'on the bus, name the variable in "env_allow" of the pool',
  );
}

export function runOpenai(
  options: ChatOptions & { readonly version: string },
  io: LineIo,
): Promise<void> {
  noteMissingKey(options, io.note);
  return serveAcp({ brain: createChatBrain(options), version: options.version }, io);
}

function createChatBrain(options: ChatOptions): Brain {
  return {
    name: 'synod-openai',
    title: `Synod chat: ${options.endpoint.model}`,
    takesImages: true,
    answer: (turn) => chat(options, turn),
  };
}

export async function chat(
  { endpoint, systemPrompt }: ChatOptions,
  turn: AnswerTurn,
): Promise<Outcome> {
  const messages: ChatMessage[] = [];
  if (systemPrompt !== null) messages.push({ role: 'system', content: systemPrompt });
  for (const { role, text } of turn.session.history) messages.push({ role, content: text });
  messages.push({ role: 'user', content: contentOf(turn) });
  const pieces = streamChat(endpoint, messages, turn.signal);
  try {
    for (;;) {
      const next = await pieces.next();
      if (next.done) return { stopReason: next.value };
      await turn.say(next.value);
    }
  } finally {
    // When the client cannot be told any more, this closes the connection.
    await pieces.return('end_turn');
  }
}

/** Plain text where that is all there is: not every server of the dialect knows parts. */
function contentOf(turn: AnswerTurn): string | readonly JsonObject[] {
  return turn.prompt.some(({ type }) => type === 'image') ? turn.prompt.map(partOf) : turn.text;
}

function partOf(block: ContentBlock): JsonObject {
  if (block.type !== 'image') return { type: 'text', text: blockText(block) };
  const url = `data:${block.mimeType};base64,${block.data}`;
  return { type: 'image_url', image_url: { url } };
}
