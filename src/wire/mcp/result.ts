/**
 * An answer as a tool result: the output as structured content and the same JSON
 * as text, for clients that read only one of them [MC4]. A refusal is a result too,
 * marked `isError` and in text alone, so that the model can read what was wrong and mend it [MC5].
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ErrorEnvelope } from '../errors.ts';
import { toolName } from '../operation.ts';
import { findOperation } from '../operations/table.ts';

/** What the desk or the hub behind a bridge answered. */
export type ToolAnswer =
  | { readonly ok: Readonly<Record<string, unknown>>; readonly metadata?: object }
  | { readonly error: ErrorEnvelope; readonly metadata?: object };

export function toToolResult(answer: ToolAnswer): CallToolResult {
  const isError = 'error' in answer;
  const value: Record<string, unknown> = isError ? inToolNames(answer.error) : answer.ok;
  return {
    content: [{ type: 'text', text: toVisibleJson(value) }],
    // An error has no structure: clients hold it to the tool's output schema, and would show the
    // model a complaint about the schema instead of what was wrong.
    ...(isError ? { isError } : { structuredContent: value }),
    ...(answer.metadata !== undefined && { _meta: { 'sox/metadata': answer.metadata } }),
  };
}

/** A refusal names operations by their ids; here they are tools, listed or not, and are called so [MC5]. */
function inToolNames(error: ErrorEnvelope): Record<string, unknown> {
  const message = error.message.replace(/\b[a-z]+\.[a-z_]+\b/g, (word) => {
    const operation = findOperation(word);
    return operation?.id === word ? toolName(operation) : word;
  });
  return { ...error, message };
}

// C1 controls, zero-width and direction marks, and the tag block: what a terminal obeys and a reader
// cannot see. Written as JSON escapes they mean the same to a parser and can no longer hide anything.
const UNSEEN =
  /[\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

function toVisibleJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSEEN, (seen) =>
    seen
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
