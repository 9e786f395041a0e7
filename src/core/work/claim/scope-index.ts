/**
 * Who covers what in one worktree, found without looking at everyone: a tree of folded
 * folder names. A path hangs at the end of its plain names, a glob at the end of the plain
 * names before its first wildcard. A search walks only the branches its own pattern can
 * reach, so what lies elsewhere costs nothing [SC6]. Branches that fall empty stay for a while,
 * because the same names come back (see register.ts), and are pruned together.
 */
import { closePlaces, overlap, stepPlaces } from './scope-overlap.ts';
import type { PathPattern, Segment } from './scope-pattern.ts';

export interface Found<Holder> {
  readonly holder: Holder;
  readonly mine: string;
  readonly theirs: string;
  /** A path both cover. */
  readonly witness: string;
}

export interface Search<Holder> {
  /** Holders that do not count, such as oneself. */
  readonly skip?: (holder: Holder) => boolean;
  /** Which of their patterns count; all unless said. */
  readonly fits?: (pattern: PathPattern) => boolean;
  /** Stop after so many. */
  readonly limit?: number;
  /** Told as soon as one is found, so that `skip` may take it into account. */
  readonly onFound?: (holder: Holder) => void;
}

export interface Searchable<Holder> {
  find(patterns: readonly PathPattern[], search?: Search<Holder>): Found<Holder>[];
}

interface Entry<Holder> {
  readonly holder: Holder;
  readonly pattern: PathPattern;
}

interface Node<Holder> {
  children: Map<string, Node<Holder>> | null;
  entries: Entry<Holder>[] | null;
}

/** A node on the way of a search, and where in the pattern one may be there. */
interface Visit<Holder> {
  readonly node: Node<Holder>;
  readonly places: readonly number[];
}

/** A search for one pattern: what was found, and which entries were looked at, once there was one. */
interface Hunt<Holder> {
  readonly search: Search<Holder>;
  readonly found: Found<Holder>[];
  seen: Set<Entry<Holder>> | null;
}

type NameSegment = Extract<Segment, { kind: 'name' }>;

const BARE_MIN = 256;

export class ScopeIndex<Holder extends object> implements Searchable<Holder> {
  readonly #root: Node<Holder> = { children: null, entries: null };
  readonly #holders = new Map<Holder, readonly PathPattern[]>();
  #entryCount = 0;
  /** How often a branch was left bare since the last pruning; some may be in use again. */
  #bareCount = 0;

  get size(): number {
    return this.#holders.size;
  }

  add(holder: Holder, patterns: readonly PathPattern[]): void {
    this.remove(holder);
    this.#holders.set(holder, patterns);
    for (const pattern of patterns) {
      const entry = { holder, pattern };
      for (const segments of pattern.alternatives) {
        let node = this.#root;
        for (const segment of segments) {
          if (segment.kind !== 'name') break;
          node.children ??= new Map();
          let child = node.children.get(segment.key);
          if (child === undefined) {
            child = { children: null, entries: null };
            node.children.set(segment.key, child);
          }
          node = child;
        }
        node.entries ??= [];
        node.entries.push(entry);
        this.#entryCount++;
      }
    }
  }

  remove(holder: Holder): void {
    for (const pattern of this.#holders.get(holder) ?? []) {
      for (const segments of pattern.alternatives) this.#cut(holder, segments);
    }
    this.#holders.delete(holder);
  }

  /** Where the patterns meet those of others; one row for each pair of paths that meet. */
  find(patterns: readonly PathPattern[], search: Search<Holder> = {}): Found<Holder>[] {
    const found: Found<Holder>[] = [];
    for (const pattern of patterns) {
      const hunt: Hunt<Holder> = { search, found, seen: null };
      for (const segments of pattern.alternatives) {
        if (this.#findFrom(pattern, segments, hunt)) return found;
      }
    }
    return found;
  }

  /** True when there are as many as were asked for. */
  #findFrom(pattern: PathPattern, segments: readonly Segment[], hunt: Hunt<Holder>): boolean {
    // The plain names in front lead one way: nothing is kept for them of where one has been.
    let node = this.#root;
    let place = 0;
    for (; segments[place]?.kind === 'name'; place++) {
      if (look(node, pattern, hunt)) return true;
      const child = node.children?.get((segments[place] as NameSegment).key);
      if (child === undefined) return false;
      node = child;
    }
    const open: Visit<Holder>[] = [{ node, places: closePlaces(segments, [place]) }];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (look(at.node, pattern, hunt)) return true;
      if (at.node.children !== null) reach(at.node.children, segments, at.places, open);
    }
    return false;
  }

  #cut(holder: Holder, segments: readonly Segment[]): void {
    let node: Node<Holder> | undefined = this.#root;
    for (const segment of segments) {
      if (segment.kind !== 'name') break;
      node = node?.children?.get(segment.key);
    }
    const entries = node?.entries ?? null;
    // Two alternatives with the same plain names: the first pass has cut both.
    if (node === undefined || entries === null) return;
    const left = entries.filter((entry) => entry.holder !== holder);
    this.#entryCount -= entries.length - left.length;
    node.entries = left.length > 0 ? left : null;
    if (node.entries === null && node.children === null) this.#bareCount++;
    if (this.#bareCount < BARE_MIN || this.#bareCount < this.#entryCount) return;
    prune(this.#root);
    this.#bareCount = 0;
  }
}

/** What hangs at one node; true when there are as many as were asked for. */
function look<Holder>(node: Node<Holder>, pattern: PathPattern, hunt: Hunt<Holder>): boolean {
  if (node.entries === null) return false;
  const { search, found } = hunt;
  hunt.seen ??= new Set();
  for (const entry of node.entries) {
    if (hunt.seen.has(entry) || search.skip?.(entry.holder)) continue;
    hunt.seen.add(entry);
    if (search.fits !== undefined && !search.fits(entry.pattern)) continue;
    const met = overlap(pattern, entry.pattern);
    if (met === null) continue;
    const { holder } = entry;
    found.push({ holder, mine: pattern.text, theirs: entry.pattern.text, ...met });
    search.onFound?.(holder);
    if (found.length >= (search.limit ?? Number.POSITIVE_INFINITY)) return true;
  }
  return false;
}

/** True when nothing is left at the node or below it. */
function prune<Holder>(node: Node<Holder>): boolean {
  for (const [name, child] of node.children ?? []) if (prune(child)) node.children?.delete(name);
  if (node.children?.size === 0) node.children = null;
  return node.children === null && node.entries === null;
}

/** Below which children something may be met. Where the pattern has ended, below all of them. */
function reach<Holder>(
  children: ReadonlyMap<string, Node<Holder>>,
  segments: readonly Segment[],
  places: readonly number[],
  open: Visit<Holder>[],
): void {
  const only = places.length === 1 ? segments[places[0] as number] : undefined;
  if (only?.kind === 'name') {
    const node = children.get(only.key);
    if (node !== undefined) open.push({ node, places: stepPlaces(segments, places, only.key) });
    return;
  }
  const hasEnded = places.includes(segments.length);
  for (const [name, node] of children) {
    const next = hasEnded ? places : stepPlaces(segments, places, name);
    if (next.length > 0) open.push({ node, places: next });
  }
}
