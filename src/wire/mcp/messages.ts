/** What a door must know of a JSON-RPC message before the MCP library has judged it. Nothing is believed. */
import type { Operation } from '../operation.ts';
import type { McpTools } from './tools.ts';

/** Undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function requestIds(body: unknown): readonly unknown[] {
  return messagesOf(body).flatMap(({ id }) => (id === undefined ? [] : [id]));
}

export function cancelledIds(body: unknown): readonly unknown[] {
  return messagesOf(body)
    .filter(({ method }) => method === 'notifications/cancelled')
    .map(({ params }) => (isObject(params) ? params.requestId : undefined));
}

export function isListen(body: unknown): boolean {
  return isObject(body) && body.method === 'subscriptions/listen';
}

export function anyMayWait(tools: McpTools, body: unknown): boolean {
  return messagesOf(body).some(({ method, params }) => {
    if (method !== 'tools/call' || !isObject(params)) return false;
    const operation = typeof params.name === 'string' ? tools.find(params.name) : undefined;
    return operation !== undefined && mayWait(operation, params.arguments);
  });
}

/** Whether a call may wait for something that has not happened yet. */
export function mayWait(operation: Operation, input: unknown): boolean {
  return waitMsOf(operation, input) > 0;
}

export function waitMsOf(operation: Pick<Operation, 'name'>, input: unknown): number {
  if (!isObject(input)) return 0;
  const waitMs =
    operation.name === 'channels_collect' ? Number(input.timeout) * 1000 : input.wait_ms;
  return typeof waitMs === 'number' && waitMs > 0 ? waitMs : 0;
}

function messagesOf(body: unknown): readonly Record<string, unknown>[] {
  return (Array.isArray(body) ? body : [body]).filter(isObject);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
