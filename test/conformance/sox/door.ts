/**
 * What a door is to the suite: it carries one call of one agent and brings back the
 * answer as that door gives it.
 */
import type { Operation } from './story.ts';

export interface Call {
  readonly agent: string;
  readonly op: Operation;
  readonly input: Readonly<Record<string, unknown>>;
  readonly clientVersion?: string | undefined;
}

export interface Answer {
  readonly isError: boolean;
  readonly output: Readonly<Record<string, unknown>>;
  readonly trace?: unknown;
}

export interface Door {
  call(call: Call): Promise<Answer>;
  close(): Promise<void>;
}

export interface DoorOptions {
  readonly url: string;
  /** The namespace to ask for; without it the agent's own. */
  readonly space?: string | undefined;
  /** Ask for the pipeline trace with every call. */
  readonly trace?: boolean | undefined;
  /** At an MCP door, first read the tools, so that the client holds answers to their schemas. */
  readonly listsTools?: boolean | undefined;
}

/** A call that the server never answers must not hang the suite. */
export const CALL_TIMEOUT_MS = 30_000;

/** The headers by which an agent is known at both HTTP doors. */
export function identityHeaders(
  agent: string,
  options: DoorOptions,
): Readonly<Record<string, string>> {
  return {
    'X-SOX-Agent-ID': agent,
    ...(options.space === undefined ? {} : { 'X-SOX-Namespace': options.space }),
  };
}
