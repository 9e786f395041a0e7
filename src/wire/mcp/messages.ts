/** What a door must know of a JSON-RPC message before the MCP library has judged it. Nothing is believed. */
import { type Fields, isFields, waitMsOf } from '../fields.ts';
import type { McpTools } from './tools.ts';

export function requestIds(body: unknown): readonly unknown[] {
  return messagesOf(body).flatMap(({ id }) => (id === undefined ? [] : [id]));
}

export function cancelledIds(body: unknown): readonly unknown[] {
  return messagesOf(body)
    .filter(({ method }) => method === 'notifications/cancelled')
    .map(({ params }) => (isFields(params) ? params.requestId : undefined));
}

const LISTS: readonly unknown[] = ['tools/list', 'resources/list', 'resources/templates/list'];

/** The lists that a body asks for. Each has one page, so a batch has no reason to ask for one twice. */
export function listsAskedFor(body: unknown): readonly unknown[] {
  return messagesOf(body).flatMap(({ method }) => (LISTS.includes(method) ? [method] : []));
}

export function isListen(body: unknown): boolean {
  return isFields(body) && body.method === 'subscriptions/listen';
}

export function anyMayWait(tools: McpTools, body: unknown): boolean {
  return messagesOf(body).some(({ method, params }) => {
    if (method !== 'tools/call' || !isFields(params)) return false;
    const operation = typeof params.name === 'string' ? tools.find(params.name) : undefined;
    return operation !== undefined && waitMsOf(params.arguments) > 0;
  });
}

function messagesOf(body: unknown): readonly Fields[] {
  return (Array.isArray(body) ? body : [body]).filter(isFields);
}
