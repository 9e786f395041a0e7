/**
 * MCP over streamable HTTP at one address, for both eras: the 2025 handshake and
 * 2026-07-28 [MC1]. Nothing is kept between requests, so a restart of the hub is not
 * noticed; the session id of the older era only tells whose call a cancellation
 * means. Host, Origin and the credential are judged before a request comes here. A
 * caller who was refused may shake hands and is told so at every call [MC6].
 */

import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  isInitializeRequest,
  isJsonContentType,
  isLegacyRequest,
  legacyStatelessFallback,
  type McpHttpHandler,
  type McpServerFactory,
  type Server,
  type Tool,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { isRefusal, type Refusal, refuse } from '../../../core/law/decider.ts';
import { toEnvelope } from '../../../wire/errors.ts';
import { parseJson } from '../../../wire/fields.ts';
import {
  anyMayWait,
  cancelledIds,
  isListen,
  listsAskedFor,
  requestIds,
} from '../../../wire/mcp/messages.ts';
import { type CallOptions, createMcpServer, type Subscriptions } from '../../../wire/mcp/server.ts';
import { DEFAULT_TOOLSET, type McpTools } from '../../../wire/mcp/tools.ts';
import type { Operation } from '../../../wire/operation.ts';
import { type Answer, refusalAnswer } from '../../desk/answer.ts';
import type { Caller } from '../../desk/caller.ts';
import type { Desk } from '../../desk/desk.ts';
import type { ReportFailure } from '../../desk/failure.ts';
import { createRateLimit } from '../../desk/rate-limit.ts';
import type { McpHandler } from '../http.ts';
import { REQUEST_BYTES_MAX } from '../request-body.ts';
import { type Batch, createBatch } from './batch.ts';
import { type FollowSpace, followChanges } from './changes.ts';
import { createExchanges } from './exchanges.ts';

export interface McpDoorOptions {
  readonly desk: Pick<Desk, 'call' | 'onRevoked' | 'toolsOf'>;
  readonly tools: McpTools;
  readonly version: string;
  /** For the log; whatever it was, the client has been answered. */
  onError(error: Error): void;
  readonly report: ReportFailure;
  readonly progressMs?: number;
  /** Where changes are heard of; without it nothing can be subscribed to. */
  readonly follow?: FollowSpace;
  /** Told of spaces that were removed: who listens there is let go. */
  onRemoved?(listener: (space: string) => void): void;
}

export interface McpDoor {
  /** An Answer in the caller's place is the refusal that every call gets. */
  handle: McpHandler;
  /** Ends every call that still waits. */
  close(): Promise<void>;
}

interface Visit {
  readonly caller: Caller | Answer;
  readonly listed: readonly Tool[];
  /** Of the request; a call may say another in its `_meta`. */
  readonly traceparent: string | null;
}

const SESSION_HEADER = 'mcp-session-id';
const SESSION_CHARS_MAX = 128;
/** Of one agent that has a token: thirty at once, then three a second; a client asks when it connects. */
const LISTS_PER_SECOND = 3;
const LISTS_BURST_SECONDS = 10;
/** What may wait for a listener that does not read. */
const LISTENER_EVENTS_MAX = 1_000;
const UTF8 = new TextDecoder();
/** Over HTTP the library itself keeps who listens; it only has to know that one can. */
const BY_LISTENING: Subscriptions = { add: () => {}, remove: () => {} };

