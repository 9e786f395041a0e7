/**
 * The sink `otlp`: records to a collector, as OTLP over HTTP in JSON. Written here and not by the packages
 * of OpenTelemetry: the form is a page of code, and those bring some twenty packages and a second idea of
 * what the current span is. What the collector asks to be sent again is sent again a few times, within the
 * deadline; the rest is counted as dropped.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { otlpBodies, type Resource } from './otlp-json.ts';
import type { Level, Sink } from './record.ts';

/**
 * Which collector records are sent to, and as whom.
 *
 * @example
 * ```ts
 * const options: OtlpSinkOptions = {
 *   ...{ endpoint: 'http://127.0.0.1:4318', level: 'info' },
 *   headers: { 'x-tenant': 'team' },
 * };
 * ```
 */
export interface OtlpSinkOptions {
  /** The collector, such as `http://127.0.0.1:4318`; `/v1/traces` and its kin are put behind it. */
  readonly endpoint: string;
  readonly level?: Level;
  /** What the collector wants to see; they are shown nowhere. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Who tells: `service.name` and more. */
  readonly resource?: Resource;
  /** For one batch, with what is sent again. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 10_000;
const TRIES_MAX = 4;
const BACKOFF_MS = 250;
/** The collector asks for it again. */
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Records to an OpenTelemetry collector.
 *
 * @example
 * ```ts
 * const sink = otlpSink({ endpoint: 'http://127.0.0.1:4318', resource: { 'service.name': 'shop' } });
 * ```
 */
export function otlpSink(options: OtlpSinkOptions): Sink {
  const { headers = {}, deadlineMs = DEADLINE_MS } = options;
  const resource = { 'service.name': 'synod', ...options.resource };
  const base = options.endpoint.replace(/\/+$/, '');
  if (!/^https?:\/\//.test(base)) throw new TypeError('endpoint must be an http or https address');
  const closing = new AbortController();

  async function post(path: string, body: object): Promise<number> {
    const signal = AbortSignal.any([AbortSignal.timeout(deadlineMs), closing.signal]);
    const text = JSON.stringify(body);
    for (let tries = 1; ; tries++) {
      const answer = await fetch(base + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: text,
        signal,
        // Nobody else was meant to have them.
        redirect: 'error',
      });
      const said = await answer.text();
      if (answer.ok) return refusedIn(said);
      if (!AGAIN.has(answer.status) || tries >= TRIES_MAX) {
        throw new Error(`the collector answered ${answer.status} to ${path}`);
      }
      const asked = Number(answer.headers.get('retry-after')) * 1_000;
      await pause(asked > 0 ? asked : BACKOFF_MS * 2 ** (tries - 1), undefined, { signal });
    }
  }

  return {
    name: 'otlp',
    level: options.level ?? 'info',
    async write(records) {
      const bodies = otlpBodies(records, resource);
      const sent = await Promise.allSettled(bodies.map(({ path, body }) => post(path, body)));
      if (sent.length > 0 && sent.every(({ status }) => status === 'rejected')) {
        throw (sent[0] as PromiseRejectedResult).reason;
      }
      return sent.reduce(
        (refused, one, at) =>
          refused + (one.status === 'fulfilled' ? one.value : (bodies[at]?.records ?? 0)),
        0,
      );
    },
    close: () => closing.abort(),
  };
}

/** A collector may take some and say how many it did not. */
function refusedIn(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: Record<string, unknown> };
    const { rejectedSpans, rejectedLogRecords, rejectedDataPoints } = partialSuccess ?? {};
    return Number(rejectedSpans ?? rejectedLogRecords ?? rejectedDataPoints ?? 0) || 0;
  } catch {
    return 0;
  }
}
