/**
 * What one managed agent may do: the limits by the names that configuration uses, the range of each,
 * and what holds where nothing is said. A value outside its range is refused by its name [TN10].
 */
import { type Refusal, refuse } from '../law/decider.ts';
import { DAY_MS } from '../law/limits.ts';

interface Range {
  readonly min: number;
  readonly max: number;
  /** Where nothing is said; null is no limit. */
  readonly otherwise: number | null;
}

const HOUR_MS = 3_600_000;

/** What an agent may do, by the names that configuration uses. */
export const LIMITS: Readonly<Record<LimitName, Range>> = {
  turns_per_10_min: { min: 1, max: 10_000, otherwise: 10 },
  turns_per_day: { min: 1, max: 100_000, otherwise: 200 },
  sends_per_turn: { min: 0, max: 1_000, otherwise: 20 },
  hops: { min: 1, max: 100, otherwise: 6 },
  pair_per_min: { min: 1, max: 1_000, otherwise: 10 },
  turns_per_message: { min: 1, max: 100, otherwise: 3 },
  turn_timeout_ms: { min: 1_000, max: DAY_MS, otherwise: 600_000 },
  turn_wall_ms: { min: 1_000, max: DAY_MS, otherwise: 600_000 },
  day_wall_ms: { min: 1_000, max: DAY_MS, otherwise: 4 * HOUR_MS },
  turn_tokens: { min: 1, max: 1e12, otherwise: null },
  day_tokens: { min: 1, max: 1e12, otherwise: null },
  turn_usd: { min: 0, max: 1e6, otherwise: null },
  day_usd: { min: 0, max: 1e6, otherwise: null },
  task_tokens: { min: 1, max: 1e12, otherwise: null },
  task_usd: { min: 0, max: 1e6, otherwise: null },
  duplicates: { min: 2, max: 8, otherwise: 3 },
  repeats_per_30_min: { min: 1, max: 1_000, otherwise: 4 },
};

export type LimitName =
  | 'turns_per_10_min'
  | 'turns_per_day'
  | 'sends_per_turn'
  | 'hops'
  | 'pair_per_min'
  | 'turns_per_message'
  | 'turn_timeout_ms'
  | 'turn_wall_ms'
  | 'day_wall_ms'
  | 'turn_tokens'
  | 'day_tokens'
  | 'turn_usd'
  | 'day_usd'
  | 'task_tokens'
  | 'task_usd'
  | 'duplicates'
  | 'repeats_per_30_min';

/** Only what was laid down; `limitOf` knows the rest. */
export type Limits = { readonly [K in LimitName]?: number | null };

export function limitOf(limits: Limits, name: LimitName): number {
  const said = limits[name];
  const value = said === undefined ? LIMITS[name].otherwise : said;
  return value ?? Number.POSITIVE_INFINITY;
}

/** Null when every one has a name and a value of its range [TN10]. */
export function checkLimits(limits: Readonly<Record<string, unknown>>): Refusal | null {
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(LIMITS, name)) {
      return unfit(name, `there is no such limit; there are ${Object.keys(LIMITS).join(', ')}`);
    }
    const { min, max, otherwise }: Range = LIMITS[name as LimitName];
    if (value === null && otherwise === null) continue;
    const isCounted = !name.endsWith('_usd');
    if (typeof value === 'number' && value >= min && value <= max) {
      if (!isCounted || Number.isSafeInteger(value)) continue;
    }
    const kind = isCounted ? 'a whole number' : 'a number';
    return unfit(name, `is ${kind} from ${min} to ${max}${otherwise === null ? ', or null' : ''}`);
  }
  return null;
}

function unfit(name: string, issue: string): Refusal {
  const field = `limits.${name.slice(0, 64)}`;
  return refuse('turn.limit-invalid', `${field} ${issue}`, { violations: [{ field, issue }] });
}
