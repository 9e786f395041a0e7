/**
 * One MCP server over the operation table, for one request or one connection. Both
 * MCP doors make theirs here, so they cannot differ. It passes arguments on as they
 * came: the desk alone judges them, and what it says reaches the model as a tool
 * result, never as a protocol error [MC5].
 */
import { ProtocolError, ProtocolErrorCode, Server, type Tool } from '@modelcontextprotocol/server';
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { toEnvelope } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { nextRound, roundOf } from './gate-rounds.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { listResources, listResourceTemplates, RESOURCE_URIS, readResource } from './resources.ts';
import { type ToolAnswer, toToolResult } from './result.ts';
import type { McpTools } from './tools.ts';

export interface CallOptions {
  /** From `_meta["sox/client_version"]`. */
  readonly clientVersion: string | null;
  /** From `_meta["sox/trace"]`. */
  readonly wantsTrace: boolean;
  /** The client cancelled, or went away. */
  readonly signal: AbortSignal;
  /** From `_meta.traceparent`. */
  readonly traceparent?: string | null;
  /** All of `_meta`: some clients say there which session calls. Nobody vouches for it. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface Subscriptions {
  add(uri: string): void;
  remove(uri: string): void;
}

export interface McpServerOptions {
  readonly tools: McpTools;
  readonly listed: readonly Tool[];
  readonly version: string;
  call(operation: Operation, input: unknown, options: CallOptions): Promise<ToolAnswer>;
  /** Of the protocol: whatever it was, the client has been answered. */
  onError(error: Error): void;
  /** A call threw: that is logged there, and the refusal is what the client is answered. */
  onFailure(what: string, cause: unknown): Refusal;
  /** Null where nobody could be told of a change: the wire keeps no stream. */
  readonly subscriptions?: Subscriptions | null;
  /** How often a waiting call reports progress to a client that asked for it. */
  readonly progressMs?: number;
}

const PROGRESS_MS = 10_000;
const LIST_TTL_MS = 300_000;
/**
 * Gemini CLI takes any text that is JSON for structured content, a refusal's too, and shows the model
 * a complaint about the output schema in its place. Without that schema it shows the refusal.
 */
const JSON_TAKER = 'gemini-cli-mcp-client';

export function createMcpServer(options: McpServerOptions): Server {
  const { tools, listed, version, onError, progressMs = PROGRESS_MS } = options;
  const { subscriptions = null } = options;
  const server = new Server(
    { name: tools.serverName(listed), title: 'Synod', version },
    {
      capabilities: { tools: {}, resources: subscriptions === null ? {} : { subscribe: true } },
      instructions: INSTRUCTIONS,
      cacheHints: { 'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' } },
    },
  );
  server.onerror = onError;

  async function call(
    operation: Operation,
    input: unknown,
    callOptions: CallOptions,
  ): Promise<ToolAnswer> {
    try {
      return await options.call(operation, input, callOptions);
    } catch (cause) {
      // Nobody reads the answer to a call that was abandoned.
      const refusal = callOptions.signal.aborted
        ? refuse('internal', 'the call was abandoned')
        : options.onFailure(`${operation.name} failed`, cause);
      return { error: toEnvelope(refusal) };
    }
  }

  server.setRequestHandler('tools/list', ({ params }) => {
    // The list has one page, so a cursor is none of ours.
    if (params?.cursor !== undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'unknown cursor');
    }
    const isTaken = server.getClientVersion()?.name === JSON_TAKER;
    return { tools: isTaken ? listed.map(({ outputSchema: _, ...tool }) => tool) : [...listed] };
  });

  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const asked = tools.find(params.name);
    if (asked === undefined) return toToolResult(unknownTool(params.name));
    // Only a call of the newer era carries an envelope, and only there a client comes back by itself.
    const isModern = mcpReq.envelope !== undefined;
    const given = params.arguments ?? {};
    const round = isModern ? roundOf(asked, given, mcpReq.requestState()) : null;
    const {
      'sox/client_version': clientVersion,
      'sox/trace': trace,
      progressToken,
      traceparent,
    } = mcpReq._meta ?? {};
    let progress = 0;
    // A client's patience is often a minute; progress renews it while recv or collect waits [MC7].
    const reporting =
      progressToken !== undefined &&
      setInterval(() => {
        progress += 1;
        mcpReq
          .notify({ method: 'notifications/progress', params: { progressToken, progress } })
          .catch(onError);
      }, progressMs);
    try {
      const answer = await call(round?.operation ?? asked, round?.input ?? given, {
        clientVersion: typeof clientVersion === 'string' ? clientVersion : null,
        wantsTrace: trace === true,
        signal: mcpReq.signal,
        traceparent: typeof traceparent === 'string' ? traceparent : null,
        meta: mcpReq._meta ?? {},
      });
      return (round && nextRound(round, answer)) ?? toToolResult(answer);
    } finally {
      if (reporting) clearInterval(reporting);
    }
  });
  server.setRequestHandler('resources/list', () => ({ resources: listResources() }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: listResourceTemplates(),
  }));
  server.setRequestHandler('resources/read', ({ params }, { mcpReq }) =>
    readResource(params.uri, (operation, input) =>
      call(operation, input, {
        clientVersion: null,
        wantsTrace: false,
        signal: mcpReq.signal,
      }),
    ),
  );
  if (subscriptions !== null) serveSubscriptions(server, subscriptions);
  return server;
}

/** The older era's way; in the newer one the library itself keeps who listens to what. */
function serveSubscriptions(server: Server, subscriptions: Subscriptions): void {
  server.setRequestHandler('resources/subscribe', ({ params }) => {
    if (!RESOURCE_URIS.includes(params.uri)) {
      const message = `nothing there can be subscribed to; there are ${RESOURCE_URIS.join(', ')}`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    subscriptions.add(params.uri);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscriptions.remove(params.uri);
    return {};
  });
}

function unknownTool(name: string): ToolAnswer {
  const shown = JSON.stringify(name.slice(0, 128));
  return {
    error: toEnvelope(
      refuse('operation.unknown', `no tool is called ${shown}; tools/list names what there is`),
    ),
  };
}
