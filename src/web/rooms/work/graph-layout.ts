/**
 * A layered drawing of a graph without cycles: what others depend on stands to the left of them. Ranks by
 * the longest way, long edges led between the nodes they pass, few crossings (barycentres, swept to and
 * fro), and each node as near to its neighbours as the others of its rank allow. Pure; a cycle
 * that should not be is drawn all the same.
 */

export interface GraphNode {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

export interface Placed {
  readonly id: string;
  readonly rank: number;
  readonly x: number;
  /** The middle of it. */
  readonly y: number;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  /** Where it runs: from the right of the one to the left of the other. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Layout {
  readonly nodes: readonly Placed[];
  readonly edges: readonly Edge[];
  readonly width: number;
  readonly height: number;
}

export interface Measures {
  readonly nodeWidth: number;
  readonly nodeHeight: number;
  readonly rankGap: number;
  readonly nodeGap: number;
}

/** A node, or the place where an edge passes a rank. */
interface Cell {
  readonly id: string | null;
  readonly rank: number;
  readonly height: number;
  readonly before: Cell[];
  readonly after: Cell[];
  order: number;
  y: number;
}

const SWEEPS = 6;
const PULLS = 6;
const PASS_HEIGHT = 10;

/** 0 for what depends on nothing; one more than the highest of what it depends on. */
export function ranksOf(nodes: readonly GraphNode[]): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const ranks = new Map<string, number>();
  const visiting = new Set<string>();
  const stack: string[] = [];
  for (const { id } of nodes) {
    stack.push(id);
    while (stack.length > 0) {
      const top = stack.at(-1) as string;
      const known = (byId.get(top)?.dependsOn ?? []).filter((one) => byId.has(one));
      const open = known.filter((one) => !ranks.has(one) && !visiting.has(one));
      if (!ranks.has(top) && !visiting.has(top) && open.length > 0) {
        visiting.add(top);
        stack.push(...open);
        continue;
      }
      stack.pop();
      visiting.delete(top);
      if (ranks.has(top)) continue;
      ranks.set(top, Math.max(-1, ...known.map((one) => ranks.get(one) ?? -1)) + 1);
    }
  }
  return ranks;
}

export function layOut(nodes: readonly GraphNode[], measures: Measures): Layout {
  const { nodeWidth, nodeHeight, rankGap, nodeGap } = measures;
  const ranks = ranksOf(nodes);
  const cells = new Map<string, Cell>();
  const layers: Cell[][] = [];
  const add = (id: string | null, rank: number): Cell => {
    const height = id === null ? PASS_HEIGHT : nodeHeight;
    const layer = layers[rank] ?? [];
    layers[rank] = layer;
    const cell: Cell = { id, rank, height, before: [], after: [], order: layer.length, y: 0 };
    layer.push(cell);
    return cell;
  };
  for (const { id } of nodes) cells.set(id, add(id, ranks.get(id) ?? 0));
  const ways = nodes.flatMap(({ id, dependsOn }) =>
    dependsOn.flatMap((one) => {
      const from = cells.get(one);
      const to = cells.get(id) as Cell;
      return from === undefined || from.rank >= to.rank ? [] : [lead(from, to, add)];
    }),
  );
  untangle(layers);
  stand(layers, nodeGap);
  const xOf = (rank: number): number => rank * (nodeWidth + rankGap);
  const placed = [...cells].map(([id, { rank, y }]) => ({ id, rank, x: xOf(rank), y }));
  const edges = ways.map((way) => ({
    from: way.at(0)?.id ?? '',
    to: way.at(-1)?.id ?? '',
    points: way.flatMap(({ rank, y }, i): (readonly [number, number])[] => [
      ...(i > 0 ? [[xOf(rank), y] as const] : []),
      ...(i < way.length - 1 ? [[xOf(rank) + nodeWidth, y] as const] : []),
    ]),
  }));
  const bottom = Math.max(0, ...layers.flat().map(({ y, height }) => y + height / 2));
  const width = Math.max(0, xOf(layers.length - 1) + nodeWidth);
  return { nodes: placed, edges, width, height: bottom };
}

/** An edge goes from rank to rank, by way of a place in each that it passes. */
function lead(from: Cell, to: Cell, add: (id: null, rank: number) => Cell): Cell[] {
  const way = [from];
  for (let rank = from.rank + 1; rank < to.rank; rank++) way.push(add(null, rank));
  way.push(to);
  for (let i = 1; i < way.length; i++) {
    (way[i - 1] as Cell).after.push(way[i] as Cell);
    (way[i] as Cell).before.push(way[i - 1] as Cell);
  }
  return way;
}

/** Each stands by the mean place of its neighbours; what has none keeps its own. */
function untangle(layers: Cell[][]): void {
  let best = layers.map((layer) => [...layer]);
  let fewest = crossingsOf(layers);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const isDown = sweep % 2 === 0;
    const order = isDown ? layers : [...layers].reverse();
    for (const layer of order) {
      const means = new Map(layer.map((cell) => [cell, meanOf(cell, isDown)]));
      layer.sort((a, b) => (means.get(a) ?? 0) - (means.get(b) ?? 0));
      for (const [order, cell] of layer.entries()) cell.order = order;
    }
    const crossings = crossingsOf(layers);
    if (crossings >= fewest) continue;
    fewest = crossings;
    best = layers.map((layer) => [...layer]);
  }
  for (const [rank, layer] of best.entries()) {
    layers[rank] = layer;
    for (const [order, cell] of layer.entries()) cell.order = order;
  }
}

