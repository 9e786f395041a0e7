/**
 * MCP over stdio: `synod mcp`, a thin bridge from one client process to the hub. It
 * speaks both eras, writes nothing but messages to the output, and ends when its
 * input ends: calls that only wait are given up at once, so that no message is taken
 * for a client that has left, and the others are answered first [MC8].
 */
import type { Readable, Writable } from 'node:stream';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isRefusal, type Refusal } from '../../core/decider.ts';
import { createLineWire } from './lines.ts';
import { mayWait } from './messages.ts';
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
  /** For stderr. */
  onError(error: Error): void;
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
  const wire = createLineWire({
    input: options.input,
    output: options.output,
    onInputEnd: () => leaving.abort(),
  });
  const handle = serveStdio(
    () =>
      createMcpServer({
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
      }),
    { transport: wire, onerror: onError },
  );
  return { closed: wire.closed, close: () => handle.close() };
}
