/**
 * What the doors see of an agent: open connections, the last call, what it said it
 * is doing, what its hooks tell. Evidence for presence; kept in memory only, because after a restart none
 * of it is true any more. One agent may hold several connections [PE1], also at several servers, which tell
 * each other [SQ13].
 */
import { DAY_MS } from '../../core/law/limits.ts';
import type { Seen, SeenReport } from '../../hub/whisper.ts';
import type { Whispers } from '../../hub/whispers.ts';
import { type ActivityView, type Hooked, mergeSeen, seenOf } from './seen.ts';

const AGENTS_MAX = 100_000;

export interface Activity {
  readonly agent: string;
  /** Which door knew the name first: one that vouches for its callers gives no other's away. */
  home: 'vouched' | 'known' | null;
  connections: number;
  /** When it last came to have a connection; milliseconds, 0 = never. */
  connectedAt: number;
  /** When its last connection ended; milliseconds, 0 = never. */
  disconnectedAt: number;
  /** Milliseconds; 0 = never. */
  lastCallAt: number;
  /** When the space was last told that the agent is about; milliseconds, 0 = never. */
  seenAt: number;
  lastOperation: string | null;
  /** When it last read its inbox, also when that was empty; milliseconds, 0 = never. */
  lastDrainAt: number;
  process: number | null;
  reported: SeenReport | null;
  hooked: Hooked | null;
}

export interface Activities {
  /** At our doors. */
  of(space: string, agent: string): Activity;
  /** At the doors of all servers. */
  find(space: string, agent: string): ActivityView | undefined;
  /** Whether another server says something of the agent within a moment: nobody is called absent before [SQ18]. */
  news(space: string, agent: string): Promise<boolean>;
  /** Who holds a connection anywhere, known to the space otherwise or not. */
  connected(space: string): string[];
  /** A space was opened: whoever is at its doors already, the others are told. */
  opened(space: string): void;
  /** When each space was asked for anything at our doors last; infinite where somebody is there who only listens. */
  uses(now: number): ReadonlyMap<string, number>;
}

type WhispersOf = (space: string) => Pick<Whispers, 'stir' | 'others' | 'news'> | null;

export function createActivities(whispersOf: WhispersOf | null = null): Activities {
  const known = new Map<string, Activity>();
  const keyOf = (space: string, agent: string): string => `${space} ${agent}`;

  /** One for all: there may be very many agents, each of them mostly silent. */
  const onChange: OnChange | null =
    whispersOf &&
    ((one, isSudden) => {
      const whispers = whispersOf(one.space);
      if (!whispers) return;
      one.read ??= () => seenOf(one.values);
      whispers.stir(one.values.agent, one.read, isSudden);
    });

  /** Losing evidence of somebody silent is better than growing without end. */
  function makeRoom(): void {
    let left = known.size;
    if (left < AGENTS_MAX) return;
    for (const [key, activity] of known) {
      known.delete(key);
      if (activity.connections === 0 || left-- === 0) return;
      // Whoever is connected is not silent: it goes to the end of the queue.
      known.set(key, activity);
    }
  }

  function* at(space: string): Generator<Activity> {
    const prefix = keyOf(space, '');
    for (const [key, activity] of known) if (key.startsWith(prefix)) yield activity;
  }

  return {
    of(space, agent) {
      const key = keyOf(space, agent);
      const found = known.get(key);
      if (found !== undefined) return found;
      makeRoom();
      const values = createActivity(agent);
      const activity = onChange === null ? values : watched(values, space, onChange);
      known.set(key, activity);
      return activity;
    },
    find(space, agent) {
      const here = known.get(keyOf(space, agent));
      const there = whispersOf?.(space)?.others.seen(agent) ?? [];
      return there.length === 0 ? here : mergeSeen(here, there);
    },
    news: async (space, agent) => whispersOf?.(space)?.news(agent) ?? false,
    connected(space) {
      const names = new Set<string>();
      for (const { connections, agent } of at(space)) if (connections > 0) names.add(agent);
      const others = whispersOf?.(space)?.others;
      for (const agent of others?.names() ?? []) {
        if (others?.seen(agent).some(({ connections }) => connections > 0)) names.add(agent);
      }
      return [...names];
    },
    opened(space) {
      const whispers = whispersOf?.(space);
      for (const one of at(space)) whispers?.stir(one.agent, () => seenOf(one));
    },
    uses(now) {
      const uses = new Map<string, number>();
      for (const [key, activity] of known) {
        const space = key.slice(0, key.indexOf(' '));
        uses.set(space, Math.max(uses.get(space) ?? 0, usedAt(activity, now)));
      }
      return uses;
    },
  };
}

function usedAt(activity: Activity, now: number): number {
  const { connections, hooked, reported, lastCallAt, disconnectedAt } = activity;
  const isThere = connections > 0 || hooked?.isLive() || (reported?.until ?? 0) > now;
  return isThere ? Number.POSITIVE_INFINITY : Math.max(lastCallAt, disconnectedAt);
}

type OnChange = (one: Watched, isSudden: boolean) => void;

export function createActivity(agent: string): Activity {
  return {
    ...{ agent, home: null, connections: 0, connectedAt: 0, disconnectedAt: 0, lastCallAt: 0 },
    ...{ seenAt: 0, lastOperation: null, lastDrainAt: 0, process: null, reported: null },
    hooked: null,
  };
}

/** Whether somebody is there, and what it says of itself, is asked about at once. */
const SUDDEN: ReadonlySet<keyof Activity> = new Set(['connections', 'reported', 'hooked'] as const);

/** Whoever changes it need not think of those who are to be told. */
function watched(values: Activity, space: string, onChange: OnChange): Activity {
  return new Watched(values, space, onChange) as unknown as Activity;
}

/** With the fields of an activity: of the prototype, because every call passes here and one's own are slow. */
class Watched {
  readonly values: Activity;
  readonly space: string;
  readonly onChange: OnChange;
  /** For those who are told later; made when somebody is. */
  read: (() => Seen) | null = null;
  constructor(values: Activity, space: string, onChange: OnChange) {
    this.values = values;
    this.space = space;
    this.onChange = onChange;
  }
}

for (const key of Object.keys(createActivity('')) as (keyof Activity)[]) {
  const isSudden = SUDDEN.has(key);
  Object.defineProperty(Watched.prototype, key, {
    enumerable: true,
    get(this: Watched) {
      return this.values[key];
    },
    set(this: Watched, value: never) {
      (this.values as Record<keyof Activity, unknown>)[key] = value;
      this.onChange(this, isSudden);
    },
  });
}

/**
 * Notes a call. True once a day: what an agent does may leave no event, and its space must hear
 * that it is about, or it would be forgotten [GA6].
 */
export function markCall(activity: Activity, operation: string, now: number): boolean {
  activity.lastCallAt = now;
  activity.lastOperation = operation;
  if (now - activity.seenAt < DAY_MS) return false;
  activity.seenAt = now;
  return true;
}

/** Counts a connection; the answer counts it out, once however often it is called. */
export function countConnection(activity: Activity, now: () => number): () => void {
  if (activity.connections++ === 0) activity.connectedAt = now();
  let isOpen = true;
  return () => {
    if (!isOpen) return;
    isOpen = false;
    if (--activity.connections === 0) activity.disconnectedAt = now();
  };
}
