/**
 * Telemetry: notes, spans and measures, with what they are about and the trace they belong to, for any
 * number of sinks. Whoever tells something never waits, is never thrown at, and hands out no body
 * unasked [TL1] [TL3] [TL6].
 */
import type { TraceContext } from '../core/law/traceparent.ts';
import { createMeter, measuredIds } from './meter.ts';
import type { TelemetryRecord } from './record.ts';
import { type Attributes, type Ids, type Level, rankOf, type Sink } from './record.ts';
import { type Redact, redactAttributes, redactIds, redactText } from './redact.ts';
import {
  currentScope,
  inScope,
  NO_IDS,
  type Span,
  type SpanOptions,
  withoutSpan,
} from './scope.ts';
import { createSinkQueue, type QueueTimes, type SinkCounts, type SinkQueue } from './sink-queue.ts';
import { openSpan, type SpanParts } from './span.ts';
import { newSpanId, newTraceId } from './trace-ids.ts';

/**
 * Where records go, what is in each of them, and what is left out.
 *
 * @example
 * ```ts
 * const options: TelemetryOptions = { sinks: [], ids: { agent: 'ada' }, sample: 0.1 };
 * ```
 */
export interface TelemetryOptions {
  readonly sinks: readonly Sink[];
  /** In every record, beside what is known where it is made. */
  readonly ids?: Ids;
  /** Bodies leave: prompts, answers, messages of errors. Off unless it says. */
  readonly content?: boolean;
  /** The share of new traces that is kept, 0 to 1; a trace that came from elsewhere stays as it was decided. */
  readonly sample?: number;
  readonly redact?: Redact;
  /** How often measures are told. */
  readonly measureMs?: number;
  readonly queue?: QueueTimes;
}

/**
 * Where a program says what happens in it.
 *
 * @example
 * ```ts
 * const timed = (telemetry: Telemetry): number =>
 *   telemetry.span('count', { of: 'files' }, () => 3);
 * ```
 */
export interface Telemetry {
  debug(name: string, attributes?: Attributes): void;
  info(name: string, attributes?: Attributes): void;
  warn(name: string, attributes?: Attributes): void;
  error(name: string, attributes?: Attributes): void;
  /** One more, or so many more, of something. */
  count(name: string, attributes?: Attributes, by?: number): void;
  /** One value of many, such as how long something took. */
  measure(name: string, value: number, unit: string, attributes?: Attributes): void;
  span<T>(
    name: string,
    attributes: Attributes | null,
    run: (span: Span) => T,
    options?: SpanOptions,
  ): T;
  /** The ids of a span that others are told of before it begins, under what is known here. */
  newTrace(): TraceContext;
  /** A span of something that is over. */
  ended(name: string, attributes: Attributes, ended: EndedSpan): void;
  /** This telemetry is in force in `run`, for `withSpan` too. */
  within<T>(ids: Ids, run: () => T): T;
  /** The same, with more in every record; and sinks of its own, if it is given some. */
  child(ids: Ids, sinks?: readonly Sink[]): Telemetry;
  /** How each sink is doing; what did not reach one is counted there. */
  counts(): readonly SinkCounts[];
  flush(ms?: number): Promise<void>;
  close(ms?: number): Promise<void>;
}

/**
 * A span that is told when it is over.
 *
 * @example
 * ```ts
 * const ended: EndedSpan = { at: Date.now() - 40, ms: 40, parent: null, error: 'timeout' };
 * ```
 */
export interface EndedSpan extends SpanOptions {
  /** When it began. */
  readonly at: number;
  readonly ms: number;
  readonly parent: TraceContext | null;
  readonly error?: string | null;
}

const MEASURE_MS = 10_000;
const PATIENCE_MS = 2_000;

/**
 * Notes, spans and measures for any number of sinks.
 *
 * @example
 * ```ts
 * const telemetry = createTelemetry({ sinks: [jsonlSink({ path: 'telemetry.jsonl' })] });
 * await telemetry.within({ agent: 'ada' }, () =>
 *   telemetry.span('build', { branch: 'main' }, () => build()),
 * );
 * await telemetry.close();
 * ```
 */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { sinks, queue, ids = NO_IDS, redact = null, content = false, sample = 1 } = options;
  if (!(sample >= 0 && sample <= 1)) throw new RangeError('sample must be a number from 0 to 1');
  const queues = sinks.map((sink, at) => createSinkQueue(sink, at, queue));
  const shared: Shared = {
    redact,
    hasContent: content,
    sample,
    measureMs: options.measureMs ?? MEASURE_MS,
  };
  return build(queues, queues, ids, shared, queue);
}

interface Shared {
  readonly redact: Redact | null;
  readonly hasContent: boolean;
  readonly sample: number;
  readonly measureMs: number;
}

