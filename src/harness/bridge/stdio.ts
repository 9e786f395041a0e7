/**
 * MCP over stdio: `synod mcp`, a thin bridge from one client process to the hub. It
 * speaks both eras, writes nothing but messages to the output, and ends when its
 * input ends: calls that only wait are given up at once, so that no message is taken
 * for a client that has left, and the others are answered first [MC8]. While it runs its agent is
 * seen to be here, with its process; when it ends the hub is told, without being waited for long.
 */
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import { type Fields, waitMsOf } from '../../wire/fields.ts';
import { RESOURCE_URIS } from '../../wire/mcp/resources.ts';
import { createMcpServer } from '../../wire/mcp/server.ts';
import type { McpTools } from '../../wire/mcp/tools.ts';
import { briefTools } from './brief.ts';
import type { HubCall, Mention } from './http-call.ts';
import type { EarHooks, ResourceEar } from './http-listen.ts';
import { createLineWire } from './lines.ts';

export interface McpStdioOptions {
  readonly call: HubCall;
  readonly tools: McpTools;
  readonly toolset: string;
  /** Answers are shortened for a model, so their tools have no output schema. */
  readonly isBrief?: boolean;
  readonly version: string;
  readonly input: Readable;
  readonly output: Writable;
  /** How the bridge learns of changes; null when it cannot. */
  readonly ear?: ((hooks: EarHooks) => ResourceEar) | null;
  /** How the hub is told that the agent is here; null when it is not to be told. */
  readonly mention?: Mention | null;
  /** For stderr. */
  onError(error: Error): void;
}

/** Who is told of changes. */
interface Told {
  readonly server: Server;
  readonly uris: ReadonlySet<string>;
  readonly isModern: boolean;
}

export interface McpStdio {
  /** Settles when the client has gone or `close` was called. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Less than half of how long a report counts, so that one may be lost. */
const REPORT_EVERY_MS = 60_000;
const REPORT_TTL_S = 120;
const FAREWELL_MS = 500;
const OFFLINE = { status: 'offline' };

export function serveMcpStdio(options: McpStdioOptions): McpStdio | Refusal {
  const { tools, version, onError } = options;
  const asked = tools.list(options.toolset);
  if (isRefusal(asked)) return asked;
  const listed = options.isBrief === true ? briefTools(asked) : asked;
  const leaving = new AbortController();
  const presence = options.mention ? createPresence(options.mention) : null;
  let told: Told | null = null;
  const tell = (uri: string): void => {
    if (told === null || !(told.isModern || told.uris.has(uri))) return;
    told.server.sendResourceUpdated({ uri }).catch(onError);
  };
  const ear =
    options.ear?.({
      onUpdated: tell,
      onReady: () => {
        for (const uri of RESOURCE_URIS) tell(uri);
      },
    }) ?? null;
  const wire = createLineWire({
    input: options.input,
    output: options.output,
    onInputEnd: () => leaving.abort(),
    onRequest(method) {
      if (method === 'resources/subscribe' || method === 'subscriptions/listen') ear?.start();
    },
  });
  const handle = serveStdio(
    ({ era }) => {
      const uris = new Set<string>();
      const server = createMcpServer({
        subscriptions: ear && {
          add: (uri) => void uris.add(uri),
          remove: (uri) => void uris.delete(uri),
        },
        tools,
        listed,
        version,
        onError,
        onFailure(what, cause) {
          onError(cause instanceof Error ? cause : new Error(String(cause)));
          return refuse('internal', `${what} in the bridge; its own log says why`);
        },
        async call(operation, input, callOptions) {
          const signal =
            waitMsOf(input) > 0
              ? AbortSignal.any([callOptions.signal, leaving.signal])
              : callOptions.signal;
          const answer = await options.call(operation.name, input, { ...callOptions, signal });
          if (!('error' in answer)) presence?.heard(operation.name, input);
          return answer;
        },
      });
      // In the newer era the library passes on only what somebody listens to.
      told = { server, uris, isModern: era === 'modern' };
      return server;
    },
    { transport: wire, onerror: onError },
  );
  const closed = wire.closed.then(async () => {
    ear?.close();
    await presence?.close();
  });
  return { closed, close: () => handle.close() };
}

interface Presence {
  /** A call of the agent was carried out: the hub is there, and it may be word of the agent itself. */
  heard(name: string, input: unknown): void;
  close(): Promise<void>;
}

/**
 * Tells the hub that the agent is there, and repeats that it is busy while that is what it said. That it
 * waits for a person the hub keeps by itself, until the person speaks. A refusal changes nothing.
 */
function createPresence(mention: Mention): Presence {
  const ending = new AbortController();
  let said: { readonly state: string; readonly note?: unknown } | null = { state: 'idle' };
  let saidUntil = Number.POSITIVE_INFINITY;
  let isKnown = false;
  let reporting: Promise<void> | null = null;

  function report(): void {
    if (said === null || reporting !== null || ending.signal.aborted) return;
    if (performance.now() > saidUntil) said = { state: 'idle' };
    const limit = AbortSignal.timeout(REPORT_EVERY_MS);
    const told =
      isKnown && said.state !== 'busy'
        ? mention('channels_heartbeat', { status: 'online', ttl: REPORT_TTL_S }, limit)
        : mention('presence_report', { ...said, process: process.pid, ttl: REPORT_TTL_S }, limit);
    reporting = told.then((isAnswered) => {
      isKnown ||= isAnswered;
      reporting = null;
    });
  }
  const timer = setInterval(report, REPORT_EVERY_MS).unref();
  report();
  return {
    heard(name, input) {
      const { state, status, note, ttl } = (input ?? {}) as Fields;
      const isReport = name === 'presence_report';
      if (isReport || name === 'channels_heartbeat') {
        const beat = status === 'offline' ? null : { state: status === 'busy' ? 'busy' : 'idle' };
        said = isReport ? { state: String(state), note } : beat;
        const lastsS = typeof ttl === 'number' ? ttl : Number.POSITIVE_INFINITY;
        saidUntil = performance.now() + lastsS * 1000;
      } else if (!isKnown) report();
    },
    async close() {
      clearInterval(timer);
      ending.abort();
      const limit = AbortSignal.timeout(FAREWELL_MS);
      // The other way round the hub would hear last that the agent is here.
      if (reporting !== null) await Promise.race([reporting, once(limit, 'abort')]);
      if (isKnown && !limit.aborted) await mention('channels_heartbeat', OFFLINE, limit);
    },
  };
}
