/**
 * Records as OTLP says them in JSON: ids in hex, times in nanoseconds as text, kinds as numbers, whole
 * numbers as text. The ids of a record are attributes under `synod.`.
 */
import type {
  AttributeValue,
  LogRecord,
  MetricRecord,
  SinkAttributes,
  SpanRecord,
  TelemetryRecord,
} from './record.ts';

export interface Resource {
  readonly [name: string]: string;
}

interface Said {
  readonly key: string;
  readonly value: Record<string, unknown>;
}

const KINDS = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;
const SEVERITIES = { debug: 5, info: 9, warn: 13, error: 17 } as const;
const ERROR = 2;
const DELTA = 1;
const SCOPE = { name: 'synod' };

/** One request for each signal there is something of, by the path it goes to. */
export function otlpBodies(
  records: readonly TelemetryRecord[],
  resource: Resource,
): { readonly path: string; readonly records: number; readonly body: object }[] {
  const spans = records.filter((one) => one.kind === 'span');
  const logs = records.filter((one) => one.kind === 'log');
  const metrics = records.filter((one) => one.kind === 'metric');
  const by = { resource: { attributes: saidOf(resource) } };
  const scope = SCOPE;
  return [
    {
      path: '/v1/traces',
      records: spans.length,
      body: { resourceSpans: [{ ...by, scopeSpans: [{ scope, spans: spans.map(spanOf) }] }] },
    },
    {
      path: '/v1/logs',
      records: logs.length,
      body: { resourceLogs: [{ ...by, scopeLogs: [{ scope, logRecords: logs.map(logOf) }] }] },
    },
    {
      path: '/v1/metrics',
      records: metrics.length,
      body: {
        resourceMetrics: [{ ...by, scopeMetrics: [{ scope, metrics: metrics.map(metricOf) }] }],
      },
    },
  ].filter((request) => request.records > 0);
}

function spanOf(span: SpanRecord): object {
  const { traceId, spanId, parentId, name, at, ms, error, links } = span;
  return {
    ...{ traceId, spanId, ...(parentId !== null && { parentSpanId: parentId }) },
    ...{ name, kind: KINDS[span.spanKind] },
    startTimeUnixNano: nanos(at),
    endTimeUnixNano: nanos(at + ms),
    attributes: [
      ...attributesOf(span),
      ...(error === null ? [] : saidOf({ 'error.type': error.type })),
    ],
    ...(links.length > 0 && {
      links: links.map((one) => ({ traceId: one.traceId, spanId: one.spanId })),
    }),
    status:
      error === null
        ? {}
        : { code: ERROR, ...(error.message !== null && { message: error.message }) },
  };
}

function logOf(log: LogRecord): object {
  const { level, name, at, traceId, spanId } = log;
  return {
    ...{ timeUnixNano: nanos(at), observedTimeUnixNano: nanos(at) },
    ...{ severityNumber: SEVERITIES[level], severityText: level.toUpperCase() },
    ...{ eventName: name, body: { stringValue: name }, attributes: attributesOf(log) },
    ...(traceId !== null && { traceId, spanId }),
  };
}

function metricOf(metric: MetricRecord): object {
  const { name, unit, sum, spread, since, at } = metric;
  const attributes = attributesOf(metric);
  const when = { startTimeUnixNano: nanos(since), timeUnixNano: nanos(at) };
  if (spread === null) {
    const dataPoints = [{ ...when, attributes, asDouble: sum }];
    const counted = { dataPoints, aggregationTemporality: DELTA, isMonotonic: true };
    return { name, unit, sum: counted };
  }
  const { count, min, max, bounds, buckets } = spread;
  const point = {
    ...{ ...when, attributes, count: String(count), sum, min, max },
    ...{ bucketCounts: buckets.map(String), explicitBounds: bounds },
  };
  return { name, unit, histogram: { dataPoints: [point], aggregationTemporality: DELTA } };
}

function attributesOf({ ids, attributes }: TelemetryRecord): Said[] {
  const named = Object.entries(ids).map(([name, id]) => [`synod.${name}`, id as string]);
  return [...saidOf(Object.fromEntries(named)), ...saidOf(attributes)];
}

function saidOf(attributes: SinkAttributes): Said[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: wordOf(value) }));
}

function wordOf(value: AttributeValue): Record<string, unknown> {
  switch (typeof value) {
    case 'string':
      return { stringValue: value };
    case 'boolean':
      return { boolValue: value };
    case 'number':
      return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
    default:
      return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } };
  }
}

/** A double has not the room for nanoseconds since 1970. */
function nanos(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}