function build(
  all: readonly SinkQueue[],
  own: readonly SinkQueue[],
  bound: Ids,
  shared: Shared,
  times: QueueTimes | undefined,
): Telemetry {
  const lowest = Math.min(...all.map(({ rank }) => rank));
  const meter = createMeter(Date.now);
  const children: Telemetry[] = [];
  let timer: NodeJS.Timeout | null = null;

  function emit(record: TelemetryRecord): void {
    const rank = rankOf(record.level);
    for (const queue of all) if (rank >= queue.rank) queue.push(record);
  }

  function idsNow(more?: Ids): Ids {
    const { ids } = currentScope();
    return redactIds({ ...bound, ...ids, ...more });
  }

  function note(level: Level, name: string, attributes: Attributes): void {
    if (rankOf(level) < lowest) return;
    const { trace } = currentScope();
    emit({
      ...{ kind: 'log', level, name: redactText(name), at: Date.now(), ids: idsNow() },
      ...{ traceId: trace?.traceId ?? null, spanId: trace?.spanId ?? null },
      attributes: redactAttributes(attributes, shared.redact),
    });
  }

  function add(
    name: string,
    value: number,
    unit: string,
    attributes: Attributes,
    isSpread: boolean,
  ): void {
    if (all.length === 0) return;
    meter.add({
      ...{ name, value, unit, isSpread, ids: measuredIds(idsNow()) },
      attributes: redactAttributes(attributes, shared.redact),
    });
    timer ??= setTimeout(tellMeasures, shared.measureMs).unref();
  }

  function tellMeasures(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    for (const record of meter.take()) emit(record);
  }

  const isKept = (traceId: string): boolean =>
    shared.sample >= 1 || Number.parseInt(traceId.slice(-8), 16) < shared.sample * 2 ** 32;

  /** The context of a new span under what caused it. */
  function below(parent: TraceContext | null): TraceContext {
    if (parent !== null) return { ...parent, spanId: newSpanId() };
    const traceId = newTraceId();
    return { traceId, spanId: newSpanId(), isSampled: isKept(traceId) };
  }

  const parts: SpanParts = {
    hasContent: shared.hasContent,
    end: ({ attributes, bodies, ...span }) =>
      emit({
        ...span,
        kind: 'span',
        name: redactText(span.name),
        ids: redactIds(span.ids),
        attributes: redactAttributes(attributes, shared.redact, bodies),
        error: span.error && {
          type: redactText(span.error.type),
          message: span.error.message === null ? null : redactText(span.error.message),
        },
      }),
  };

  const telemetry: Telemetry = {
    debug: (name, attributes = {}) => note('debug', name, attributes),
    info: (name, attributes = {}) => note('info', name, attributes),
    warn: (name, attributes = {}) => note('warn', name, attributes),
    error: (name, attributes = {}) => note('error', name, attributes),
    count: (name, attributes = {}, by = 1) => add(name, by, '1', attributes, false),
    measure: (name, value, unit, attributes = {}) => add(name, value, unit, attributes, true),
    span(name, attributes, run, spanOptions) {
      if (all.length === 0 || rankOf(spanOptions?.level ?? 'info') < lowest)
        return withoutSpan(run);
      const scope = currentScope();
      const trace = spanOptions?.as ?? below(scope.trace);
      const ids = { ...bound, ...scope.ids, ...spanOptions?.ids };
      const inner = { tracer: telemetry, ids, trace };
      if (!trace.isSampled) return inScope(inner, () => withoutSpan(run));
      const span = openSpan(
        parts,
        { name, attributes, trace, ids, parent: parentOf(trace, scope.trace) },
        spanOptions,
      );
      return inScope(inner, () => span.follow(run));
    },
    newTrace: () => below(currentScope().trace),
    ended(name, attributes, { at, ms, parent, error = null, ...of }) {
      const level = of.level ?? 'info';
      if (rankOf(level) < lowest || parent?.isSampled === false) return;
      const { traceId, spanId, isSampled } = below(parent);
      if (!isSampled) return;
      parts.end({
        ...{ name, level, at, ms, traceId, spanId, attributes, bodies: null },
        ...{ parentId: parent?.spanId ?? null, spanKind: of.kind ?? 'internal' },
        links: of.links ?? [],
        ids: { ...bound, ...currentScope().ids, ...of.ids },
        error: error === null ? null : { type: error, message: null },
      });
    },
    within(ids, run) {
      const scope = currentScope();
      return inScope({ ...scope, tracer: telemetry, ids: { ...bound, ...scope.ids, ...ids } }, run);
    },
    child(ids, sinks = []) {
      const more = sinks.map((sink, at) => createSinkQueue(sink, all.length + at, times));
      const made = build([...all, ...more], more, { ...bound, ...ids }, shared, times);
      children.push(made);
      return made;
    },
    counts: () => all.map((queue) => queue.counts()),
    async flush(ms = PATIENCE_MS) {
      tellMeasures();
      await Promise.all([
        ...all.map((queue) => queue.flush(ms)),
        ...children.map((one) => one.flush(ms)),
      ]);
    },
    async close(ms = PATIENCE_MS) {
      await Promise.all(children.map((one) => one.close(ms)));
      tellMeasures();
      await Promise.all(own.map((queue) => queue.close(ms)));
    },
  };
  return telemetry;
}

/** A span of another trace is no parent. */
function parentOf(trace: TraceContext, outer: TraceContext | null): TraceContext | null {
  return outer?.traceId === trace.traceId && outer.spanId !== trace.spanId ? outer : null;
}
