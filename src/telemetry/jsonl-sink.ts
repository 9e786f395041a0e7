/**
 * The sink `jsonl`: a line of JSON for each record, in a file that its owner alone may read. At a bound the
 * file becomes `FILE.1`, in the place of the one before, and a new one begins.
 */
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { formatTraceparent } from '../core/law/traceparent.ts';
import type { Level, Sink, TelemetryRecord } from './record.ts';

/**
 * Which file records are written to, from which level on, and how large it gets.
 *
 * @example
 * ```ts
 * const options: JsonlSinkOptions = { path: 'telemetry.jsonl', level: 'warn', maxBytes: 1_000_000 };
 * ```
 */
export interface JsonlSinkOptions {
  readonly path: string;
  readonly level?: Level;
  /** Of one file; there are two of them at the most. */
  readonly maxBytes?: number;
}

const FILE_BYTES_MAX: number = 64 * 1_024 * 1_024;

/**
 * A line of JSON for each record.
 *
 * @example
 * ```ts
 * const sink = jsonlSink({ path: 'telemetry.jsonl', level: 'debug' });
 * ```
 */
export function jsonlSink({
  path,
  level = 'info',
  maxBytes = FILE_BYTES_MAX,
}: JsonlSinkOptions): Sink {
  let bytes: number | null = null;

  return {
    name: 'jsonl',
    level,
    async write(records) {
      const text = `${records.map(lineOf).join('\n')}\n`;
      const size = Buffer.byteLength(text);
      if (bytes === null) {
        await mkdir(dirname(path), { recursive: true });
        bytes = await stat(path).then(
          (found) => found.size,
          () => 0,
        );
      }
      if (bytes > 0 && bytes + size > maxBytes) {
        await rename(path, `${path}.1`);
        bytes = 0;
      }
      // Opened for each batch: a file that somebody moved away is begun anew.
      const file = await open(path, 'a', 0o600);
      try {
        await file.appendFile(text);
      } finally {
        await file.close();
      }
      bytes += size;
    },
  };
}

function lineOf(record: TelemetryRecord): string {
  const { kind, level, name, at, ids, attributes } = record;
  const head = { at: new Date(at).toISOString(), kind, level, name, ...ids };
  switch (record.kind) {
    case 'log': {
      const { traceId, spanId } = record;
      return JSON.stringify({
        ...head,
        ...(traceId !== null && { trace: traceId, span: spanId }),
        attributes,
      });
    }
    case 'span': {
      const { traceId, spanId, parentId, spanKind, ms, error, links } = record;
      const where = {
        trace: traceId,
        span: spanId,
        ...(parentId !== null && { parent: parentId }),
        ...(links.length > 0 && { links: links.map((one) => formatTraceparent(one)) }),
      };
      const how = { span_kind: spanKind, ms: Math.round(ms * 1_000) / 1_000 };
      return JSON.stringify({ ...head, ...where, ...how, ...(error && { error }), attributes });
    }
    case 'metric': {
      const { since, unit, sum, spread } = record;
      const told = { since: new Date(since).toISOString(), unit, sum, ...spread };
      return JSON.stringify({ ...head, ...told, attributes });
    }
  }
}
