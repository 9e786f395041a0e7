/**
 * A stable topological order, and the name of a cycle when there is none.
 *
 * Among the nodes that are free to go next, the one with the smallest id in bytes goes: the order
 * depends on the graph alone, never on how its parts were listed.
 */

/** `[first, then]`: `first` comes before `then`. */
export type Edge = readonly [first: string, then: string];

export type Ordered = { readonly order: readonly string[] } | { readonly cycle: readonly string[] };

/** Orders `nodes` by `edges`; both ends of every edge are among the nodes. */
export function orderNodes(nodes: readonly string[], edges: readonly Edge[]): Ordered {
  const followers = new Map<string, Set<string>>(nodes.map((node) => [node, new Set()]));
  const waitingFor = new Map<string, number>(nodes.map((node) => [node, 0]));
  for (const [first, then] of edges) {
    const set = followers.get(first);
    if (set === undefined || set.has(then)) continue;
    set.add(then);
    waitingFor.set(then, (waitingFor.get(then) ?? 0) + 1);
  }
  const order: string[] = [];
  const free = [...followers.keys()].filter((node) => waitingFor.get(node) === 0);
  while (free.length > 0) {
    free.sort(compareBytes);
    const node = free.shift() as string;
    order.push(node);
    for (const follower of followers.get(node) ?? []) {
      const left = (waitingFor.get(follower) ?? 0) - 1;
      waitingFor.set(follower, left);
      if (left === 0) free.push(follower);
    }
  }
  if (order.length === followers.size) return { order };
  return { cycle: findCycle(new Set(order), followers) };
}

/** Whether `from` comes before `to` by these edges alone. */
export function isBefore(from: string, to: string, edges: readonly Edge[]): boolean {
  const seen = new Set<string>();
  const queue = [from];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    for (const [first, then] of edges) {
      if (first !== node || seen.has(then)) continue;
      if (then === to) return true;
      seen.add(then);
      queue.push(then);
    }
  }
  return false;
}

export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/**
 * Every unordered node either lies on a cycle or behind one, so walking backwards from any of
 * them along unordered nodes must meet itself.
 */
function findCycle(
  done: ReadonlySet<string>,
  followers: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] {
  const stuck = [...followers.keys()].filter((node) => !done.has(node)).sort(compareBytes);
  const path: string[] = [];
  let node = stuck[0] as string;
  while (!path.includes(node)) {
    path.push(node);
    node = stuck.find((candidate) =>
      followers.get(candidate)?.has(path.at(-1) as string),
    ) as string;
  }
  const loop = path.slice(path.indexOf(node)).reverse();
  // Told from its smallest member, so that the same cycle always reads the same.
  const start = loop.indexOf([...loop].sort(compareBytes)[0] as string);
  const told = [...loop.slice(start), ...loop.slice(0, start)];
  return [...told, told[0] as string];
}
