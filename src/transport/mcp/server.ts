/**
 * One MCP server over the operation table, for one request or one connection. Both
 * MCP doors make theirs here, so they cannot differ. It passes arguments on as they
 * came: the desk alone judges them, and what it says reaches the model as a tool
 * result, never as a protocol error [MC5]. A failure of ours becomes
 * `internal_error` without its cause.
 */
import { ProtocolError, ProtocolErrorCode, Server, type Tool } from '@modelcontextprotocol/server';
import { refuse } from '../../core/decider.ts';
import { toEnvelope } from '../../wire/errors.ts';
import type { Operation } from '../../wire/operation.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { type ToolAnswer, toToolResult } from './result.ts';
import type { McpTools } from './tools.ts';

export interface CallOptions {
  /** From `_meta["sox/client_version"]`. */
  readonly clientVersion: string | null;
  /** From `_meta["sox/trace"]`. */
  readonly wantsTrace: boolean;
  /** The client cancelled, or went away. */
  readonly signal: AbortSignal;
}

export interface McpServerOptions {
  readonly tools: McpTools;
  readonly listed: readonly Tool[];
  readonly version: string;
  call(operation: Operation, input: unknown, options: CallOptions): Promise<ToolAnswer>;
  onError(error: Error): void;
  /** How often a waiting call reports progress to a client that asked for it. */
  readonly progressMs?: number;
}

const PROGRESS_MS = 10_000;
const LIST_TTL_MS = 300_000;

export function createMcpServer(options: McpServerOptions): Server {
  const { tools, listed, version, onError, progressMs = PROGRESS_MS } = options;
  const server = new Server(
    { name: 'synod', title: 'Synod', version },
    {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      cacheHints: { 'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' } },
    },
  );
  server.onerror = onError;

  server.setRequestHandler('tools/list', ({ params }) => {
    // The list has one page, so a cursor is none of ours.
    if (params?.cursor !== undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'unknown cursor');
    }
    return { tools: [...listed] };
  });

  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const operation = tools.find(params.name);
    if (operation === undefined) return toToolResult(unknownTool(params.name));
    const {
      'sox/client_version': clientVersion,
      'sox/trace': trace,
      progressToken,
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
      const answer = await options.call(operation, params.arguments ?? {}, {
        clientVersion: typeof clientVersion === 'string' ? clientVersion : null,
        wantsTrace: trace === true,
        signal: mcpReq.signal,
      });
      return toToolResult(answer);
    } catch (error) {
      // Nobody reads the answer to a call that was abandoned.
      if (!mcpReq.signal.aborted)
        onError(error instanceof Error ? error : new Error(String(error)));
      const refusal = refuse(
        'internal',
        `${operation.name} failed inside the hub; its log says why`,
      );
      return toToolResult({ error: toEnvelope(refusal) });
    } finally {
      if (reporting) clearInterval(reporting);
    }
  });
  return server;
}

function unknownTool(name: string): ToolAnswer {
  const shown = JSON.stringify(name.slice(0, 128));
  return {
    error: toEnvelope(
      refuse('operation.unknown', `no tool is called ${shown}; tools/list names what there is`),
    ),
  };
}
