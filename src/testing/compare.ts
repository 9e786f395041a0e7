/**
 * A world as text, one line for each fact, indexes included: two worlds are the same
 * when their texts are. It is told from the fields themselves, whatever they are called,
 * and knows nothing of snapshots, so that it can say when one forgot something.
 *
 * Things that refer to each other are told where they live and named elsewhere. A
 * reference to anything but that very object is told in full, and so shows.
 */
import { Deadlines } from '../core/law/deadlines.ts';
import { FifoMap } from '../core/law/fifo-map.ts';
import { Heap } from '../core/law/heap.ts';
import type { ChannelView, WorldView } from '../core/law/state.ts';
import { ByMessage } from '../core/talk/by-message.ts';
import { LowestCursor } from '../core/talk/lowest-cursor.ts';
import { Positions } from '../core/talk/positions.ts';
import { ThreadIndex } from '../core/threads/thread-index.ts';
import { Register } from '../core/work/claim/register.ts';
import { patternsOf } from '../core/work/claim/scope.ts';
import { ScopeIndex } from '../core/work/claim/scope-index.ts';

/**
 * Never told: since when the hub listens, when to look next (too early is harmless [L5]), and
 * where in a heap a thing lies.
 */
const UNTOLD: readonly string[] = ['awakeFrom', 'deadlines', 'workflows.stirred'];
const IN_HEAP = 'heapIndex';

/** What only memory knew, and what is promised to nobody after a restart. */
const MEMORY: readonly string[] = [
  'at',
  'agents[].presented',
  'agents[].presence.beatAt',
  'agents[].presence.staleMs',
  'agents[].presence.offlineMs',
  'offers.agents[][].expiresAt',
];

/** Collections whose order is a fact: the first is forgotten first. */
const ORDERED: ReadonlySet<string> = new Set([
  'tokens',
  'claims.inherited',
  'claims.keys',
  'claims.keysBySender[]',
  'turns.waking',
  'fates[]',
  'replies[]',
]);

export function portray(world: WorldView, facts: 'all' | 'durable' = 'all'): string {
  const teller: Teller = { lines: [], homes: homesOf(world), facts, open: new Set() };
  tellFields(teller, world, { at: '', kind: THE_WORLD });
  return teller.lines.join('\n');
}

interface Teller {
  readonly lines: string[];
  /** Where the things live that others refer to. */
  readonly homes: ReadonlyMap<object, string>;
  readonly facts: 'all' | 'durable';
  /** What is being told, so that a circle is noticed. */
  readonly open: Set<object>;
}

interface Path {
  readonly at: string;
  /** The same with the keys of collections left out. */
  readonly kind: Kind;
  /** The object this is a field of. */
  readonly parent?: object;
}

/** What is told of all things in one place of a world. It is found out once: there are few places, and many things. */
class Kind {
  /** Told of no world, and of none that is compared with what was stored. */
  readonly isUntold: { readonly all: boolean; readonly durable: boolean };
  readonly isOrdered: boolean;
  readonly #name: string;
  readonly #fields = new Map<string, Kind>();
  #items: Kind | null = null;
  #keys: readonly string[] = [];
  #sorted: readonly string[] = [];

  constructor(name: string) {
    const all = UNTOLD.includes(name) || name.endsWith(`.${IN_HEAP}`);
    this.isUntold = { all, durable: all || MEMORY.includes(name) };
    this.isOrdered = ORDERED.has(name);
    this.#name = name;
  }

