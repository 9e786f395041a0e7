/**
 * The docket told a second time, from nothing but the entries of the log: what waits for a person, which
 * things are one item, who has taken it, and that what must be decided is there until it is.
 */
import type { TurnModel } from './turn-model.ts';

// biome-ignore lint/suspicious/noExplicitAny: entries are read as they lie, without the types of core.
type Entry = any;

interface ModelItem {
  readonly id: number;
  readonly agent: string;
  /** Agent, kind, reason and thread of what made it. */
  readonly key: string;
  readonly madeAt: number;
  /** Kind and id of what it is about. */
  readonly places: Set<string>;
  takenBy: string | null;
  isOpen: boolean;
}

export interface DocketModel {
  readonly counts: Readonly<Record<string, number>>;
  /** Ids of those that are open. */
  readonly open: readonly number[];
  /** Takes in the entry at a position; throws when it contradicts what came before. */
  add(event: Entry, position: number): void;
  wasTaken(id: number, by: string): boolean;
  /** What is open, a line for each item. */
  portray(): string;
  /** What is on it of this kind. */
  subjects(kind: string): ReadonlySet<string>;
}

const MINUTE = 60_000;

export function createDocketModel(people: ReadonlySet<string>, about: TurnModel): DocketModel {
  const items: ModelItem[] = [];
  const needed = new Map<string, number>();
  /** Whose they are. */
  const turns = new Map<string, string>();
  const takings = new Set<string>();
  const counts: Record<string, number> = {};

  const fail = (why: string): never => {
    throw new Error(why);
  };
  const withPlace = (place: string): ModelItem | undefined =>
    items.find(({ isOpen, places }) => isOpen && places.has(place));

  function raise(at: number, kind: string, agent: string, key: string, subject: string): void {
    const place = `${kind} ${subject}`;
    const mine = items.filter((item) => item.agent === agent);
    const newest = mine.at(-1);
    let item =
      withPlace(place) ?? items.find((one) => one.isOpen && one.key === `${agent} ${kind} ${key}`);
    if (item === undefined && newest !== undefined && at - newest.madeAt < MINUTE) {
      item = mine.findLast(({ isOpen }) => isOpen) ?? newest;
      if (!item.isOpen) Object.assign(item, { isOpen: true, takenBy: null });
    }
    if (item === undefined) {
      const id = items.length + 1;
      item = {
        ...{ id, agent, key: `${agent} ${kind} ${key}`, madeAt: at },
        ...{ places: new Set(), takenBy: null, isOpen: true },
      };
      items.push(item);
    }
    item.places.add(place);
  }

  function settle(kind: string, subject: string): void {
    const item = withPlace(`${kind} ${subject}`);
    item?.places.delete(`${kind} ${subject}`);
    if (item?.places.size === 0) item.isOpen = false;
  }

  function free(agent: string): void {
    if (about.parked.has(agent)) return;
    settle('parked', agent);
    settle('dead', agent);
  }

  const told: Record<string, (event: Entry, position: number) => void> = {
    'gate.asked'({ at, by, action, thread, id, deciders }) {
      needed.set(id, deciders.count);
      raise(at, 'gate', by, `${action} ${thread}`, id);
    },
    'gate.approved'({ id }) {
      const left = (needed.get(id) ?? 1) - 1;
      needed.set(id, left);
      if (left <= 0) settle('gate', id);
    },
    'gate.denied': ({ id }) => settle('gate', id),
    'gate.ended': ({ id }) => settle('gate', id),
    'message.sent'({ at, by, held }, position) {
      if (held !== undefined) raise(at, 'held', by, `${held} null`, `m${position}`);
    },
    'message.reviewed': ({ position }) => settle('held', `m${position}`),
    'docket.raised'({ at, by, text, thread, question }) {
      raise(at, 'question', by, `${text} ${thread}`, question);
    },
    'docket.lapsed'({ questions }) {
      for (const question of questions) settle('question', question);
    },
    'turn.due': ({ id, agent }) => turns.set(id, agent),
    'agent.parked'({ at, agent, cause }) {
      const kind = cause === 'dead' ? 'dead' : 'parked';
      const root = about.parked.get(agent);
      raise(at, kind, agent, `${cause} ${root === undefined ? null : `m${root}`}`, agent);
    },
    'turn.stilled'({ at, agent, sender, cause, root }) {
      const subject = cause === 'fruitless' ? `fruitless ${agent}` : `m${root}`;
      raise(at, 'alert', sender, `${cause} m${root}`, subject);
    },
    'agent.resumed'({ agents }) {
      for (const agent of agents) free(agent);
    },
    'turn.revived'({ id }) {
      free(turns.get(id) ?? '');
    },
    'agent.unmanaged': ({ agent }) => free(agent),
    'agent.removed'({ agent }) {
      for (const item of items.filter((one) => one.isOpen && one.agent === agent)) {
        for (const place of [...item.places]) {
          if (!/^(gate|held) /.test(place)) item.places.delete(place);
        }
        item.isOpen = item.places.size > 0;
      }
    },
    'docket.taken'({ id, by }) {
      const item = items[id - 1];
      if (!people.has(by)) fail(`${by}, who is no person, took d${id}`);
      if (item?.isOpen !== true) fail(`d${id} is taken and not open`);
      else item.takenBy = by;
      takings.add(`${id} ${by}`);
    },
    'docket.closed'({ id, by, subject }) {
      const item = items[id - 1] ?? fail(`d${id} is closed and was never there`);
      if (!people.has(by)) fail(`${by}, who is no person, closed d${id}`);
      if (!item.isOpen) fail(`d${id} is closed twice`);
      if (item.takenBy !== null && item.takenBy !== by) fail(`d${id} is ${item.takenBy}’s`);
      for (const place of [...item.places]) {
        const [kind = '', ...rest] = place.split(' ');
        if (subject !== null && rest.join(' ') !== subject) continue;
        if (kind === 'gate' || kind === 'held') fail(`d${id} is closed, and ${place} undecided`);
        item.places.delete(place);
      }
      if (item.places.size === 0) item.isOpen = false;
    },
  };

  return {
    counts,
    get open() {
      return items.filter(({ isOpen }) => isOpen).map(({ id }) => id);
    },
    add(event, position) {
      for (const agent of about.heeded) settle('alert', `fruitless ${agent}`);
      const tell = told[event.type];
      if (tell === undefined) return;
      if (event.type.startsWith('docket.')) counts[event.type] = (counts[event.type] ?? 0) + 1;
      tell(event, position);
    },
    wasTaken: (id, by) => takings.has(`${id} ${by}`),
    portray: () =>
      items
        .filter(({ isOpen }) => isOpen)
        .map((one) => lineOf(one.id, one.agent, one.takenBy, one.places))
        .join('\n'),
    subjects(kind) {
      const found = new Set<string>();
      for (const { isOpen, places } of items) {
        if (!isOpen) continue;
        for (const place of places)
          if (place.startsWith(`${kind} `)) found.add(place.slice(kind.length + 1));
      }
      return found;
    },
  };
}

export function lineOf(
  id: number,
  agent: string,
  takenBy: string | null,
  places: Iterable<string>,
): string {
  return `d${id} of ${agent} taken by ${takenBy}: ${[...places].sort().join(', ')}`;
}
