/**
 * An ACP agent around a brain: sessions, one turn at a time, cancel, and errors that stay errors.
 * A brain says text and answers with why it stopped; what it throws reaches the client as a
 * JSON-RPC error with its code and detail, never as text of the conversation.
 */
import type {
  AgentApp,
  AgentContext,
  ClientCapabilities,
  ContentBlock,
  McpServer,
  SessionUpdate,
  StopReason,
} from '@agentclientprotocol/sdk';
import type { JsonObject } from '../process/json-object.ts';
import type { AcpSdk } from './acp-sdk.ts';
import type { AgentSession, AgentSessions } from './acp-sessions.ts';
import { CODE, messageOfError, ProgramError } from './program-error.ts';
import { promptText } from './prompt-text.ts';

export interface Turn {
  readonly session: AgentSession;
  readonly prompt: readonly ContentBlock[];
  /** The prompt as text. */
  readonly text: string;
  /** `_meta` of the request. */
  readonly meta: JsonObject;
  readonly signal: AbortSignal;
  readonly client: AgentContext;
  readonly clientCan: ClientCapabilities;
  /** A piece of the answer. */
  say(text: string): Promise<void>;
  /** Any other update: a thought, a tool call. */
  update(update: SessionUpdate): Promise<void>;
}

/** What it takes to answer: a client behind it or not. */
export type AnswerTurn = Pick<Turn, 'prompt' | 'text' | 'meta' | 'signal' | 'say' | 'update'> & {
  readonly session: Pick<AgentSession, 'history'>;
};

export interface Outcome {
  readonly stopReason: StopReason;
  readonly meta?: JsonObject;
}

export interface Brain {
  readonly name: string;
  readonly title: string;
  readonly takesImages: boolean;
  /** Connects what the client offers; a server that cannot be had is no reason to fail. */
  connect?(session: AgentSession, servers: readonly McpServer[]): Promise<void>;
  answer(turn: Turn): Promise<Outcome>;
}

export interface AgentOptions {
  readonly sdk: AcpSdk;
  readonly brain: Brain;
  readonly sessions: AgentSessions;
  readonly version: string;
  readonly lane: string | null;
}

export function createAgent(options: AgentOptions): AgentApp {
  const { sdk, brain, sessions, version, lane } = options;
  const { methods, RequestError } = sdk;
  let clientCan: ClientCapabilities = {};

  function sessionOf(id: string): AgentSession {
    const session = sessions.find(id);
    if (session !== undefined) return session;
    throw RequestError.sessionNotFound(id);
  }
  return sdk
    .agent({ name: brain.name })
    .onRequest(methods.agent.initialize, ({ params }) => {
      clientCan = params.clientCapabilities ?? {};
      return {
        protocolVersion: sdk.PROTOCOL_VERSION,
        agentInfo: { name: brain.name, title: brain.title, version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { embeddedContext: true, image: brain.takesImages },
          mcpCapabilities: { http: false, sse: false },
          sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
        },
        authMethods: [],
      };
    })
    .onRequest(methods.agent.authenticate, () => ({}))
    .onRequest(methods.agent.session.new, async ({ params }) => {
      const session = sessions.open(params.cwd, lane);
      await brain.connect?.(session, params.mcpServers);
      return { sessionId: session.id };
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const session = sessionOf(params.sessionId);
      await brain.connect?.(session, params.mcpServers);
      for (const { role, text } of session.history) {
        const sessionUpdate = role === 'user' ? 'user_message_chunk' : 'agent_message_chunk';
        const update: SessionUpdate = { sessionUpdate, content: { type: 'text', text } };
        await client.notify(methods.client.session.update, { sessionId: session.id, update });
      }
      return {};
    })
    .onRequest(methods.agent.session.resume, async ({ params }) => {
      const session = sessionOf(params.sessionId);
      await brain.connect?.(session, params.mcpServers ?? []);
      return {};
    })
    .onRequest(methods.agent.session.list, ({ params }) => ({
      sessions: sessions
        .list(lane)
        .filter(({ cwd }) => params.cwd == null || params.cwd === cwd)
        .map(({ id, cwd, updatedAt }) => ({
          sessionId: id,
          cwd,
          updatedAt: updatedAt.toISOString(),
        })),
    }))
    .onRequest(methods.agent.session.close, ({ params }) => close(params.sessionId))
    .onRequest(methods.agent.session.delete, ({ params }) => close(params.sessionId))
    .onRequest(methods.agent.session.prompt, async ({ params, client, signal: asked }) => {
      const session = sessionOf(params.sessionId);
      if (session.turn !== null) {
        const text = 'a turn runs in this session; wait for its end, or cancel it first';
        throw RequestError.invalidRequest({ sessionId: session.id }, text);
      }
      const turn = new AbortController();
      session.turn = turn;
      try {
        const signal = AbortSignal.any([asked, turn.signal]);
        return await answer(session, { params, client, signal });
      } catch (error) {
        if (turn.signal.aborted) return { stopReason: 'cancelled' };
        if (asked.aborted) throw RequestError.requestCancelled();
        throw toRequestError(sdk, error);
      } finally {
        session.turn = null;
      }
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => {
      sessions.find(params.sessionId)?.turn?.abort();
    });

  function close(id: string): object {
    if (!sessions.close(id)) throw RequestError.sessionNotFound(id);
    return {};
  }
  async function answer(session: AgentSession, request: PromptRequest) {
    const { params, client, signal } = request;
    const text = promptText(params.prompt);
    const said: string[] = [];
    const update = async (one: SessionUpdate): Promise<void> => {
      signal.throwIfAborted();
      await client.notify(methods.client.session.update, { sessionId: session.id, update: one });
    };
    const outcome = await brain.answer({
      ...{ session, prompt: params.prompt, text, signal, client, clientCan, update },
      meta: params._meta ?? {},
      async say(piece) {
        if (piece === '') return;
        said.push(piece);
        const content: ContentBlock = { type: 'text', text: piece };
        await update({ sessionUpdate: 'agent_message_chunk', content });
      },
    });
    signal.throwIfAborted();
    sessions.remember(session, [
      { role: 'user', text },
      { role: 'assistant', text: said.join('') },
    ]);
    const { stopReason, meta } = outcome;
    return { stopReason, ...(meta !== undefined && { _meta: meta }) };
  }
}

interface PromptRequest {
  readonly params: {
    readonly prompt: readonly ContentBlock[];
    readonly _meta?: JsonObject | null;
  };
  readonly client: AgentContext;
  readonly signal: AbortSignal;
}

function toRequestError({ RequestError }: AcpSdk, error: unknown): Error {
  if (error instanceof RequestError) return error;
  if (error instanceof ProgramError) {
    return new RequestError(error.code, error.message, error.detail);
  }
  return new RequestError(CODE.internal, `the agent failed: ${messageOfError(error)}`);
}
