/**
 * The tools of the proxy: what each takes, and how an outcome becomes a tool result. A failure is a
 * result with `isError`, a category and a number, and with the text that came before it, never
 * text that looks like success.
 */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { JsonObject } from '../process/json-object.ts';
import { CODE, messageOfError, ProgramError } from './program-error.ts';
import { BrokenAnswerError } from './proxy-sessions.ts';

type Properties = NonNullable<Tool['inputSchema']['properties']>;

const prompt = { type: 'string', description: 'what to say to the agent; at most 1 MiB' } as const;
const session_id = { type: 'string', description: 'from sessions_create' } as const;
const agent_id = { type: 'string', description: 'which agent; see agents_discover' } as const;
const timeout_ms = { type: 'integer', minimum: 1, maximum: 3_600_000 } as const;

const tool = (
  name: string,
  description: string,
  properties: Properties,
  required: string[],
  isReadOnly: boolean,
): Tool => ({
  ...{ name, description },
  inputSchema: { type: 'object', properties, required },
  annotations: {
    readOnlyHint: isReadOnly,
    destructiveHint: false,
    idempotentHint: isReadOnly,
    openWorldHint: !isReadOnly,
  },
});

export const PROXY_TOOLS: readonly Tool[] = [
  tool(
    'acp_prompt',
    'Asks the agent something in the session of this connection and waits for the answer.',
    { prompt, timeout_ms },
    ['prompt'],
    false,
  ),
  tool(
    'sessions_create',
    'Opens a session with an agent. It ends after an hour, or ten minutes without use.',
    {
      agent_id,
      cwd: { type: 'string', description: 'where the agent works; an absolute path' },
      metadata: { type: 'object', description: 'yours; at most 64 KiB; shown by sessions_status' },
    },
    [],
    false,
  ),
  tool(
    'sessions_prompt',
    'Asks the agent something in a session and waits for the answer.',
    { session_id, prompt, timeout_ms },
    ['session_id', 'prompt'],
    false,
  ),
  tool(
    'sessions_status',
    'Says how a session is; without session_id, all of them.',
    { session_id },
    [],
    true,
  ),
  tool('sessions_cancel', 'Stops the prompt that runs.', { session_id }, ['session_id'], false),
  tool('sessions_close', 'Ends a session.', { session_id }, ['session_id'], false),
  tool(
    'tasks_delegate',
    'Gives an agent one task in a session of its own and waits for the answer.',
    { prompt, agent_id, timeout_ms },
    ['prompt'],
    false,
  ),
  tool('agents_discover', 'Lists the agents behind the bus, as far as they say.', {}, [], true),
  tool('bridge_health', 'Says whether the bus is reached, and the limits.', {}, [], true),
];

export function resultOf(value: JsonObject, text?: string): CallToolResult {
  return {
    content: [{ type: 'text', text: text ?? JSON.stringify(value) }],
    structuredContent: value,
  };
}

interface Category {
  readonly category: string;
  readonly code: number;
  readonly retryable: boolean;
}

export function errorResult(error: unknown): CallToolResult {
  const cause = error instanceof BrokenAnswerError ? error.cause : error;
  const text = error instanceof BrokenAnswerError ? error.text : null;
  const message = messageOfError(cause);
  const content: CallToolResult['content'] = [{ type: 'text', text: message }];
  if (text !== null) content.push({ type: 'text', text: `It had said before:\n${text}` });
  const detail = cause instanceof ProgramError ? cause.detail : {};
  return {
    content,
    structuredContent: {
      error: { ...categoryOf(cause), message, detail },
      ...(text !== null && { text }),
    },
    isError: true,
  };
}

function categoryOf(error: unknown): Category {
  if (!(error instanceof ProgramError)) return row('INTERNAL', -32_603, false);
  const retryable = error.detail.retryable === true;
  // What may have run is not asked again without looking.
  const isUndone = error.detail.mayHaveRun !== true;
  switch (error.code) {
    case CODE.authRequired:
    case -32_004:
      return row('AUTH', -32_003, false);
    case CODE.timeout:
    case CODE.cancelled:
      return row('TIMEOUT', -32_001, error.code === CODE.timeout && isUndone);
    case CODE.transport:
    case CODE.unavailable:
    case CODE.exhausted:
      return row('TRANSPORT', -32_000, isUndone);
    case CODE.invalidParams:
    case CODE.invalidRequest:
      return row('CONFIG', -32_004, false);
    default:
      return row('UPSTREAM', -32_002, retryable);
  }
}

function row(category: string, code: number, retryable: boolean): Category {
  return { category, code, retryable };
}
