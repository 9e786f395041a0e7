/**
 * One question to the hub over HTTP: by TCP, TLS or its Unix socket. `node:http` at most, and not even
 * that where one call is all there is: a one-shot command is mostly start-up. What the system says when it
 * fails is thrown as it is: whether nothing was sent, or nobody knows, is the caller's to judge.
 */
import type { Agent, IncomingMessage } from 'node:http';
import type { ErrorEnvelope } from '../../wire/errors.ts';
import { type Fields, isFields, parseJson } from '../../wire/fields.ts';
import { readJson } from '../../wire/json.ts';
import { askInOneGo, isPlain, type Told } from './one-go.ts';
import { headersOf, type Target } from './target.ts';

export interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Silence after which it is given up; left out, it waits for ever. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Left out, the connection ends with the answer: nothing to wait for at exit. */
  readonly connections?: Connections;
}

/** Connections that are kept for the next question. */
export interface Connections {
  agentOf(kind: typeof Agent): Agent;
  close(): void;
}

export function openConnections(): Connections {
  const agents = new Map<typeof Agent, Agent>();
  return {
    agentOf(kind) {
      const agent = agents.get(kind) ?? new kind({ keepAlive: true, maxFreeSockets: 4 });
      agents.set(kind, agent);
      return agent;
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

/** Resolves with the head of the answer; its body is the caller's to read. */
export async function ask(target: Target, question: Question): Promise<IncomingMessage> {
  const { url, socketPath } = target;
  if (target.mustProve) await (await import('./proof.ts')).checkProof(target);
  const { method, signal, timeoutMs, connections } = question;
  const isSecure = url.protocol === 'https:' && socketPath === null;
  const { request, Agent } = isSecure
    ? await import('node:https')
    : // Imported, it would bring the whole of `fetch` with it, a third of a command's start [CL37].
      process.getBuiltinModule('node:http');
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request({
    method,
    path: pathOf(target, question),
    agent: connections?.agentOf(Agent) ?? false,
    // Without TLS there is none; left out, Node looks for an address in it, which takes 4 ms the first time.
    ...(!isSecure && { servername: '' }),
    ...(signal !== undefined && { signal }),
    ...(socketPath === null
      ? { protocol: url.protocol, hostname: hostOf(url), port: url.port }
      : { socketPath, setHost: false }),
    headers: fieldsOf(target, question),
  });
  sent.once('response', resolve);
  sent.once('error', reject);
  if (timeoutMs !== undefined) {
    sent.setTimeout(timeoutMs, () =>
      sent.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)),
    );
  }
  sent.end(question.body);
  return promise;
}

/** The same, read to its end: over the hub's own socket the short way. */
export async function askOnce(
  target: Target,
  question: Question & { readonly body: string; readonly timeoutMs: number },
): Promise<Told> {
  const { socketPath, mustProve } = target;
  const headers = fieldsOf(target, question);
  if (socketPath !== null && !mustProve && isPlain(headers)) {
    const { method, body, timeoutMs } = question;
    const path = pathOf(target, question);
    return askInOneGo({ socketPath, method, path, headers, body, timeoutMs });
  }
  const response = await ask(target, question);
  return { statusCode: response.statusCode ?? 0, text: await readText(response) };
}

function pathOf({ url }: Target, { path }: Question): string {
  return `${url.pathname.replace(/\/+$/, '')}${path}`;
}

function fieldsOf(target: Target, { body, headers }: Question): Record<string, string | number> {
  return {
    accept: 'application/json',
    ...(target.socketPath !== null && { host: 'localhost' }),
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }),
    ...headersOf(target),
    ...headers,
  };
}

/** An IPv6 address stands in brackets in a URL and without them everywhere else. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

export async function readText(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return text;
}

/** What the hub said to an operation. */
export type HubAnswer = { readonly ok: Fields } | { readonly error: ErrorEnvelope };

/** Null when no hub would answer so. */
export async function readAnswer(response: IncomingMessage): Promise<HubAnswer | null> {
  return answerIn({ statusCode: response.statusCode ?? 0, text: await readText(response) });
}

/** The same of an answer that was read already. */
export function answerIn({ statusCode, text }: Told): HubAnswer | null {
  const value = parseJson(text);
  const isOk = statusCode === 200;
  if (!isFields(value) || isOk === 'error_code' in value) return null;
  return isOk ? { ok: value } : { error: value as Fields & ErrorEnvelope };
}

/** Whether a hub answers there; never throws. */
export async function isHealthy(target: Target, timeoutMs: number): Promise<boolean> {
  try {
    const response = await ask(target, { method: 'GET', path: '/health', timeoutMs });
    // A hub whose store fails answers 503; it is there all the same.
    const said = readJson(await readText(response)) as { protocol_version?: unknown };
    return said.protocol_version !== undefined;
  } catch {
    // No program there, or another one: either way no hub of ours.
    return false;
  }
}
