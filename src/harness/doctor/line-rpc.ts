/**
 * A program started to be spoken to: JSON-RPC, one message a line, over its stdin and stdout. Every
 * question has an end in time, what it prints is bounded, and the program is ended by whoever started
 * it here: asked first, then made to.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { readJson } from '../../core/law/json.ts';
import { isFields } from '../../wire/fields.ts';

export interface Launched {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export type RpcAnswer =
  | { readonly result: Readonly<Record<string, unknown>> }
  | { readonly error: string };

export interface LineRpc {
  /** Never rejects: whatever goes wrong is the error. */
  ask(method: string, params: object, timeoutMs: number): Promise<RpcAnswer>;
  tell(method: string, params?: object): void;
  /** The last it said on stderr. */
  lastWords(): string;
  close(): Promise<void>;
}

const LINE_CHARS_MAX = 8 * 1024 * 1024;
const WORDS_CHARS_MAX = 2_000;
const LEAVE_MS = 1_000;

export function openLineRpc({ command, args, env, cwd }: Launched): LineRpc {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(command, args, {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const waiting = new Map<number, (answer: RpcAnswer) => void>();
  let words = '';
  let rest = '';
  let end: string | null = null;
  let count = 0;

  function finish(why: string): void {
    end ??= why;
    for (const give of waiting.values()) give({ error: end });
    waiting.clear();
  }

  function hear(line: string): void {
    let message: unknown;
    try {
      message = readJson(line);
    } catch {
      // Whatever else it prints there is none of an answer.
      return;
    }
    if (!isFields(message) || typeof message.id !== 'number' || 'method' in message) return;
    const give = waiting.get(message.id);
    waiting.delete(message.id);
    if (isFields(message.error)) give?.({ error: String(message.error.message ?? 'refused') });
    else give?.({ result: isFields(message.result) ? message.result : {} });
  }

  child.once('error', (error) => finish(error.message));
  child.once('exit', (code, signal) => finish(`it ended (${signal ?? `exit ${code}`})`));
  child.stdin.on('error', () => {});
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = `${words}${text}`.slice(-WORDS_CHARS_MAX);
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) hear(line);
    if (rest.length > LINE_CHARS_MAX) finish('it says too much in one line');
  });

  return {
    ask(method, params, timeoutMs) {
      if (end !== null) return Promise.resolve({ error: end });
      const id = ++count;
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(id);
          resolve({ error: `no answer to ${method} within ${timeoutMs / 1000} s` });
        }, timeoutMs);
        waiting.set(id, (answer) => {
          clearTimeout(timer);
          resolve(answer);
        });
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      });
    },
    tell(method, params = {}) {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
    },
    lastWords: () => words.trim().split('\n').at(-1) ?? '',
    async close() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.stdin.end();
      const ask = setTimeout(() => child.kill('SIGTERM'), LEAVE_MS);
      const force = setTimeout(() => child.kill('SIGKILL'), 2 * LEAVE_MS);
      await gone;
      clearTimeout(ask);
      clearTimeout(force);
    },
  };
}
