/** The two ways to an MCP server, both by way of a guard: a child process on its pipes, and HTTP. */
import type { ChildProcess } from 'node:child_process';
import type { FetchLike, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { readJson } from '../../core/law/json.ts';
import type { Guard } from '../../guard/guard.ts';
import type { SpawnOptions } from '../../guard/spawn.ts';

const LINE_BYTES_MAX = 16 * 1024 * 1024;
const END_MS = 2_000;

/**
 * An MCP server that is started as a program.
 *
 * @example
 * ```ts
 * const files: McpProgram = { program: 'mcp-files', args: ['/srv/docs'], enforcement: 'os' };
 * ```
 */
export interface McpProgram extends Pick<SpawnOptions, 'cwd' | 'env' | 'enforcement'> {
  readonly program: string;
  readonly args?: readonly string[];
}

/** A child of the guard, in its sandbox where there is one; one message a line. */
export function createChildTransport(guard: Guard, server: McpProgram): Transport {
  let child: ChildProcess | null = null;
  const transport: Transport = {
    async start() {
      const { program, args = [], ...options } = server;
      const started = await guard.spawn(program, args, options);
      child = started.child;
      // What it logs is its own; nobody reads it, and nobody must for the pipe not to fill.
      child.stderr?.resume();
      child.stdin?.on('error', (error) => transport.onerror?.(error));
      child.once('close', () => transport.onclose?.());
      readLines(child, (line) => {
        try {
          transport.onmessage?.(readJson(line) as JSONRPCMessage);
        } catch (cause) {
          // One bad line is one error, and costs nobody else anything.
          transport.onerror?.(new Error('a line of the server is no message', { cause }));
        }
      });
    },
    async send(message) {
      const { stdin } = child ?? {};
      if (stdin == null || stdin.destroyed) throw new Error('the server has ended');
      await new Promise<void>((resolve, reject) =>
        stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve())),
      );
    },
    async close() {
      if (child === null) return;
      await end(child);
      child = null;
    },
  };
  return transport;
}

function readLines(child: ChildProcess, take: (line: string) => void): void {
  let rest: Buffer[] = [];
  let size = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...rest, chunk.subarray(from, at)]).toString('utf8');
      [rest, size, from] = [[], 0, at + 1];
      if (line.trim() !== '') take(line);
    }
    rest.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > LINE_BYTES_MAX) child.kill('SIGKILL');
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.stdin?.end();
  const kill = setTimeout(() => child.kill('SIGKILL'), END_MS);
  await ended;
  clearTimeout(kill);
}

/** For the library's own transport: every request is decided, and goes to the address decided on. */
export function createGuardedFetch(guard: Guard): FetchLike {
  return async (url, init = {}) => {
    const { method, body, signal, redirect } = init;
    if (body != null && typeof body !== 'string') throw new Error('a body is text here');
    return guard.fetch(String(url), {
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(method !== undefined && { method }),
      ...(body != null && { body }),
      ...(signal != null && { signal }),
      ...(redirect !== undefined && { redirect }),
    });
  };
}
