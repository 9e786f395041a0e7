/**
 * The trace of a call: one entry for each unit it reached, in the order it reached them.
 *
 * Verdicts are the contract's three; a unit that was not reached has no entry; times are wall
 * clock, in epoch seconds; `error_code` is there only beside the verdict `error`.
 */

import type { PluginKind } from './manifest.ts';

export type Verdict = 'continue' | 'short_circuit' | 'error';

export interface TraceEntry {
  readonly plugin_id: string;
  readonly kind: PluginKind | 'builtin';
  readonly started_at: number;
  finished_at: number;
  verdict: Verdict;
  error_code?: string;
  readonly correlation_id: string;
}

export function startEntry(
  id: string,
  kind: PluginKind | 'builtin',
  correlationId: string,
): TraceEntry {
  const startedAt = epochSeconds();
  return {
    plugin_id: id,
    kind,
    started_at: startedAt,
    finished_at: startedAt,
    verdict: 'continue',
    correlation_id: correlationId,
  };
}

export function finishEntry(entry: TraceEntry, verdict: Verdict, errorCode?: string): void {
  entry.finished_at = epochSeconds();
  entry.verdict = verdict;
  if (verdict === 'error') entry.error_code = errorCode ?? 'internal_error';
}

/** Finer than Date.now, so that two units that follow each other also start one after the other. */
function epochSeconds(): number {
  return (performance.timeOrigin + performance.now()) / 1000;
}
