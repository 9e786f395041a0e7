/**
 * JSON-RPC as the programs see it: parsed objects nobody has judged yet, and the one error they
 * throw. A number below zero is JSON-RPC's or ACP's; 1 to 10 are those of the bus, so that its
 * SDKs raise the class they know.
 */
export type JsonObject = Record<string, unknown>;

export const CODE = {
  timeout: 3,
  transport: 5,
  unavailable: 8,
  exhausted: 9,
  notSupported: 10,
  invalidRequest: -32_600,
  methodUnknown: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  authRequired: -32_000,
  cancelled: -32_800,
} as const;

/** A failure that is an answer: what happened, to what, and what to do. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
  readonly code: number;
  readonly detail: JsonObject;

  constructor(
    code: number,
    message: string,
    detail: JsonObject = {},
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.code = code;
    this.detail = detail;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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

/** Text of a peer for a log line: short, and without anything a terminal would obey. */
export function quoted(text: string, charsMax = 200): string {
  return JSON.stringify(text.length > charsMax ? `${text.slice(0, charsMax)}…` : text);
}

export function messageOfError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The id a cancel notification names, in the words of the bus or of ACP. */
export function cancelledId(message: JsonObject): { readonly id: unknown } | null {
  const { method, params } = message;
  if (!isObject(params)) return null;
  if (method === '$/cancelRequest') return { id: params.id };
  if (method === '$/cancel_request') return { id: params.requestId };
  return null;
}
