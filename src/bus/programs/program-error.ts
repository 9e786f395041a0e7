/**
 * The one error the programs throw, and its numbers. One below zero is JSON-RPC's or ACP's; 1 to 10
 * are those of the bus, so that its SDKs raise the class they know.
 */
import type { JsonObject } from '../process/json-object.ts';

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

/** A file, flag or variable that cannot be used, or a package that is not installed. */
export class ProgramConfigError extends Error {
  override readonly name = 'ProgramConfigError';
  readonly code = 'config.invalid';
}

/** Reads a body to its end, up to a bound. */
export async function readBounded(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
  tooLong: () => Error,
): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of chunks) {
    bytes += part.length;
    if (bytes > bytesMax) throw tooLong();
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Text of a peer for a log line: short, and without anything a terminal would obey. */
export function quoted(text: string, charsMax = 200): string {
  return JSON.stringify(text.length > charsMax ? `${text.slice(0, charsMax)}…` : text);
}

export function messageOfError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
