/**
 * JSON-RPC messages as parsed objects, for the sides that read them whole: the programs and the SDK.
 * The router does not parse; it scans (`scan-message.ts`).
 */
import { type ByteLine, textOf } from './byte-line.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The message of a line; null when the line is not a JSON object. */
export function parseObject(line: ByteLine): JsonObject | null {
  const value = parseJson(textOf(line));
  return isObject(value) ? value : null;
}

/** The field if it is an object, else an empty one. */
export function objectAt(value: unknown, key: string): JsonObject {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : {};
}

export function textAt(value: unknown, key: string): string | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** The request a cancel notification names, in the words of LSP or of ACP; null for other messages. */
export function cancelledId({ method, params }: JsonObject): { readonly id: unknown } | null {
  if (method !== '$/cancelRequest' && method !== '$/cancel_request') return null;
  const { id, requestId } = isObject(params) ? params : {};
  return { id: id ?? requestId };
}
