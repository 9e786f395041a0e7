/**
 * The shape of a scenario and of what it measures.
 *
 * Every measure has several sides (the hub and its baselines) taken in the same run, in turns: on
 * a noisy machine a ratio of neighbours says more than two absolute figures. A ratio is the median
 * over the rounds of the hub's figure by the baseline's of the same round.
 */
import { median } from './percentiles.ts';

export interface Setting {
  /** A smoke run: shows that everything works, measures nothing worth quoting. */
  readonly isQuick: boolean;
  readonly rounds: number;
  readonly measureMs: number;
  /** Sends in flight a sender. */
  readonly window: number;
  /** In a log that is searched or has threads; else a scenario says. */
  readonly messages?: number;
  /** The hub may be left out, to try the baselines alone. */
  readonly hasHub: boolean;
}

export interface Scenario {
  readonly name: string;
  /** One of the rows that stand beside the originals, which `--peers` runs. */
  readonly isPeer?: boolean;
  /** Runs when it is named, and not with all the others: it takes minutes, or a program that may be absent. */
  readonly isAskedFor?: boolean;
  run(setting: Setting): Promise<Measure[]>;
}

export interface Measure {
  readonly what: string;
  readonly unit: string;
  /** One value a round, by side. `hub` is ours; all others are baselines. */
  readonly sides: Readonly<Record<string, readonly number[]>>;
  readonly goal?: Goal;
}

/** A bound on the hub's figure or, with `against`, on its ratio to a baseline. */
export interface Goal {
  readonly against?: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

export type Sides = Record<string, () => Promise<Record<string, number>>>;

/** Runs every side once a round, and turns the order round each time. */
export async function takeTurns(
  rounds: number,
  sides: Sides,
): Promise<(figure: string) => Record<string, number[]>> {
  const taken: Record<string, Record<string, number>[]> = {};
  for (let round = 0; round < rounds; round++) {
    const order = Object.entries(sides);
    if (round % 2 === 1) order.reverse();
    for (const [side, take] of order) {
      const figures = await take();
      taken[side] ??= [];
      taken[side].push(figures);
    }
  }
  return (figure) =>
    Object.fromEntries(
      Object.entries(taken).map(([side, all]) => [
        side,
        all.flatMap((figures) => (figure in figures ? [figures[figure] as number] : [])),
      ]),
    );
}

/** By processor time, which a busy machine leaves nearly alone. */
export function costs(
  what: string,
  figures: (figure: string) => Record<string, number[]>,
): Measure[] {
  return [
    { what: `${what}: processor time`, unit: 'µs', sides: figures('busyUs') },
    { what: `${what}: processor time of the main thread`, unit: 'µs', sides: figures('mainUs') },
  ];
}

/** Of each round. */
export function ratiosTo(measure: Measure, side: string): number[] {
  const ours = measure.sides.hub ?? [];
  const theirs = measure.sides[side] ?? [];
  if (theirs.length === 0) return [];
  return ours.map((value, round) => value / (theirs[round] ?? median(theirs)));
}

export function ratioTo(measure: Measure, side: string): number | undefined {
  const ratios = ratiosTo(measure, side);
  return ratios.length === 0 ? undefined : median(ratios);
}

/** Whether the goal is met; undefined where there is no goal or no figure. */
export function isMet(measure: Measure): boolean | undefined {
  const { goal } = measure;
  const ours = measure.sides.hub ?? [];
  if (goal === undefined || ours.length === 0) return undefined;
  const value = goal.against === undefined ? median(ours) : ratioTo(measure, goal.against);
  if (value === undefined) return undefined;
  return value >= (goal.atLeast ?? -Infinity) && value <= (goal.atMost ?? Infinity);
}
