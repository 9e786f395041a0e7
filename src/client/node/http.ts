/**
 * One question to the hub over HTTP: by TCP, TLS or its Unix socket. `node:http` and nothing else,
 * because a one-shot command is mostly start-up. What the system says when it fails is thrown as it
 * is: whether nothing was sent, or nobody knows, is the caller's to judge.
 */
import type { Agent, IncomingMessage } from 'node:http';
import type { ErrorEnvelope } from '../../wire/errors.ts';
import { type Fields, isFields, parseJson } from '../../wire/fields.ts';
import { headersOf, type Target } from './target.ts';

/** Imported, it would bring the whole of `fetch` with it, which is a third of a command's start [CL37]. */
const http = process.getBuiltinModule('node:http');

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
  const { method, body, signal, timeoutMs, connections } = question;
  const isSecure = url.protocol === 'https:' && socketPath === null;
  const { request, Agent } = isSecure ? await import('node:https') : http;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request({
    method,
    path: `${url.pathname.replace(/\/+$/, '')}${question.path}`,
    agent: connections?.agentOf(Agent) ?? false,
    ...(signal !== undefined && { signal }),
    ...(socketPath === null
      ? { protocol: url.protocol, hostname: hostOf(url), port: url.port }
      : { socketPath, setHost: false }),
    headers: {
      accept: 'application/json',
      ...(socketPath !== null && { host: 'localhost' }),
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }),
      ...headersOf(target),
      ...question.headers,
    },
  });
  sent.once('response', resolve);
  sent.once('error', reject);
  if (timeoutMs !== undefined) {
    sent.setTimeout(timeoutMs, () =>
      sent.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)),
    );
  }
  sent.end(body);
  return promise;
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
  const value = parseJson(await readText(response));
  const isOk = response.statusCode === 200;
  if (!isFields(value) || isOk === 'error_code' in value) return null;
  return isOk ? { ok: value } : { error: value as Fields & ErrorEnvelope };
}

/** Whether a hub answers there; never throws. */
export async function isHealthy(target: Target, timeoutMs: number): Promise<boolean> {
  try {
    const response = await ask(target, { method: 'GET', path: '/health', timeoutMs });
    // A hub whose store fails answers 503; it is there all the same.
    return JSON.parse(await readText(response)).protocol_version !== undefined;
  } catch {
    // No program there, or another one: either way no hub of ours.
    return false;
  }
}
