/**
 * Where one is: the telemetry in force, what the work is about and the trace it belongs to. It follows the
 * work through every await, so that nobody hands it on by hand [TL1]. With no telemetry in force a span is
 * one look and one call [TL9].
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { formatTraceparent, parseTraceparent, type TraceContext } from '../core/law/traceparent.ts';
import type { Attributes, Ids, Level, SpanKind } from './record.ts';

/**
 * One piece of work while it is done.
 *
 * @example
 * ```ts
 * const told = (span: Span): void => span.set({ files: 3 });
 * ```
 */
export interface Span {
  /** For whoever goes on with the work elsewhere; null while no trace is known. */
  readonly traceparent: string | null;
  set(attributes: Attributes): void;
  /** A body: `text` is called, and what it says leaves, only where bodies were asked for [TL6]. */
  content(name: string, text: () => string): void;
  /** It went wrong without throwing: a word for it, such as a code. */
  fail(type: string, message?: string): void;
}

/**
 * What is said of a span when it begins.
 *
 * @example
 * ```ts
 * const options: SpanOptions = { kind: 'client', ids: { step: 'push' } };
 * ```
 */
export interface SpanOptions {
  readonly kind?: SpanKind;
  /** `info` unless it says. */
  readonly level?: Level;
  /** What the span and everything in it is about, beside what is known. */
  readonly ids?: Ids;
  /** Ids that were told to others before it began; else they are made. */
  readonly as?: TraceContext | null;
  /** Others that caused it too; the one it stands under is not among them. */
  readonly links?: readonly TraceContext[];
}

/** Makes spans; the telemetry that is in force. */
export interface Tracer {
  span<T>(
    name: string,
    attributes: Attributes | null,
    run: (span: Span) => T,
    options?: SpanOptions,
  ): T;
  measure(name: string, value: number, unit: string, attributes?: Attributes): void;
}

export interface Scope {
  readonly tracer: Tracer | null;
  readonly ids: Ids;
  readonly trace: TraceContext | null;
}

export const NO_IDS: Ids = {};
const NOWHERE: Scope = { tracer: null, ids: NO_IDS, trace: null };

const scopes = new AsyncLocalStorage<Scope>();

export function currentScope(): Scope {
  return scopes.getStore() ?? NOWHERE;
}

export function inScope<T>(scope: Scope, run: () => T): T {
  return scopes.run(scope, run);
}

/**
 * The trace that the work under way belongs to, as a `traceparent`; null when there is none.
 *
 * @example
 * ```ts
 * const traceparent = currentTrace();
 * await fetch(url, { headers: traceparent === null ? {} : { traceparent } });
 * ```
 */
export function currentTrace(): string | null {
  const trace = scopes.getStore()?.trace ?? null;
  return trace === null ? null : formatTraceparent(trace);
}

/**
 * Does what is done in `run` as a part of the trace that came from elsewhere; what is no `traceparent`
 * changes nothing.
 *
 * @example
 * ```ts
 * await withTrace(request.headers.traceparent, () => answer(request));
 * ```
 */
export function withTrace<T>(traceparent: string | null | undefined, run: () => T): T {
  const trace = traceparent == null ? null : parseTraceparent(traceparent);
  if (trace === null) return run();
  return scopes.run({ ...currentScope(), trace }, run);
}

/**
 * Everything noted in `run` says that it is about these, too.
 *
 * @example
 * ```ts
 * await withIds({ session: id }, () => answer(question));
 * ```
 */
export function withIds<T>(ids: Ids, run: () => T): T {
  const scope = scopes.getStore();
  // Nobody would read them.
  if (scope === undefined || scope.tracer === null) return run();
  return scopes.run({ ...scope, ids: { ...scope.ids, ...ids } }, run);
}

const NO_SPAN: Span = {
  get traceparent() {
    return currentTrace();
  },
  set() {},
  content() {},
  fail() {},
};

/**
 * Does `run` as a span of the telemetry in force, and gives back what it gave. Without one it is `run`
 * alone.
 *
 * @example
 * ```ts
 * const rows = await withSpan('read rows', { table: 'orders' }, () => readRows());
 * ```
 */
export function withSpan<T>(
  name: string,
  attributes: Attributes | null,
  run: (span: Span) => T,
  options?: SpanOptions,
): T {
  const tracer = scopes.getStore()?.tracer ?? null;
  return tracer === null ? run(NO_SPAN) : tracer.span(name, attributes, run, options);
}

/** One value of many, to the telemetry in force. */
export function measure(name: string, value: number, unit: string, attributes?: Attributes): void {
  scopes.getStore()?.tracer?.measure(name, value, unit, attributes);
}

/** For a tracer with nobody to tell. */
export function withoutSpan<T>(run: (span: Span) => T): T {
  return run(NO_SPAN);
}
