/**
 * The steps of a run as a graph: a step stands to the right of those that were over when it began, and a line
 * leads to it from the last of them. So what ran side by side stands side by side, whatever the code looks
 * like. A step that has not begun stands behind everything. Pure.
 */
import { FOLD_FROM, foldBy, NODES_READABLE, type PlanNode } from './fold-plan.ts';
import type { GraphNode } from './graph-layout.ts';

export interface TimedStep {
  readonly step: string;
  readonly key: string | null;
  /** Unix seconds. */
  readonly started_at: number | null;
  readonly ended_at: number | null;
  /** The order in which steps ended, where clocks cannot tell. */
  readonly order: number | null;
}

/** Names hold no blank, so this is theirs alone. */
export function idOfStep({ step, key }: Pick<TimedStep, 'step' | 'key'>): string {
  return key === null ? step : `${step} ${key}`;
}

interface Span {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly rank: number;
}

export function graphOfSteps(steps: readonly TimedStep[]): GraphNode[] {
  const spans = steps.map(spanOf);
  return spans.map((one) => {
    const before = spans.filter((other) => other !== one && isBefore(other, one));
    const last = before.reduce<Span | null>(later, null);
    // Whoever was over before the last of them began is before it, and needs no line of its own.
    const near = before.filter((other) => last === null || !isBefore(other, last));
    return { id: one.id, dependsOn: near.map(({ id }) => id) };
  });
}

function spanOf(step: TimedStep, at: number): Span {
  const { started_at: began, ended_at: ended, order } = step;
  const from = began ?? ended ?? Number.POSITIVE_INFINITY;
  const to = ended ?? (began === null ? Number.POSITIVE_INFINITY : Number.MAX_VALUE);
  return { id: idOfStep(step), from, to, rank: order ?? Number.MAX_SAFE_INTEGER - 10_000 + at };
}

function isBefore(one: Span, other: Span): boolean {
  if (one.to === other.from) return one.to !== Number.POSITIVE_INFINITY && one.rank < other.rank;
  return one.to < other.from;
}

function later(one: Span | null, other: Span): Span {
  if (one === null || other.from > one.from) return other;
  return other.from === one.from && other.rank > one.rank ? other : one;
}

/**
 * The same, small enough to be read: of many steps those of one name and state are one node, and of more than
 * that the oldest are. Whatever was folded is opened by its id.
 */
export function foldSteps<S extends TimedStep>(
  steps: readonly S[],
  stateOf: (step: S) => string,
  opened: ReadonlySet<string>,
): readonly PlanNode[] {
  const byId = new Map(steps.map((step) => [idOfStep(step), step]));
  const nodes = graphOfSteps(steps).map(({ id, dependsOn }) => ({
    ...{ id, dependsOn, members: [id], state: stateOf(byId.get(id) as S) },
  }));
  if (nodes.length <= FOLD_FROM) return nodes;
  const alike = new Map(nodes.map(({ id, state }) => [id, `${state}|${byId.get(id)?.step}`]));
  const folded = foldBy(nodes, alike, opened);
  if (folded.length <= NODES_READABLE) return folded;
  const early = folded.slice(0, folded.length - NODES_READABLE + 1);
  return foldBy(folded, new Map(early.map(({ id }) => [id, 'early'])), opened);
}
