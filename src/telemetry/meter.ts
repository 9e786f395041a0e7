/**
 * Counts and measures, gathered here and told now and then: what happened since the last time. The number
 * of series is bounded; what does not fit is counted together, and says so.
 */
import type { Ids, MetricRecord, SinkAttributes, Spread } from './record.ts';

export const SERIES_MAX = 1_024;
/** Of seconds and of tokens alike, as the GenAI conventions advise. */
const BOUNDS: readonly number[] = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 256, 1024,
  4096, 16_384, 65_536, 262_144, 1_048_576,
];
const OVERFLOW: SinkAttributes = { 'otel.metric.overflow': true };

interface Series {
  readonly name: string;
  readonly unit: string;
  readonly ids: Ids;
  readonly attributes: SinkAttributes;
  readonly isSpread: boolean;
  sum: number;
  count: number;
  min: number;
  max: number;
  readonly buckets: number[];
}

export interface Meter {
  add(measure: Measure): void;
  /** What was gathered since the last time. */
  take(): MetricRecord[];
}

export interface Measure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly ids: Ids;
  readonly attributes: SinkAttributes;
  /** One of many values that are told apart, or one more of what is counted. */
  readonly isSpread: boolean;
}

export function createMeter(now: () => number): Meter {
  let series = new Map<string, Series>();
  let since = now();

  function find(measure: Measure): Series {
    const { name, ids, attributes } = measure;
    const key = JSON.stringify([name, ids, attributes]);
    const known = series.get(key);
    if (known !== undefined) return known;
    if (series.size < SERIES_MAX) return open(key, measure);
    const rest = JSON.stringify([name]);
    return series.get(rest) ?? open(rest, { ...measure, ids: {}, attributes: OVERFLOW });
  }

  function open(key: string, { name, unit, ids, attributes, isSpread }: Measure): Series {
    const made: Series = {
      ...{ name, unit, ids, attributes, isSpread, sum: 0, count: 0 },
      ...{ min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY },
      buckets: isSpread ? new Array<number>(BOUNDS.length + 1).fill(0) : [],
    };
    series.set(key, made);
    return made;
  }

  return {
    add(measure) {
      const { value } = measure;
      if (!Number.isFinite(value)) return;
      const one = find(measure);
      one.sum += value;
      one.count++;
      if (!one.isSpread) return;
      one.min = Math.min(one.min, value);
      one.max = Math.max(one.max, value);
      const at = BOUNDS.findIndex((bound) => value <= bound);
      const bucket = at < 0 ? BOUNDS.length : at;
      one.buckets[bucket] = (one.buckets[bucket] ?? 0) + 1;
    },
    take() {
      const at = now();
      const told = [...series.values()].map((one): MetricRecord => {
        const { name, unit, ids, attributes, sum } = one;
        const spread = one.isSpread ? spreadOf(one) : null;
        return {
          kind: 'metric',
          level: 'info',
          name,
          at,
          since,
          unit,
          ids,
          attributes,
          sum,
          spread,
        };
      });
      series = new Map();
      since = at;
      return told;
    },
  };
}

function spreadOf({ count, min, max, buckets }: Series): Spread {
  return { count, min, max, bounds: BOUNDS, buckets };
}

/** For a measure: only what many records have in common. */
export function measuredIds({ space, agent }: Ids): Ids {
  return { ...(space !== undefined && { space }), ...(agent !== undefined && { agent }) };
}
