/**
 * The plan made small enough to be read as a graph. Finished tasks are left out unless asked for; tasks
 * that hang between the same others are one node; and if that is not enough, those of one rank and
 * state. Whatever was folded is opened by its id. Pure.
 */
import { ranksOf } from './graph-layout.ts';

export interface PlanTask {
  readonly id: string;
  readonly dependsOn: readonly string[];
  /** Which tasks look alike: `ready`, `in_progress`, `done` … */
  readonly state: string;
}

export interface PlanNode {
  readonly id: string;
  readonly dependsOn: readonly string[];
  readonly state: string;
  /** One task, or those that were folded into this node. */
  readonly members: readonly string[];
}

export interface FoldedPlan {
  readonly nodes: readonly PlanNode[];
  /** Tasks that depend on nothing shown, and nothing shown on them. */
  readonly alone: readonly string[];
  readonly finishedHidden: number;
}

export interface FoldOptions {
  readonly showsFinished: boolean;
  /** Ids of folded nodes that were opened. */
  readonly opened: ReadonlySet<string>;
}

/** From here on alike tasks are folded. */
export const FOLD_FROM = 40;
/** More nodes than this nobody reads. */
export const NODES_READABLE = 120;
const FINISHED: ReadonlySet<string> = new Set(['done', 'cancelled']);
const GROUP_MIN = 3;

export function foldPlan(tasks: readonly PlanTask[], options: FoldOptions): FoldedPlan {
  const kept = options.showsFinished ? tasks : tasks.filter(({ state }) => !FINISHED.has(state));
  const ids = new Set(kept.map(({ id }) => id));
  const all: PlanNode[] = kept.map(({ id, state, dependsOn }) => ({
    ...{ id, state, members: [id] },
    dependsOn: dependsOn.filter((one) => ids.has(one)),
  }));
  const needed = new Set(all.flatMap(({ dependsOn }) => dependsOn));
  const isAlone = ({ id, dependsOn }: PlanNode): boolean =>
    dependsOn.length === 0 && !needed.has(id);
  let nodes = all.filter((node) => !isAlone(node));
  if (nodes.length > FOLD_FROM) nodes = foldBy(nodes, alikeKeys(nodes), options.opened);
  if (nodes.length > NODES_READABLE) nodes = foldBy(nodes, rankKeys(nodes), options.opened);
  return {
    nodes,
    alone: all.filter(isAlone).map(({ id }) => id),
    finishedHidden: tasks.length - kept.length,
  };
}

/** Tasks between the same others, in the same state. */
function alikeKeys(nodes: readonly PlanNode[]): ReadonlyMap<string, string> {
  const dependents = new Map<string, string[]>();
  for (const { id, dependsOn } of nodes) {
    for (const one of dependsOn) dependents.set(one, [...(dependents.get(one) ?? []), id]);
  }
  return new Map(
    nodes.map(({ id, dependsOn, state }) => {
      const after = (dependents.get(id) ?? []).sort().join(' ');
      return [id, `${state}|${[...dependsOn].sort().join(' ')}|${after}`];
    }),
  );
}

function rankKeys(nodes: readonly PlanNode[]): ReadonlyMap<string, string> {
  const ranks = ranksOf(nodes);
  return new Map(nodes.map(({ id, state }) => [id, `${ranks.get(id)}|${state}`]));
}

/** Nodes with the same key become one, if there are a few of them and nobody opened it. */
export function foldBy(
  nodes: readonly PlanNode[],
  keys: ReadonlyMap<string, string>,
  opened: ReadonlySet<string>,
): PlanNode[] {
  const groups = Map.groupBy(nodes, ({ id }) => keys.get(id) ?? id);
  /** Which node stands for each. */
  const into = new Map<string, string>();
  for (const group of groups.values()) {
    const name = groupName(group);
    const isFolded = group.length >= GROUP_MIN && !opened.has(name);
    for (const { id } of group) into.set(id, isFolded ? name : id);
  }
  const folded = new Map<string, PlanNode>();
  for (const node of nodes) {
    const id = into.get(node.id) as string;
    const known = folded.get(id);
    const dependsOn = node.dependsOn.map((one) => into.get(one) ?? one).filter((one) => one !== id);
    folded.set(id, {
      ...{ id, state: node.state },
      members: [...(known?.members ?? []), ...node.members],
      dependsOn: [...new Set([...(known?.dependsOn ?? []), ...dependsOn])],
    });
  }
  return [...folded.values()];
}

/** The same as long as the same tasks are in it, so that what was opened stays open. */
function groupName(group: readonly PlanNode[]): string {
  const [first = ''] = group.flatMap(({ members }) => members).sort();
  return `+${first}`;
}
