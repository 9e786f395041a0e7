/**
 * An MCP server in front of ACP agents behind a bus, for IDEs that speak MCP only. Prompts wait for
 * their answer and report progress; a permission prompt of an agent goes to the MCP client as an
 * elicitation where it takes those, and is refused where it does not.
 */
import { type CallToolResult, Server } from '@modelcontextprotocol/server';
import { isObject, type JsonObject, textAt } from '../process/json-object.ts';
import type { WorkerRequest } from '../sdk/incoming.ts';
import { serveMcp } from './mcp-wire.ts';
import { CODE, messageOfError, ProgramError } from './program-error.ts';
import {
  createProxySessions,
  PROXY_LIMITS,
  type PromptOptions,
  type ProxyBusOptions,
  type ProxySession,
} from './proxy-sessions.ts';
import { errorResult, PROXY_TOOLS, resultOf } from './proxy-tools.ts';
import type { LineIo } from './stdio-lines.ts';

export interface McpProxyOptions extends Pick<ProxyBusOptions, 'socket' | 'token' | 'pool'> {
  readonly agentId: string | null;
  readonly cwd: string;
  readonly version: string;
}

const PROMPT_MS = 600_000;
const REFUSED = { outcome: { outcome: 'cancelled' } };

type Call = (input: JsonObject, options: PromptOptions) => Promise<CallToolResult>;

export function runMcpProxy(options: McpProxyOptions, io: LineIo): Promise<void> {
  let server: Server | null = null;
  const sessions = createProxySessions({
    ...options,
    note: io.note,
    onRequest: (request) => answerAgent(server, request, io),
  });
  const startedAt = Date.now();
  let inFlight = 0;
  let own: Promise<ProxySession> | null = null;

  /** The session of this connection, made at its first use and again after it expired. */
  async function ownSession(): Promise<ProxySession> {
    const known = await own?.catch(() => null);
    if (known != null && sessions.list().includes(known)) return known;
    own = sessions.create(options.agentId, options.cwd, {});
    return own;
  }
  async function prompt(
    session: ProxySession,
    input: JsonObject,
    asked: PromptOptions,
  ): Promise<CallToolResult> {
    const { text, stopReason } = await sessions.prompt(session, promptOf(input), asked);
    const value = { session_id: session.id, text, stop_reason: stopReason };
    return resultOf(value, text === '' ? `(no text; ${stopReason})` : text);
  }
  const agentOf = (input: JsonObject): string | null =>
    textAt(input, 'agent_id') ?? options.agentId;
  const sessionOf = (input: JsonObject): ProxySession =>
    sessions.find(textAt(input, 'session_id') ?? '');

  const calls: Readonly<Record<string, Call>> = {
    acp_prompt: async (input, asked) => prompt(await ownSession(), input, asked),
    async sessions_create(input) {
      const cwd = textAt(input, 'cwd') ?? options.cwd;
      const session = await sessions.create(agentOf(input), cwd, metadataOf(input));
      return resultOf(viewOf(session));
    },
    sessions_prompt: async (input, asked) => prompt(sessionOf(input), input, asked),
    async sessions_status(input) {
      if (textAt(input, 'session_id') !== undefined) return resultOf(viewOf(sessionOf(input)));
      return resultOf({ sessions: sessions.list().map(viewOf) });
    },
    async sessions_cancel(input) {
      const session = sessionOf(input);
      const wasRunning = session.turn !== null;
      if (wasRunning) sessions.cancel(session);
      return resultOf({ session_id: session.id, cancelled: wasRunning });
    },
    async sessions_close(input) {
      const session = sessionOf(input);
      await sessions.close(session);
      return resultOf({ session_id: session.id, closed: true });
    },
    async tasks_delegate(input, asked) {
      promptOf(input);
      const session = await sessions.create(agentOf(input), options.cwd, {});
      try {
        return await prompt(session, input, asked);
      } finally {
        await sessions.close(session);
      }
    },
    async agents_discover() {
      // A registry answers a request that names no agent with the list of its agents.
      const agent = await sessions.describe(null).catch(() => sessions.describe(options.agentId));
      const listed = isObject(agent._meta) ? agent._meta['synod/agents'] : undefined;
      return resultOf({ agents: Array.isArray(listed) ? listed : [agent.agentInfo ?? {}] });
    },
    async bridge_health() {
      let reason: string | null = null;
      if (!sessions.isConnected) {
        await sessions.describe(options.agentId).catch((error) => {
          reason = messageOfError(error);
        });
      }
      const uptimeMs = Date.now() - startedAt;
      const counts = { sessions: sessions.size, in_flight: inFlight, uptime_ms: uptimeMs };
      return resultOf({ connected: sessions.isConnected, reason, ...counts, limits: PROXY_LIMITS });
    },
  };

  function create(): Server {
    const made = new Server(
      { name: 'synod-mcp-proxy', version: options.version },
      { capabilities: { tools: {} } },
    );
    made.setRequestHandler('tools/list', () => ({ tools: [...PROXY_TOOLS] }));
    made.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const call = Object.hasOwn(calls, params.name) ? calls[params.name] : undefined;
      const input = isObject(params.arguments) ? params.arguments : {};
      const { progressToken } = mcpReq._meta ?? {};
      let progress = 0;
      const onText = (): void => {
        if (progressToken === undefined) return;
        progress += 1;
        mcpReq
          .notify({ method: 'notifications/progress', params: { progressToken, progress } })
          .catch((error) => io.note(messageOfError(error)));
      };
      try {
        if (call === undefined) {
          throw new ProgramError(CODE.invalidParams, 'there is no such tool; see tools/list');
        }
        if (inFlight >= PROXY_LIMITS.concurrentMax) {
          const text = `${PROXY_LIMITS.concurrentMax} calls run; wait for one to end`;
          throw new ProgramError(CODE.exhausted, text, { retryable: true });
        }
        inFlight += 1;
        try {
          return await call(input, { timeoutMs: timeoutOf(input), signal: mcpReq.signal, onText });
        } finally {
          inFlight -= 1;
        }
      } catch (error) {
        return errorResult(error);
      }
    });
    server = made;
    return made;
  }
  return serveMcp({ create, close: () => sessions.end() }, io);
}

