/**
 * A chat completions endpoint of the OpenAI dialect: one request, streamed. It gives pieces of text
 * as they come and ends with why the model stopped. Everything else is thrown: a status, a
 * silence, a connection cut in the middle. It does not follow redirects, which could carry the key
 * to another host, and it tries nothing twice: only the caller knows whether that is safe.
 */
import { isObject, type JsonObject, textAt } from '../process/json-object.ts';
import { CODE, messageOfError, ProgramError, readBounded } from './program-error.ts';
import { readEvents } from './sse.ts';

export interface Endpoint {
  readonly baseUrl: string;
  /** Null sends no Authorization header, which local servers expect. */
  readonly apiKey: string | null;
  readonly model: string;
  readonly maxTokens: number | null;
  readonly temperature: number | null;
  /** Until the answer begins, and between two pieces of it. */
  readonly idleMs: number;
  /** For the whole answer. */
  readonly totalMs: number;
}

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | readonly JsonObject[];
}

/** What the answer cost, where the endpoint says so. */
export interface Usage {
  readonly tokensIn: number;
  readonly tokensOut: number;
}

export type Finish = 'end_turn' | 'max_tokens' | 'refusal';

const ANSWER_CHARS_MAX = 8 * 1024 * 1024;
const ERROR_BODY_BYTES_MAX = 64 * 1024;
const JSON_BODY_BYTES_MAX = 16 * 1024 * 1024;

const FINISHES: Readonly<Record<string, Finish>> = {
  length: 'max_tokens',
  content_filter: 'refusal',
};

export async function* streamChat(
  endpoint: Endpoint,
  messages: readonly ChatMessage[],
  signal: AbortSignal,
  onUsage: ((usage: Usage) => void) | null = null,
): AsyncGenerator<string, Finish> {
  const patience = createPatience(endpoint, signal);
  try {
    const response = await send(endpoint, messages, patience, onUsage !== null);
    if (!response.ok) throw await statusError(endpoint, response);
    const type = response.headers.get('content-type') ?? '';
    if (type.includes('json')) return yield* readWhole(endpoint, response, patience, onUsage);
    return yield* readPieces(endpoint, response, patience, onUsage);
  } catch (error) {
    signal.throwIfAborted();
    throw patience.reason() ?? toProgramError(endpoint, error);
  } finally {
    patience.end();
  }
}

