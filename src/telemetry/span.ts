/**
 * A span under way. It ends when the work does, also when that is a promise; what the work gives or throws
 * is handed on as it is.
 */
import { formatTraceparent, type TraceContext } from '../core/law/traceparent.ts';
import type { Attributes, Ids, Level, SpanKind } from './record.ts';
import type { Span, SpanOptions } from './scope.ts';

/** A span that ended, as it came. */
export interface RawSpan {
  readonly name: string;
  readonly level: Level;
  readonly at: number;
  readonly ms: number;
  readonly ids: Ids;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly spanKind: SpanKind;
  readonly links: readonly TraceContext[];
  readonly attributes: Attributes;
  /** Attributes that are bodies. */
  readonly bodies: ReadonlySet<string> | null;
  readonly error: { readonly type: string; readonly message: string | null } | null;
}

export interface SpanParts {
  readonly hasContent: boolean;
  end(span: RawSpan): void;
}

interface Opening {
  readonly name: string;
  readonly attributes: Attributes | null;
  readonly trace: TraceContext;
  readonly ids: Ids;
  readonly parent: TraceContext | null;
}

export interface OpenSpan {
  follow<T>(run: (span: Span) => T): T;
}

const NO_LINKS: readonly TraceContext[] = [];

export function openSpan(parts: SpanParts, opening: Opening, options: SpanOptions = {}): OpenSpan {
  const { name, trace, ids, parent } = opening;
  const at = Date.now();
  const began = performance.now();
  let attributes: Attributes = { ...opening.attributes };
  let bodies: Set<string> | null = null;
  let error: RawSpan['error'] = null;
  let isOver = false;

  const span: Span = {
    traceparent: formatTraceparent(trace),
    set(more) {
      attributes = { ...attributes, ...more };
    },
    content(what, text) {
      if (!parts.hasContent) return;
      bodies ??= new Set();
      bodies.add(what);
      attributes = { ...attributes, [what]: told(text) };
    },
    fail(type, message) {
      error = { type, message: parts.hasContent ? (message ?? null) : null };
    },
  };

  function end(): void {
    if (isOver) return;
    isOver = true;
    parts.end({
      ...{ name, at, ms: performance.now() - began, ids, attributes, bodies, error },
      level: error === null ? (options.level ?? 'info') : 'error',
      ...{ traceId: trace.traceId, spanId: trace.spanId, parentId: parent?.spanId ?? null },
      ...{ spanKind: options.kind ?? 'internal', links: options.links ?? NO_LINKS },
    });
  }

  function failWith(thrown: unknown): void {
    if (error === null) span.fail(wordFor(thrown), thrown instanceof Error ? thrown.message : '');
    end();
  }

  return {
    follow(run) {
      let result: ReturnType<typeof run>;
      try {
        result = run(span);
      } catch (thrown) {
        failWith(thrown);
        throw thrown;
      }
      // The same promise is given back: who waits for it is served after the span has ended.
      if (result instanceof Promise) result.then(end, failWith);
      else end();
      return result;
    },
  };
}

/** Who describes work must not break it. */
function told(text: () => string): string {
  try {
    return text();
  } catch (thrown) {
    return `[${wordFor(thrown)} while it was told]`;
  }
}

/** A code where there is one, else the class. */
function wordFor(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const { code } = thrown as { readonly code?: unknown };
  return typeof code === 'string' ? code : thrown.name;
}