/** What an agent asks of its client. We offered nothing but to pass on the question. */
async function answerAgent(
  server: Server | null,
  { method, params }: WorkerRequest,
  io: LineIo,
): Promise<JsonObject> {
  if (method !== 'session/request_permission') {
    throw new ProgramError(CODE.methodUnknown, 'this client offers no files and no terminals');
  }
  const { options, toolCall } = isObject(params) ? params : {};
  const choices = (Array.isArray(options) ? options : []).flatMap((option) => {
    const id = textAt(option, 'optionId');
    return id === undefined ? [] : [{ const: id, title: textAt(option, 'name') ?? id }];
  });
  if (server?.getClientCapabilities()?.elicitation === undefined || choices.length === 0) {
    io.note('a permission prompt was refused: the MCP client takes no elicitations');
    return REFUSED;
  }
  try {
    const { action, content } = await server.elicitInput({
      mode: 'form',
      message: `The agent asks for permission: ${textAt(toolCall, 'title') ?? 'a tool call'}`,
      requestedSchema: {
        type: 'object',
        properties: { option: { type: 'string', title: 'Decision', oneOf: choices } },
        required: ['option'],
      },
    });
    const optionId = content?.option;
    const isOne = choices.some((choice) => choice.const === optionId);
    return action === 'accept' && isOne ? { outcome: { outcome: 'selected', optionId } } : REFUSED;
  } catch (error) {
    io.note(`a permission prompt was refused: ${messageOfError(error)}`);
    return REFUSED;
  }
}

function promptOf(input: JsonObject): string {
  const text = textAt(input, 'prompt');
  if (text === undefined || text === '') {
    throw new ProgramError(CODE.invalidParams, 'prompt must be a string with something in it');
  }
  if (Buffer.byteLength(text) > PROXY_LIMITS.promptBytesMax) {
    const message = `prompt is longer than ${PROXY_LIMITS.promptBytesMax} bytes; say less at once`;
    throw new ProgramError(CODE.invalidParams, message);
  }
  return text;
}

function metadataOf(input: JsonObject): JsonObject {
  const { metadata = {} } = input;
  if (!isObject(metadata)) throw new ProgramError(CODE.invalidParams, 'metadata must be an object');
  if (Buffer.byteLength(JSON.stringify(metadata)) > PROXY_LIMITS.metadataBytesMax) {
    const message = `metadata is longer than ${PROXY_LIMITS.metadataBytesMax} bytes`;
    throw new ProgramError(CODE.invalidParams, message);
  }
  return metadata;
}

function timeoutOf({ timeout_ms: ms }: JsonObject): number {
  return typeof ms === 'number' && ms > 0 ? Math.min(ms, 3_600_000) : PROMPT_MS;
}

function viewOf(session: ProxySession): JsonObject {
  const { id, agentId, createdAt, usedAt, prompts, turn, metadata } = session;
  return {
    ...{ session_id: id, agent_id: agentId, status: turn === null ? 'idle' : 'prompting', prompts },
    created_at: new Date(createdAt).toISOString(),
    used_at: new Date(usedAt).toISOString(),
    metadata,
  };
}
