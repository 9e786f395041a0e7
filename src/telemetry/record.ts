/** What telemetry tells its sinks: something that was noted, a span that ended, a measure of a while. */
import type { TraceContext } from '../core/law/traceparent.ts';

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
/**
 * How grave a record is.
 *
 * @example
 * ```ts
 * const isLoud = (level: Level): boolean => level === 'warn' || level === 'error';
 * ```
 */
export type Level = (typeof LEVELS)[number];

/**
 * What a record is about; whatever of it is known where the record is made stands in the record.
 *
 * @example
 * ```ts
 * const ids: Ids = { space: 'default', agent: 'ada', workflow: 'land-topic' };
 * ```
 */
export interface Ids {
  readonly space?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly workflow?: string;
  readonly step?: string;
  readonly turn?: string;
}

/**
 * Facts, never bodies: a body leaves by `Span.content` alone, and only where it was asked for [TL6].
 *
 * @example
 * ```ts
 * const value: AttributeValue = ['fast', 'green'];
 * ```
 */
export type AttributeValue = string | number | boolean | readonly string[];
/**
 * What a record says by name; what is null or undefined is left out.
 *
 * @example
 * ```ts
 * const facts: Attributes = { branch: 'topic', files: 3, tags: ['fast'] };
 * ```
 */
export type Attributes = Readonly<Record<string, AttributeValue | null | undefined>>;
/**
 * As a sink gets them: bounded, and without secrets.
 *
 * @example
 * ```ts
 * const branchOf = (attributes: SinkAttributes) => attributes.branch ?? 'none';
 * ```
 */
export type SinkAttributes = Readonly<Record<string, AttributeValue>>;

/**
 * Which side of a call a span is, as OpenTelemetry names it.
 *
 * @example
 * ```ts
 * const isOutside = (kind: SpanKind): boolean => kind !== 'internal';
 * ```
 */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

interface Head {
  readonly name: string;
  readonly level: Level;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly ids: Ids;
  readonly attributes: SinkAttributes;
}

/**
 * Something that was said at one moment.
 *
 * @example
 * ```ts
 * const line = ({ name, traceId }: LogRecord): string => `${name} in ${traceId ?? 'no trace'}`;
 * ```
 */
export interface LogRecord extends Head {
  readonly kind: 'log';
  readonly traceId: string | null;
  readonly spanId: string | null;
}

/**
 * Something that took a while, in its trace.
 *
 * @example
 * ```ts
 * const line = ({ name, ms, error }: SpanRecord): string => `${name} ${ms} ms ${error?.type ?? ''}`;
 * ```
 */
export interface SpanRecord extends Head {
  readonly kind: 'span';
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly spanKind: SpanKind;
  /** Other spans that caused it. */
  readonly links: readonly TraceContext[];
  /** How long it took; `at` is when it began. */
  readonly ms: number;
  /** Null when it went well; else a word for what went wrong, and the message where that was asked for. */
  readonly error: { readonly type: string; readonly message: string | null } | null;
}

/**
 * What was counted or measured since the one before.
 *
 * @example
 * ```ts
 * const line = ({ name, sum, unit }: MetricRecord): string => `${name}: ${sum} ${unit}`;
 * ```
 */
export interface MetricRecord extends Head {
  readonly kind: 'metric';
  readonly since: number;
  readonly unit: string;
  readonly sum: number;
  /** Null for a count of events. */
  readonly spread: Spread | null;
}

/**
 * How measured values are spread over buckets.
 *
 * @example
 * ```ts
 * const mean = (sum: number, { count }: Spread): number => sum / count;
 * ```
 */
export interface Spread {
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly bounds: readonly number[];
  /** One more than there are bounds. */
  readonly buckets: readonly number[];
}

/**
 * What a sink is given.
 *
 * @example
 * ```ts
 * const isSpan = (record: TelemetryRecord): boolean => record.kind === 'span';
 * ```
 */
export type TelemetryRecord = LogRecord | SpanRecord | MetricRecord;

/**
 * Where records go. It is never waited for, and what it throws reaches nobody [TL3].
 *
 * @example
 * ```ts
 * const sink: Sink = {
 *   ...{ name: 'screen', level: 'warn' },
 *   write(records) {
 *     process.stderr.write(`${records.length} records\n`);
 *   },
 * };
 * ```
 */
export interface Sink {
  readonly name?: string;
  /** Records below it are not for this sink; `info` unless it says. */
  readonly level?: Level;
  /** In order, one call at a time. The answer, if there is one: how many of them were not taken. */
  write(
    records: readonly TelemetryRecord[],
  ): undefined | number | Promise<undefined | number> | Promise<void> | void;
  close?(): void | Promise<void>;
}

export function rankOf(level: Level): number {
  return LEVELS.indexOf(level);
}
