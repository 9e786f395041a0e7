/**
 * Messages as the SDK makes and reads them. What it makes is JSON-RPC 2.0 with the bus's routing
 * fields at the top level; empty `params` and an empty `_ext` are left out, as the reference does.
 */

import { type ByteLine, lineOf } from '../process/byte-line.ts';
import { type JsonObject, objectAt, textAt } from '../process/json-object.ts';
import { InvalidArgumentError } from './errors.ts';

export type Params = JsonObject | readonly unknown[];

/** Who is asking, in the caller's own words: the bus passes it on as `self`. */
export interface CallerIdentity {
  readonly subjectId: string;
  readonly role: string;
  readonly assertedBy?: string;
}

export interface AuditEvent {
  readonly eventId: string;
  readonly action: string;
  readonly parentEventId?: string;
  readonly timestamp?: string;
  readonly actor?: Readonly<Record<string, string>>;
  readonly resource?: string;
  readonly outcome?: string;
}

/** Where a message goes and what travels with it. */
export interface Routing {
  readonly sessionId?: string | undefined;
  readonly pool?: string | undefined;
  readonly agentId?: string | undefined;
  readonly ext?: JsonObject | undefined;
}

/** A notification of the bus or of a worker, parsed. */
export interface BusNotification {
  readonly method: string;
  readonly params?: unknown;
  readonly sessionId?: string;
  readonly _ext?: JsonObject;
  readonly [member: string]: unknown;
}

export interface OutgoingCall {
  readonly id: string;
  readonly method: string;
  readonly params?: Params | undefined;
}

export function requestLine(call: OutgoingCall, routing: Routing): ByteLine {
  return line({ jsonrpc: '2.0', id: call.id, ...body(call.method, call.params, routing) });
}

export function notificationLine(
  method: string,
  params: Params | undefined,
  routing: Routing,
): ByteLine {
  return line({ jsonrpc: '2.0', ...body(method, params, routing) });
}

/** An answer to a worker's request; `error` when it is one. */
export function answerLine(
  id: unknown,
  outcome: { readonly result: unknown } | { readonly error: unknown },
  sessionId: string | undefined,
): ByteLine {
  return line({ jsonrpc: '2.0', id, ...outcome, ...(sessionId !== undefined && { sessionId }) });
}

function body(method: string, params: Params | undefined, routing: Routing): JsonObject {
  const { sessionId, pool, agentId, ext } = routing;
  return {
    method,
    ...(!isEmpty(params) && { params }),
    ...(sessionId !== undefined && { sessionId }),
    ...(pool !== undefined && { pool }),
    ...(agentId !== undefined && { agentId }),
    ...(ext !== undefined && !isEmpty(ext) && { _ext: ext }),
  };
}

function isEmpty(value: Params | undefined): boolean {
  return value === undefined || Object.keys(value).length === 0;
}

/** What JSON cannot say (a circle, a BigInt, a `toJSON` that throws) is the caller's mistake. */
function line(message: JsonObject): ByteLine {
  try {
    return lineOf(JSON.stringify(message));
  } catch (cause) {
    const { method } = message;
    const what = typeof method === 'string' ? `the params of ${method}` : 'the answer';
    const [why] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    throw new InvalidArgumentError(`${what} cannot be written as JSON: ${why}`, { cause });
  }
}

/** The text of an `agent_message_chunk`, or null. The method's name is not looked at. */
export function chunkText(notification: BusNotification): string | null {
  const update = objectAt(notification.params, 'update');
  if (update.sessionUpdate !== 'agent_message_chunk') return null;
  return textAt(update.content, 'text') || null;
}

/** The agent's own session, which travels in `params` and is not the bus's. */
export function agentSessionOf(params: unknown): string | null {
  return textAt(params, 'sessionId') || null;
}
