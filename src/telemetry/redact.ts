/**
 * What a record loses before any sink sees it [TL5]: values under names that mean secrets, what looks like
 * a credential wherever it stands, and everything past a bound.
 */
import type { Attributes, AttributeValue, Ids, SinkAttributes } from './record.ts';

export const ATTRIBUTES_MAX = 64;
export const ATTRIBUTE_CHARS_MAX = 1_024;
/** Of a body that was asked for. */
export const CONTENT_CHARS_MAX: number = 16 * 1_024;
const LIST_MAX = 32;
const ID_CHARS_MAX = 256;

export const REDACTED = '[redacted]';

/**
 * What else must not leave: the value to put there, or null for none.
 *
 * @example
 * ```ts
 * const noPaths: Redact = (name, value) => (name.endsWith('.path') ? null : value);
 * ```
 */
export type Redact = (name: string, value: AttributeValue) => AttributeValue | null;

const SECRET_NAME =
  /(^|[._-])(authorization|cookie|password|passwd|passphrase|secret|token|api[._-]?key|credential|private[._-]?key)s?$/i;

const SECRET_TEXT = new RegExp(
  [
    'Bearer\\s+[\\w.~+/-]{8,}=*',
    // This hub's own, and those of vendors whose form is known.
    'sy[a-z]_[\\w.-]{16,}',
    'sk-[\\w-]{16,}',
    'gh[a-z]_[A-Za-z0-9]{20,}',
    'github_pat_\\w{20,}',
    'xox[a-z]-[\\w-]{10,}',
    'AKIA[0-9A-Z]{16}',
    'AIza[\\w-]{30,}',
    'eyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]*',
    '-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?',
    // Between scheme and host.
    '(?<=://)[^\\s/@:]+:[^\\s/@]+(?=@)',
  ].join('|'),
  'g',
);

/** The text without what looks like a credential. */
export function redactText(text: string): string {
  return text.replace(SECRET_TEXT, REDACTED);
}

/** The same, and where each of them began. */
export function findSecrets(text: string): { readonly text: string; readonly at: number[] } {
  const at: number[] = [];
  const clean = text.replace(SECRET_TEXT, (found, ...more) => {
    at.push(more.find((one) => typeof one === 'number') ?? 0);
    return found === '' ? found : REDACTED;
  });
  return { text: clean, at };
}

export function redactIds(ids: Ids): Ids {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(ids)) {
    if (typeof value === 'string') clean[name] = redactText(value.slice(0, ID_CHARS_MAX));
  }
  return clean;
}

/** `bodies`: names that hold a body, which may be longer. */
export function redactAttributes(
  attributes: Attributes,
  also: Redact | null,
  bodies: ReadonlySet<string> | null = null,
): SinkAttributes {
  const clean: Record<string, AttributeValue> = {};
  let count = 0;
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (++count > ATTRIBUTES_MAX) break;
    const max = bodies?.has(name) ? CONTENT_CHARS_MAX : ATTRIBUTE_CHARS_MAX;
    const known = cleanValue(name, value, max);
    const left = also === null ? known : askedAlso(also, name, known);
    if (left !== null) clean[name] = left;
  }
  return clean;
}

function cleanValue(name: string, value: AttributeValue, max: number): AttributeValue {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'boolean') return value;
  if (SECRET_NAME.test(name)) return REDACTED;
  if (typeof value === 'string') return cut(redactText(cut(value, max * 2)), max);
  // The types say so; programs without types do not ask them.
  if (!Array.isArray(value)) return `[${typeof value} left out]`;
  return value.slice(0, LIST_MAX).map((one) => cut(redactText(String(one)), ATTRIBUTE_CHARS_MAX));
}

/** One that throws has not said that the value may leave. */
function askedAlso(also: Redact, name: string, value: AttributeValue): AttributeValue | null {
  try {
    return also(name, value);
  } catch {
    return REDACTED;
  }
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}