function send(
  endpoint: Endpoint,
  messages: readonly ChatMessage[],
  patience: Patience,
  wantsUsage: boolean,
): Promise<Response> {
  const { baseUrl, apiKey, model, maxTokens, temperature } = endpoint;
  return fetch(`${baseUrl.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    redirect: 'error',
    signal: patience.signal,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({
      ...{ model, messages, stream: true },
      ...(wantsUsage && { stream_options: { include_usage: true } }),
      ...(maxTokens !== null && { max_tokens: maxTokens }),
      ...(temperature !== null && { temperature }),
    }),
  });
}

async function* readPieces(
  endpoint: Endpoint,
  response: Response,
  patience: Patience,
  onUsage: ((usage: Usage) => void) | null,
): AsyncGenerator<string, Finish> {
  let finish: Finish | null = null;
  let chars = 0;
  for await (const event of readEvents(patience.watch(response.body))) {
    if (event.trim() === '[DONE]') return finish ?? 'end_turn';
    const { text, reason, usage } = parsePiece(endpoint, event);
    if (usage !== null) onUsage?.(usage);
    chars += text.length;
    if (chars > ANSWER_CHARS_MAX) {
      const message = `the answer of ${endpoint.model} is longer than ${ANSWER_CHARS_MAX} characters`;
      throw new ProgramError(CODE.transport, message, { retryable: false });
    }
    if (text !== '') yield text;
    if (reason !== null) finish = FINISHES[reason] ?? 'end_turn';
  }
  if (finish !== null) return finish;
  throw new ProgramError(CODE.transport, `${where(endpoint)} cut the answer off before its end`, {
    retryable: true,
  });
}

/** Some servers do not stream, whatever they were asked. */
async function* readWhole(
  endpoint: Endpoint,
  response: Response,
  patience: Patience,
  onUsage: ((usage: Usage) => void) | null,
): AsyncGenerator<string, Finish> {
  const body = await readText(patience.watch(response.body), JSON_BODY_BYTES_MAX);
  const { text, reason, usage } = parsePiece(endpoint, body);
  if (usage !== null) onUsage?.(usage);
  if (text !== '') yield text;
  return FINISHES[reason ?? ''] ?? 'end_turn';
}

interface Piece {
  readonly text: string;
  readonly reason: string | null;
  readonly usage: Usage | null;
}

function parsePiece(endpoint: Endpoint, json: string): Piece {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw notJson(endpoint, cause);
  }
  if (isObject(value) && value.error != null) {
    const said = textAt(value.error, 'message') ?? textAt(value, 'error') ?? 'without saying why';
    throw new ProgramError(CODE.unavailable, `${where(endpoint)} failed: ${safe(endpoint, said)}`, {
      retryable: true,
      endpointCode: isObject(value.error) ? (value.error.code ?? null) : null,
    });
  }
  const usage = usageOf(value);
  const choices = isObject(value) ? value.choices : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (!isObject(choice)) return { text: '', reason: null, usage };
  const text = textAt(choice.delta, 'content') ?? textAt(choice.message, 'content') ?? '';
  return { text, reason: textAt(choice, 'finish_reason') ?? null, usage };
}

function usageOf(value: unknown): Usage | null {
  const said = isObject(value) ? value.usage : null;
  if (!isObject(said)) return null;
  const count = (name: string): number => {
    const tokens = said[name];
    return typeof tokens === 'number' && tokens >= 0 && Number.isSafeInteger(tokens) ? tokens : 0;
  };
  return { tokensIn: count('prompt_tokens'), tokensOut: count('completion_tokens') };
}

function notJson(endpoint: Endpoint, cause: unknown): ProgramError {
  const message = `${where(endpoint)} sent something that is not JSON`;
  return new ProgramError(CODE.transport, message, { retryable: false }, { cause });
}

async function statusError(endpoint: Endpoint, response: Response): Promise<ProgramError> {
  const { status } = response;
  const body = await readText(response.body ?? [], ERROR_BODY_BYTES_MAX).catch(() => '');
  const said = safe(endpoint, errorText(body));
  const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'));
  const message = `${where(endpoint)} answered ${status}${said === '' ? '' : `: ${said}`}`;
  const retryable = status === 408 || status === 429 || status >= 500;
  return new ProgramError(codeOf(status), message, { status, retryAfterMs, retryable });
}

function codeOf(status: number): number {
  if (status === 401 || status === 403) return CODE.authRequired;
  if (status === 429) return CODE.exhausted;
  if (status === 408 || status === 504) return CODE.timeout;
  if (status >= 500) return CODE.unavailable;
  return CODE.invalidRequest;
}

function errorText(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    const error = isObject(value) ? value.error : undefined;
    const said = textAt(error, 'message') ?? textAt(value, 'error') ?? textAt(value, 'message');
    if (said !== undefined) return said.slice(0, 1_000);
  } catch {
    // Then it is a page for people: its beginning will do.
  }
  return body.trim().slice(0, 200);
}

/** Seconds or a date, in milliseconds from now; null when it says neither. */
export function parseRetryAfter(header: string | null): number | null {
  if (header === null) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

function readText(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
): Promise<string> {
  const message = `the endpoint sent more than ${bytesMax} bytes`;
  return readBounded(chunks, bytesMax, () => new ProgramError(CODE.transport, message));
}

interface Patience {
  readonly signal: AbortSignal;
  /** Passes chunks on; each one renews the patience. */
  watch(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array>;
  /** What ran out, if something did. */
  reason(): ProgramError | null;
  end(): void;
}

function createPatience(endpoint: Endpoint, signal: AbortSignal): Patience {
  const { idleMs, totalMs } = endpoint;
  const over = new AbortController();
  let reason: ProgramError | null = null;
  const run = (ms: number, what: string): NodeJS.Timeout =>
    setTimeout(() => {
      reason = new ProgramError(CODE.timeout, `${where(endpoint)} ${what} ${ms} ms`, {
        retryable: true,
      });
      over.abort(reason);
    }, ms);
  const idle = run(idleMs, 'was silent for');
  const total = run(totalMs, 'did not finish in');
  return {
    signal: AbortSignal.any([signal, over.signal]),
    async *watch(body) {
      for await (const chunk of body ?? []) {
        idle.refresh();
        yield chunk;
      }
    },
    reason: () => reason,
    end() {
      clearTimeout(idle);
      clearTimeout(total);
    },
  };
}

function toProgramError(endpoint: Endpoint, error: unknown): ProgramError {
  if (error instanceof ProgramError) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const message = `${where(endpoint)} could not be read: ${messageOfError(cause)}`;
  return new ProgramError(CODE.transport, message, { retryable: true }, { cause: error });
}

/** Some endpoints say the key back when they do not like it. */
function safe({ apiKey }: Endpoint, said: string): string {
  return apiKey === null ? said : said.replaceAll(apiKey, '[the key]');
}

/** Only the host is shown: a path or a query may hold a secret. */
function where({ baseUrl, model }: Endpoint): string {
  return `${model} at ${URL.canParse(baseUrl) ? new URL(baseUrl).host : 'an address that is no URL'}`;
}