function meanOf(cell: Cell, isDown: boolean): number {
  const near = isDown ? cell.before : cell.after;
  if (near.length === 0) return cell.order;
  return near.reduce((sum, { order }) => sum + order, 0) / near.length;
}

/** Pairs of edges that cross, over all neighbouring ranks. */
function crossingsOf(layers: readonly (readonly Cell[])[]): number {
  let count = 0;
  for (const layer of layers) {
    const edges = layer.flatMap(({ order, after }) =>
      after.map((to) => [order, to.order] as const),
    );
    for (let i = 0; i < edges.length; i++) {
      for (let j = i + 1; j < edges.length; j++) {
        const [a, b] = [
          edges[i] as readonly [number, number],
          edges[j] as readonly [number, number],
        ];
        if ((a[0] - b[0]) * (a[1] - b[1]) < 0) count++;
      }
    }
  }
  return count;
}

/** As near to the neighbours as the order and the gaps of the rank allow. */
function stand(layers: readonly (readonly Cell[])[], gap: number): void {
  for (const layer of layers)
    settle(
      layer,
      layer.map(() => 0),
      gap,
    );
  for (let pull = 0; pull < PULLS; pull++) {
    const isDown = pull % 2 === 0;
    for (const layer of isDown ? layers : [...layers].reverse()) {
      const wished = layer.map((cell) => {
        const near = isDown ? cell.before : cell.after;
        const all = near.length > 0 ? near : [...cell.before, ...cell.after];
        return all.length === 0 ? cell.y : all.reduce((sum, { y }) => sum + y, 0) / all.length;
      });
      settle(layer, wished, gap);
    }
  }
  const top = Math.min(...layers.flat().map(({ y, height }) => y - height / 2));
  if (Number.isFinite(top)) for (const cell of layers.flat()) cell.y -= top;
}

/** The places in order that are nearest to the wished ones: neighbours that collide share their mean. */
function settle(layer: readonly Cell[], wished: readonly number[], gap: number): void {
  const blocks: { sum: number; count: number; first: number }[] = [];
  const shifts: number[] = [];
  let shift = 0;
  for (const [i, cell] of layer.entries()) {
    if (i > 0) shift += ((layer[i - 1] as Cell).height + cell.height) / 2 + gap;
    shifts.push(shift);
    blocks.push({ sum: (wished[i] as number) - shift, count: 1, first: i });
    for (;;) {
      const [one, other] = blocks.slice(-2);
      if (one === undefined || other === undefined) break;
      if (one.sum / one.count <= other.sum / other.count) break;
      blocks.splice(-2, 2, {
        ...{ sum: one.sum + other.sum, count: one.count + other.count, first: one.first },
      });
    }
  }
  for (const { sum, count, first } of blocks) {
    for (let i = first; i < first + count; i++) {
      (layer[i] as Cell).y = sum / count + (shifts[i] as number);
    }
  }
}
