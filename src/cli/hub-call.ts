/**
 * One question to the hub over HTTP, by TCP or its socket. `node:http` and nothing else, because
 * a one-shot command is mostly start-up. The answer is the operation's output; a refusal is thrown
 * with the hub's own envelope, and a hub that is not there says how to start one.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { fail, refused } from './failure.ts';
import { headersOf, type Target } from './target.ts';

const ANSWER_TIMEOUT_MS = 30_000;
/** Operations that are nobody's but the owner's and administrators'. */
const ADMINISTRATION = /^(tokens|spaces|held)[._]|^channels[._]+configure$/;

export interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null waits forever. */
  readonly timeoutMs: number | null;
}

/** The operation's output. `waitMs` is what the hub was asked to wait before it answers. */
export async function callHub(
  target: Target,
  operation: string,
  input: Readonly<Record<string, unknown>>,
  waitMs = 0,
): Promise<Record<string, unknown>> {
  const response = await ask(target, {
    method: 'POST',
    path: `/v1/ops/${encodeURIComponent(operation)}`,
    body: JSON.stringify(input),
    headers: {
      'content-type': 'application/json',
      // The hub heeds it from the owner alone, who need not be an agent to administer.
      ...(ADMINISTRATION.test(operation) && { 'x-synod-owner': '1' }),
    },
    timeoutMs: ANSWER_TIMEOUT_MS + waitMs,
  });
  const text = await readText(target, response);
  return parseAnswer(target, response.statusCode ?? 0, text);
}

/** Resolves with the head of the answer; its body is the caller's to read. */
export async function ask(target: Target, question: Question): Promise<IncomingMessage> {
  const { url, socketPath } = target;
  const request = url.protocol === 'https:' ? (await import('node:https')).request : httpRequest;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const base = url.pathname.replace(/\/+$/, '');
  const options = {
    method: question.method,
    path: `${base}${question.path}`,
    headers: {
      accept: 'application/json',
      ...headersOf(target),
      ...question.headers,
      ...(question.body !== undefined && { 'content-length': Buffer.byteLength(question.body) }),
    },
    // One call, one connection: nothing to keep alive, nothing to wait for at exit.
    agent: false as const,
  };
  const sent: ClientRequest =
    socketPath === null
      ? request({ ...options, protocol: url.protocol, hostname: hostOf(url), port: url.port })
      : httpRequest({
          ...options,
          socketPath,
          setHost: false,
          headers: { ...options.headers, host: 'localhost' },
        });
  sent.once('response', resolve);
  sent.once('error', (cause) => reject(unreachable(target, cause)));
  if (question.timeoutMs !== null) {
    const { timeoutMs } = question;
    sent.setTimeout(timeoutMs, () =>
      sent.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)),
    );
  }
  sent.end(question.body);
  return promise;
}

/** An IPv6 address stands in brackets in a URL and without them everywhere else. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

async function readText(target: Target, response: IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
  } catch (cause) {
    throw unreachable(target, cause);
  }
  return text;
}

/** The answer of an operation, or its refusal thrown. */
export function parseAnswer(target: Target, status: number, text: string): Record<string, unknown> {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // Said below: what answers there is no hub.
  }
  const isObject = typeof answer === 'object' && answer !== null && !Array.isArray(answer);
  const isError = isObject && 'error_code' in (answer as object);
  if (!isObject || isError !== status >= 400) {
    throw fail(
      'hub.foreign',
      `what answers at ${target.url.origin} (status ${status}) is not a Synod hub`,
      {
        hint: 'check --url and SYNOD_URL',
      },
    );
  }
  if (isError) throw refused(answer as unknown as Parameters<typeof refused>[0]);
  return answer as Record<string, unknown>;
}

export async function readRefusal(target: Target, response: IncomingMessage): Promise<never> {
  parseAnswer(target, response.statusCode ?? 0, await readText(target, response));
  throw fail('hub.foreign', `${target.url.origin} answered what was not asked`);
}

/** Whether a hub answers there; never throws. */
export async function isHealthy(target: Target, timeoutMs: number): Promise<boolean> {
  try {
    const response = await ask(target, { method: 'GET', path: '/health', timeoutMs });
    // A hub whose store fails answers 503; it is there all the same.
    return JSON.parse(await readText(target, response)).protocol_version !== undefined;
  } catch {
    // Nobody there, or somebody else: either way no hub of ours.
    return false;
  }
}

function unreachable(target: Target, cause: unknown): Error {
  const { code, message } = cause as NodeJS.ErrnoException;
  return fail('hub.unreachable', `no hub at ${target.url.origin} (${code ?? message})`, {
    hint: 'start one with "synod up"',
    cause,
  });
}
