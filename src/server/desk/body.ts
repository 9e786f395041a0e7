/** Bodies at the door of the law: deep or large ones are refused before anything is stored [M6]. */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { BODY_BYTES_MAX, BODY_DEPTH_MAX } from '../../core/law/limits.ts';
import { utf8Bytes } from '../../core/law/text.ts';

/** The body as JSON text, or why it is not taken; a channel's schema has the same bounds. */
export function bodyText(
  body: Record<string, unknown>,
  field: 'body' | 'schema' | 'post_schema' | 'items' = 'body',
): string | Refusal {
  const least = leastChars(body, BODY_DEPTH_MAX);
  if (least === DEEPER) {
    return refuse('body.too-deep', `a ${field} nests at most ${BODY_DEPTH_MAX} levels`, {
      violations: [{ field, issue: `nested deeper than ${BODY_DEPTH_MAX} levels` }],
    });
  }
  // What cannot fit is not written to find that out.
  const text = least > BODY_BYTES_MAX ? null : JSON.stringify(body);
  if (text !== null && fits(text)) return text;
  return refuse('body.too-large', `a ${field} has at most ${BODY_BYTES_MAX} bytes of JSON`, {
    violations: [{ field, issue: `larger than ${BODY_BYTES_MAX} bytes` }],
    max_bytes: BODY_BYTES_MAX,
  });
}

/** A UTF-16 unit is one to three bytes of UTF-8; counting them is needed only near the limit. */
function fits(text: string): boolean {
  if (text.length * 3 <= BODY_BYTES_MAX) return true;
  return text.length <= BODY_BYTES_MAX && utf8Bytes(text) <= BODY_BYTES_MAX;
}

const DEEPER = Number.POSITIVE_INFINITY;

/** As JSON it has no fewer characters: its texts with their quotes. */
function leastChars(value: unknown, levels: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 1;
  if (levels === 0) return DEEPER;
  let chars = 2;
  for (const key in value) {
    chars += leastChars((value as Record<string, unknown>)[key], levels - 1);
  }
  return chars;
}
