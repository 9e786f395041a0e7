/** What a test sees of a hub that runs, and how it says which one it wants. */
import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHooks } from '../../src/server/run/server.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The JSON of the answer; an empty object when it had none. */
  readonly body: Json;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely; each test asserts what it needs.
export type Json = any;

export type Headers = Readonly<Record<string, string | undefined>>;

export interface RunningHub {
  readonly url: string;
  readonly port: number;
  readonly dir: string;
  readonly socketPath: string;
  /** The owner's credential. */
  readonly owner: string;
  /** What the hub said about itself, by line. */
  readonly log: readonly string[];
  /** Headers that make the owner act as an agent. */
  as(agent: string, space?: string): Record<string, string>;
  /** Asks as the owner, who administers; throws when the hub refuses. */
  admin(operation: string, input?: unknown, space?: string): Promise<Json>;
  /** Asks as an agent; throws when the hub refuses. */
  ask(agent: string, operation: string, input?: unknown, space?: string): Promise<Json>;
  /** Asks with these headers and nothing besides. */
  post(operation: string, input: unknown, headers?: Headers): Promise<Reply>;
  /** Length and head of the log of a space: equal before and after means nothing changed. */
  mark(space?: string): Promise<string>;
  close(): Promise<void>;
}

export interface HubOptions {
  readonly flags?: Readonly<Record<string, unknown>>;
  /** What the config file says. */
  readonly file?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly dir?: string;
  readonly hooks?: ServerHooks;
}
