/**
 * What the doors see of an agent: open connections, the last call, what it said it
 * is doing, what its hooks tell. Evidence for presence; kept in memory only, because after a restart none
 * of it is true any more. One agent may hold several connections [PE1].
 */
import { DAY_MS } from '../../core/law/limits.ts';

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
  reported: Reported | null;
  hooked: Hooked | null;
}

/** What the hooks of its harness tell. */
export interface Hooked {
  readonly state: 'idle' | 'busy' | 'blocked';
  /** What it works on, or what it asks a person. */
  readonly note: string | null;
  readonly since: number;
  /** The last hook. */
  readonly at: number;
  /** Whether the session is still there to be doing it. */
  isLive(): boolean;
}

export interface Reported {
  readonly state: 'idle' | 'busy' | 'blocked';
  readonly note: string | null;
  readonly at: number;
  readonly until: number;
}

export interface Activities {
  of(space: string, agent: string): Activity;
  find(space: string, agent: string): Activity | undefined;
  /** Who holds a connection, known to the space otherwise or not. */
  connected(space: string): string[];
}

export function createActivities(): Activities {
  const known = new Map<string, Activity>();
  const keyOf = (space: string, agent: string): string => `${space} ${agent}`;

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

  return {
    of(space, agent) {
      const key = keyOf(space, agent);
      const found = known.get(key);
      if (found !== undefined) return found;
      makeRoom();
      const activity = createActivity(agent);
      known.set(key, activity);
      return activity;
    },
    find: (space, agent) => known.get(keyOf(space, agent)),
    connected(space) {
      const names: string[] = [];
      const prefix = keyOf(space, '');
      for (const [key, { connections, agent }] of known) {
        if (connections > 0 && key.startsWith(prefix)) names.push(agent);
      }
      return names;
    },
  };
}

export function createActivity(agent: string): Activity {
  return {
    agent,
    home: null,
    connections: 0,
    connectedAt: 0,
    disconnectedAt: 0,
    lastCallAt: 0,
    seenAt: 0,
    lastOperation: null,
    lastDrainAt: 0,
    process: null,
    reported: null,
    hooked: null,
  };
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
