/** Bodies at the door of the law: deep or large ones are refused before anything is stored [M6]. */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { BODY_BYTES_MAX, BODY_DEPTH_MAX } from '../../core/law/limits.ts';
import { utf8Bytes } from '../../core/law/text.ts';

/** The body as JSON text, or why it is not taken; a channel's schema has the same bounds. */
export function bodyText(
  body: Record<string, unknown>,
  field: 'body' | 'schema' | 'post_schema' | 'items' = 'body',
): string | Refusal {
  if (isDeeper(body, BODY_DEPTH_MAX)) {
    return refuse('body.too-deep', `a ${field} nests at most ${BODY_DEPTH_MAX} levels`, {
      violations: [{ field, issue: `nested deeper than ${BODY_DEPTH_MAX} levels` }],
    });
  }
  const text = JSON.stringify(body);
  // A UTF-16 unit is at most three bytes of UTF-8; counting bytes is needed only near the limit.
  const isSmall = text.length * 3 <= BODY_BYTES_MAX;
  if (isSmall || utf8Bytes(text) <= BODY_BYTES_MAX) return text;
  return refuse('body.too-large', `a ${field} has at most ${BODY_BYTES_MAX} bytes of JSON`, {
    violations: [{ field, issue: `larger than ${BODY_BYTES_MAX} bytes` }],
    max_bytes: BODY_BYTES_MAX,
  });
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) {
    if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
  }
  return false;
}
