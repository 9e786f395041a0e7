/**
 * W3C Trace Context: the one line, `traceparent`, that says which trace something belongs to and which span
 * caused it. What cannot be read is no trace [TL8]: nobody is refused for it.
 */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** Of the span that caused what comes next; 16 hex digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
const SAMPLED = 1;
/** A later version may say more behind what we know; nobody needs more than this to say it. */
const CHARS_MAX = 256;

/** Null for anything that is none. */
export function parseTraceparent(text: unknown): TraceContext | null {
  if (typeof text !== 'string' || text.length > CHARS_MAX) return null;
  const [, version, traceId, spanId, flags, more] = FORM.exec(text) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined) return null;
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags ?? '', 16) & SAMPLED) === SAMPLED };
}

export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** What was read, said again in the one form that is stored; null where there was none. */
export function readTraceparent(text: unknown): string | null {
  const trace = text == null ? null : parseTraceparent(text);
  return trace && formatTraceparent(trace);
}
