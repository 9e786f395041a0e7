/**
 * Parsed JSON whose shape nothing guarantees yet, read field by field. A field that is not what it
 * should be is absent.
 */
import { readJson } from '../core/law/json.ts';
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

export function textOf(fields: Fields, name: string): string | null {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : null;
}

export function fieldsOf(fields: Fields, name: string): Fields {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return isFields(value) ? value : {};
}

/** How long an operation was asked to wait before it answers. `timeout` is what SOX calls it, in seconds. */
export function waitMsOf(input: unknown): number {
  if (!isFields(input)) return 0;
  const waitMs = input.wait_ms ?? Number(input.timeout) * 1000;
  return typeof waitMs === 'number' && waitMs > 0 ? waitMs : 0;
}