export function createMcpDoor(options: McpDoorOptions): McpDoor {
  const { desk, tools, onError, report, follow, ...about } = options;
  const exchanges = createExchanges();
  const visits = new WeakMap<Request, Visit>();
  const ended = new Map<AbortController, string | null>();
  const stopListening = desk.onRevoked((revoked) => {
    for (const [call, tokenId] of ended) if (tokenId === revoked) call.abort();
  });

  const factory: McpServerFactory = ({ requestInfo }) => {
    const visit = requestInfo && visits.get(requestInfo);
    if (visit === undefined) throw new Error('an MCP request came in by no door');
    return open(visit, follow === undefined ? null : BY_LISTENING);
  };
  // A call that waits is streamed, so that comments keep the connection alive meanwhile [MC7].
  const quick = createMcpHandler(factory, { legacy: 'reject', onerror: onError });
  const waiting = createMcpHandler(factory, {
    legacy: 'reject',
    onerror: onError,
    responseMode: 'sse',
  });

  function open(
    visit: Visit,
    subscriptions: Subscriptions | null = null,
    batch: Batch | null = null,
  ): Server {
    const { caller, listed } = visit;
    const call = (operation: Operation, input: unknown, callOptions: CallOptions) => {
      if (!('principal' in caller)) return Promise.resolve(caller);
      const traceparent = callOptions.traceparent ?? visit.traceparent;
      const carry = (signal: AbortSignal) =>
        carryOut(caller, operation, input, { ...callOptions, traceparent, signal });
      const { signal } = callOptions;
      return batch === null ? carry(signal) : batch.call(operation, signal, carry);
    };
    return createMcpServer({
      ...about,
      tools,
      listed,
      call,
      onError,
      onFailure: report,
      subscriptions,
    });
  }

  async function carryOut(
    caller: Caller,
    operation: Operation,
    input: unknown,
    { clientVersion, wantsTrace, signal, traceparent }: CallOptions,
  ): Promise<Answer> {
    const end = new AbortController();
    ended.set(end, caller.tokenId);
    try {
      return await Promise.race([
        desk.call(
          clientVersion === null ? caller : { ...caller, clientVersion },
          operation,
          input,
          {
            ...{ wantsTrace, traceparent },
            signal: AbortSignal.any([signal, end.signal]),
          },
        ),
        whenAborted(end.signal),
      ]);
    } finally {
      ended.delete(end);
    }
  }

  // A listener hears of its own space alone, so each has a bus of its own.
  const listening = new Map<string, { handler: McpHttpHandler; stop: () => void }>();

  function listenIn(space: string, source: FollowSpace): McpHttpHandler | null {
    const known = listening.get(space);
    if (known !== undefined) return known.handler;
    const handler = createMcpHandler(factory, { legacy: 'reject', onerror: onError });
    const stop = followChanges(source, space, (uri) => handler.notify.resourceUpdated(uri));
    if (stop === null) return null;
    listening.set(space, { handler, stop });
    return handler;
  }

  options.onRemoved?.((space) => {
    const removed = listening.get(space);
    listening.delete(space);
    removed?.stop();
    void removed?.handler.close();
  });

  /** Open until the client leaves, the hub stops, the space is removed or the credential is revoked. */
  async function listen(request: Request, visit: Visit, body: unknown): Promise<Response> {
    const { caller } = visit;
    if (!('principal' in caller)) {
      return rpcError(401, -32_000, 'error' in caller ? caller.error.message : 'refused');
    }
    const handler = follow === undefined ? quick : listenIn(caller.space, follow);
    if (handler === null) return rpcError(404, -32_000, `there is no space ${caller.space} here`);
    const end = new AbortController();
    ended.set(end, caller.tokenId);
    request.signal.addEventListener('abort', () => ended.delete(end), { once: true });
    const bounded = new Request(request.url, {
      method: 'POST',
      headers: request.headers,
      signal: AbortSignal.any([request.signal, end.signal]),
    });
    visits.set(bounded, visit);
    return cutIfSlow(await handler.fetch(bounded, { parsedBody: body }), () => end.abort());
  }

  async function serveLegacy(request: Request, visit: Visit, body: unknown): Promise<Response> {
    const scope = scopeOf(request, visit.caller);
    for (const id of cancelledIds(body)) exchanges.cancel(scope, id);
    const server = open(visit, null, Array.isArray(body) ? createBatch() : null);
    const leave = exchanges.enter(scope, requestIds(body), () => void server.close());
    const accept = request.headers.get('accept') ?? '*/*';
    if (anyMayWait(tools, body) && accept.includes('text/event-stream')) {
      server.onclose = leave;
      return legacyStatelessFallback(() => server, onError)(request, { parsedBody: body });
    }
    try {
      return await answerJson(server, withAccept(request, accept), body);
    } finally {
      leave();
      await server.close();
    }
  }

  // No call, so the desk does not count it: two hundred kilobytes of tools are told to whoever asks [MC18].
  const listLimit = createRateLimit(LISTS_PER_SECOND, () => performance.now(), {
    ...{ burstSeconds: LISTS_BURST_SECONDS, what: 'lists' },
  });

  function refuseLists(caller: Caller | Answer, lists: readonly unknown[]): Response | null {
    const named = new Set(lists);
    if (named.size < lists.length) {
      const message = `${[...named].join(', ')}: a list has one page, so ask for it once`;
      return rpcError(400, -32_600, message, refuse('input.invalid', message));
    }
    const isKnown = 'principal' in caller;
    if (lists.length === 0 || (isKnown && caller.tokenId === null)) return null;
    // Who was refused is told so at every call; all of them together have the measure of one.
    const key = isKnown ? `${caller.space}/${caller.principal.id}` : '';
    const refused = listLimit.check(key, lists.length);
    return refused && rpcError(429, -32_000, refused.message, refused);
  }

  return {
    async handle(request, caller, toolset, readBody) {
      const may = 'principal' in caller ? await desk.toolsOf(caller) : null;
      // Who is held to some is shown those, whichever sets they are in.
      const listed = tools.list(toolset ?? (may === null ? DEFAULT_TOOLSET : 'all'), may);
      if (isRefusal(listed)) return rpcError(400, -32_602, listed.message, listed);
      if (request.method === 'DELETE') {
        exchanges.cancelAll(scopeOf(request, caller));
        return new Response(null, { status: 204 });
      }
      if (request.method !== 'POST') return rpcError(405, -32_000, 'only POST is answered here');
      if (!isJsonContentType(request.headers.get('content-type'))) {
        return rpcError(415, -32_000, 'the content type must be application/json');
      }
      const read = await readBody();
      if (read === 'cut') return rpcError(400, -32_700, 'the request ended before its body did');
      if (read === 'too large') {
        return rpcError(413, -32_000, `a request is at most ${REQUEST_BYTES_MAX} bytes`);
      }
      const body = parseJson(UTF8.decode(read));
      if (body === undefined) return rpcError(400, -32_700, 'the body is not JSON');
      const refused = refuseLists(caller, listsAskedFor(body));
      if (refused !== null) return refused;
      const traceparent = request.headers.get('traceparent');
      const visit: Visit = { caller, listed, traceparent };
      if (await isLegacyRequest(request, body)) {
        const response = await serveLegacy(request, visit, body);
        if (response.ok && isInitializeRequest(body))
          response.headers.set(SESSION_HEADER, randomUUID());
        return response;
      }
      if (isListen(body)) return listen(request, visit, body);
      visits.set(request, visit);
      const handler = anyMayWait(tools, body) ? waiting : quick;
      return handler.fetch(request, { parsedBody: body });
    },
    async close() {
      stopListening();
      for (const call of ended.keys()) call.abort();
      const listeners = [...listening.values()];
      for (const { stop } of listeners) stop();
      await Promise.all(
        [quick, waiting, ...listeners.map(({ handler }) => handler)].map((one) => one.close()),
      );
    },
  };
}

