/** JSON-RPC 2.0 as text: what a request is, and how answers are written. */

import type { RefusalCode } from '../../core/law/decider.ts';
import { REFUSALS } from '../../wire/errors.ts';
import { isFields } from '../../wire/fields.ts';
import type { Answer } from '../desk/answer.ts';
import { outputText } from '../desk/output-text.ts';

export type RpcId = string | number | null;

export interface RpcRequest {
  /** Undefined for a notification: nothing is answered. */
  readonly id: RpcId | undefined;
  readonly method: string;
  readonly params: unknown;
  /** From `_meta` beside the params, as MCP has it in them. */
  readonly traceparent: string | null;
}

/** The request in a parsed frame, or null when it is none. */
export function parseRequest(value: unknown): RpcRequest | null {
  if (!isFields(value)) return null;
  const { jsonrpc, id, method, params, _meta: meta } = value;
  if (jsonrpc !== '2.0' || typeof method !== 'string') return null;
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number')
    return null;
  const traceparent = isFields(meta) ? meta.traceparent : null;
  return { id, method, params, traceparent: typeof traceparent === 'string' ? traceparent : null };
}

export function answerText(id: RpcId, answer: Answer): string {
  const idText = typeof id === 'number' ? id : JSON.stringify(id);
  if ('ok' in answer) return `{"jsonrpc":"2.0","id":${idText},"result":${outputText(answer.ok)}}`;
  const { error, sound } = answer;
  const body = { code: sound.rpc, message: error.message, data: error };
  return `{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify(body)}}`;
}

export function errorText(id: RpcId, code: RefusalCode, message: string, rpc?: number): string {
  const { sox, rpc: known } = REFUSALS[code];
  const data = { error_code: sox, message, detail: { reason: code } };
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: rpc ?? known, message, data } });
}

export function notificationText(method: string, paramsText: string): string {
  return createNotification(method)(paramsText);
}

/** Of a method of which there are very many. */
export function createNotification(method: string): (paramsText: string) => string {
  // Joined, and so one piece for each that begins with it.
  const head = ['{"jsonrpc":"2.0","method":"', method, '","params":'].join('');
  return (paramsText) => `${head}${paramsText}}`;
}
