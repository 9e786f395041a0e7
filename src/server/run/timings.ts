/** Durations since the last look, as their median and 99th percentile; the newest 512 are kept. */

const KEPT = 512;

export interface Timings {
  add(ms: number): void;
  /** What was added since; null when nothing was. Begins again. */
  take(): { readonly p50: number; readonly p99: number } | null;
}

export function createTimings(): Timings {
  const kept = new Float64Array(KEPT);
  let count = 0;
  return {
    add(ms) {
      kept[count++ % KEPT] = ms;
    },
    take() {
      if (count === 0) return null;
      const sorted = kept.slice(0, Math.min(count, KEPT)).sort();
      count = 0;
      const at = (part: number): number => sorted[Math.ceil(sorted.length * part) - 1] ?? 0;
      return { p50: rounded(at(0.5)), p99: rounded(at(0.99)) };
    },
  };
}

/** To a microsecond. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