/** The library queues without end for a listener that does not read; here it is cut off [F3]. */
function cutIfSlow(response: Response, end: () => void): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) return response;
  const pump = async (queue: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return queue.close();
      queue.enqueue(value);
      if ((queue.desiredSize ?? 0) < -LISTENER_EVENTS_MAX) break;
    }
    end();
    queue.error(new Error('slow_reader'));
  };
  const body = new ReadableStream<Uint8Array>({
    start(queue) {
      // Who has left already cannot be told that the stream ended.
      pump(queue).catch(() => end());
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, response);
}

/** Answers with one JSON body, or with 499 when the exchange ended before there was an answer. */
async function answerJson(server: Server, request: Request, body: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  return await new Promise((resolve, reject) => {
    const gone = () => resolve(new Response(null, { status: 499 }));
    server.onclose = gone;
    if (request.signal.aborted) return gone();
    request.signal.addEventListener('abort', gone, { once: true });
    transport.handleRequest(request, { parsedBody: body }).then(resolve, reject);
  });
}

/** Older scripts accept only JSON, or do not say; the library wants both named. */
function withAccept(request: Request, accept: string): Request {
  const acceptsJson = accept.includes('application/json') || accept.includes('*/*');
  const headers = new Headers(request.headers);
  if (acceptsJson) headers.set('accept', 'application/json, text/event-stream');
  return new Request(request.url, { method: 'POST', headers, signal: request.signal });
}

function whenAborted(signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve) => {
    const refusal = refuse('access.unknown', 'the credential was revoked or the hub is stopping');
    signal.addEventListener('abort', () => resolve(refusalAnswer(refusal)), { once: true });
  });
}

/** Without a session nobody can say which client's call 3 is meant, so nothing can be cancelled. */
function scopeOf(request: Request, caller: Caller | Answer): string | null {
  const session = request.headers.get(SESSION_HEADER);
  if (session === null || !('principal' in caller)) return null;
  const { space, principal, tokenId } = caller;
  return JSON.stringify([space, principal.id, tokenId, session.slice(0, SESSION_CHARS_MAX)]);
}

function rpcError(status: number, code: number, message: string, refusal?: Refusal): Response {
  const error = { code, message, ...(refusal !== undefined && { data: toEnvelope(refusal) }) };
  return Response.json(
    { jsonrpc: '2.0', id: null, error },
    { status, ...(status === 405 && { headers: { Allow: 'POST, DELETE' } }) },
  );
}