  field(field: string): Kind {
    const known = this.#fields.get(field);
    if (known !== undefined) return known;
    const kind = new Kind(this.#name === '' ? field : `${this.#name}.${field}`);
    this.#fields.set(field, kind);
    return kind;
  }

  /** That of the things in a collection. */
  get items(): Kind {
    this.#items ??= new Kind(`${this.#name}[]`);
    return this.#items;
  }

  /** The names of the fields of such a thing, in order; mostly it has those that the last one had. */
  fieldsOf(value: object): readonly string[] {
    const keys = Object.keys(value);
    const last = this.#keys;
    if (keys.length !== last.length || keys.some((key, i) => key !== last[i])) {
      this.#keys = keys;
      this.#sorted = keys.toSorted();
    }
    return this.#sorted;
  }
}

const THE_WORLD = new Kind('');

function homesOf(world: WorldView): Map<object, string> {
  const homes = new Map<object, string>();
  for (const agent of world.agents.values()) homes.set(agent, `agents[${agent.name}]`);
  for (const channel of world.channels.values()) {
    homes.set(channel, `channels[${channel.name}]`);
    for (const [name, member] of channel.members) {
      homes.set(member, `channels[${channel.name}].members[${name}]`);
    }
  }
  for (const claim of world.claims.claims.values()) homes.set(claim, `claims.claims[${claim.id}]`);
  for (const list of ['open', 'ended'] as const) {
    for (const [id, gate] of world.gates[list]) homes.set(gate, `gates.${list}[${id}]`);
  }
  for (const [number, wait] of world.claims.waits) homes.set(wait, `claims.waits[${number}]`);
  for (const [id, run] of world.workflows.live) homes.set(run, `workflows.live[${id}]`);
  for (const [id, place] of world.workflows.placeOf) homes.set(place, `workflows.placeOf[${id}]`);
  for (const managed of world.turns.agents.values()) {
    homes.set(managed, `turns.agents[${managed.agent}]`);
  }
  return homes;
}

function tell(teller: Teller, value: unknown, path: Path): void {
  const { lines, homes, facts, open } = teller;
  if (path.kind.isUntold[facts] || typeof value === 'function') return;
  if (typeof value !== 'object' || value === null) {
    lines.push(`${path.at} = ${typeof value === 'string' ? JSON.stringify(value) : value}`);
    return;
  }
  const home = homes.get(value);
  if (home !== undefined && home !== path.at) {
    lines.push(`${path.at} is ${home}`);
    return;
  }
  if (open.has(value)) throw new Error(`${path.at} is told within itself`);
  open.add(value);
  if (!tellCollection(teller, value, path)) {
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype) {
      throw new Error(`${path.at} is a ${prototype?.constructor.name}, which nobody can tell`);
    }
    tellFields(teller, value, path);
  }
  open.delete(value);
}

function tellFields(teller: Teller, value: object, { at, kind }: Path): void {
  const fields = kind.fieldsOf(value);
  if (fields.length === 0) teller.lines.push(`${at} = {}`);
  for (const field of fields) {
    tell(teller, (value as Readonly<Record<string, unknown>>)[field], {
      at: at === '' ? field : `${at}.${field}`,
      kind: kind.field(field),
      parent: value,
    });
  }
}

/** False when it is no collection. */
function tellCollection(teller: Teller, value: object, path: Path): boolean {
  const { lines, homes } = teller;
  const nameOf = (thing: object): string => homes.get(thing) ?? 'nobody of this world';
  if (value instanceof Map) {
    tellEntries(teller, [...value], path, value instanceof FifoMap || path.kind.isOrdered);
    if (value instanceof FifoMap) lines.push(`${path.at} forgets ${value.oldest} first`);
  } else if (value instanceof ByMessage) {
    tellEntries(teller, [...value], path, true);
    lines.push(`${path.at} remembers ${value.size}`);
  } else if (value instanceof Set) {
    const items = [...value].map((item) => (typeof item === 'object' ? nameOf(item) : `${item}`));
    lines.push(`${path.at} = ${(path.kind.isOrdered ? items : items.sort()).join(' ')}`);
  } else if (Array.isArray(value)) {
    tellEntries(teller, [...value.entries()], path, false);
  } else if (value instanceof Positions) {
    lines.push(`${path.at} = ${Array.from({ length: value.head }, (_, i) => value.at(i + 1))}`);
  } else if (value instanceof ThreadIndex) {
    for (const fact of value.facts()) lines.push(`${path.at} has ${fact}`);
  } else if (value instanceof LowestCursor) {
    const { members, positions } = path.parent as ChannelView;
    lines.push(`${path.at} = ${value.among(members, positions.head)}`);
  } else if (value instanceof Register) {
    tellEntries(
      teller,
      Array.from(value.values(), (one) => [one.id, one]),
      path,
      false,
    );
  } else if (value instanceof Heap) {
    const items = [...value];
    lines.push(`${path.at} = ${items.map(nameOf).sort()}`);
  } else if (value instanceof ScopeIndex) {
    const found = value.find(patternsOf([]));
    lines.push(`${path.at} = ${found.map((one) => `${nameOf(one.holder)} ${one.theirs}`).sort()}`);
    lines.push(`${path.at} has ${value.size}`);
  } else {
    return value instanceof Deadlines;
  }
  return true;
}

function tellEntries(
  teller: Teller,
  entries: readonly (readonly [key: unknown, value: unknown])[],
  path: Path,
  isOrdered: boolean,
): void {
  const keyed = entries.map(([key, value]) => [`${key}`, value] as const);
  teller.lines.push(`${path.at} has ${keyed.length}`);
  if (isOrdered) teller.lines.push(`${path.at} in order: ${keyed.map(([key]) => key).join(' ')}`);
  for (const [key, value] of keyed.sort(byName)) {
    tell(teller, value, { at: `${path.at}[${key}]`, kind: path.kind.items });
  }
}

function byName(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
}
