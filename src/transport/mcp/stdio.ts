/**
 * MCP over stdio: `synod mcp`, a thin bridge from one client process to the hub. It
 * speaks both eras, writes nothing but messages to the output, and ends when its
 * input ends: calls that only wait are given up at once, so that no message is taken
 * for a client that has left, and the others are answered first [MC8].
 */
import type { Readable, Writable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isRefusal, type Refusal } from '../../core/decider.ts';
import type { EarHooks, ResourceEar } from './http-listen.ts';
import { createLineWire } from './lines.ts';
import { mayWait } from './messages.ts';
import { RESOURCE_URIS } from './resources.ts';
import type { ToolAnswer } from './result.ts';
import { type CallOptions, createMcpServer } from './server.ts';
import type { McpTools } from './tools.ts';

/** Carries a call to the hub, by the operation's name. */
export type HubCall = (name: string, input: unknown, options: CallOptions) => Promise<ToolAnswer>;

export interface McpStdioOptions {
  readonly call: HubCall;
  readonly tools: McpTools;
  readonly toolset: string;
  readonly version: string;
  readonly input: Readable;
  readonly output: Writable;
  /** How the bridge learns of changes; null where it cannot. */
  readonly ear?: ((hooks: EarHooks) => ResourceEar) | null;
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

export function serveMcpStdio(options: McpStdioOptions): McpStdio | Refusal {
  const { tools, version, onError } = options;
  const listed = tools.list(options.toolset);
  if (isRefusal(listed)) return listed;
  const leaving = new AbortController();
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
        call(operation, input, callOptions) {
          const signal = mayWait(operation, input)
            ? AbortSignal.any([callOptions.signal, leaving.signal])
            : callOptions.signal;
          return options.call(operation.name, input, { ...callOptions, signal });
        },
      });
      // In the newer era the library passes on only what somebody listens to.
      told = { server, uris, isModern: era === 'modern' };
      return server;
    },
    { transport: wire, onerror: onError },
  );
  void wire.closed.then(() => ear?.close());
  return { closed: wire.closed, close: () => handle.close() };
}
