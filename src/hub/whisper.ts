/**
 * What servers of one space tell each other of what only memory knows. A whisper is promised to nobody, and none changes
 * what is on the record. Who is at the doors and what they have open is said again with each round; that too, beats and
 * names that were taken over, when a server begins or its line was broken. What was used, shown, offered again or said by a
 * turn is told once: where that is lost an agent may do a burst more, is shown a message twice, or the turn is read where it runs.
 */

import type { EphemeralEvent } from '../core/law/world.ts';
import type { Presented } from '../core/talk/presented.ts';

export type Whisper =
  | Exclude<EphemeralEvent, { readonly type: 'clock.ticked' } | Presented>
  | (Presented & {
      /** How much of the log the feed's server knew: what was released since was not shown. */
      readonly length: number;
    })
  | AgentSeen
  | AgentSpent
  | AgentHolds
  | TurnSaid
  | NameTaken
  /** I am here, and have nothing else to say. */
  | { readonly type: 'server.here' }
  /** I know nothing of you, or missed some of it: say again who is at your doors, and what you have heard. */
  | { readonly type: 'server.hello' }
  /** Every beat of the last `forMs` that I know of I have said: who was silent since then was silent. */
  | { readonly type: 'server.awake'; readonly forMs: number }
  | { readonly type: 'server.left' };

/** What the doors of the server see of an agent. */
export interface AgentSeen {
  readonly type: 'agent.seen';
  readonly agent: string;
  /** By the clock of the server that says it. */
  readonly at: number;
  readonly seen: Seen;
}

/** Times are milliseconds, 0 = never. */
export interface Seen {
  readonly home: 'vouched' | 'known' | null;
  readonly connections: number;
  readonly connectedAt: number;
  readonly disconnectedAt: number;
  readonly lastCallAt: number;
  readonly lastOperation: string | null;
  readonly lastDrainAt: number;
  readonly process: number | null;
  readonly reported: SeenReport | null;
  readonly hooked: SeenHook | null;
}

export interface SeenReport {
  readonly state: 'idle' | 'busy' | 'blocked';
  readonly note: string | null;
  /** Since when it says so, and when it said so last. */
  readonly at: number;
  readonly saidAt: number;
  readonly until: number;
}

export interface SeenHook {
  readonly state: 'idle' | 'busy' | 'blocked';
  readonly note: string | null;
  readonly since: number;
  readonly at: number;
}

/** What an agent was let do since the last word about it, under a limit that all servers keep together. */
export interface AgentSpent {
  readonly type: 'agent.spent';
  readonly limit: string;
  readonly key: string;
  readonly cost: number;
}

/** How much an agent has open at the server, or what it bears or keeps there. */
export interface AgentHolds {
  readonly type: 'agent.holds';
  readonly agent: string;
  readonly what: Held;
  readonly count: number;
}

/** A name that only one connection bears was taken over: whoever bears it elsewhere gives it up. */
export interface NameTaken {
  readonly type: 'name.taken';
  readonly name: string;
  /** Counts takeovers of the name that follow each other closely. */
  readonly turn: number;
  /** The server where it was taken. */
  readonly by: string;
}

/** Lines that a turn said at the server that runs it. */
export interface TurnSaid {
  readonly type: 'turn.said';
  readonly turn: string;
  readonly agent: string;
  readonly lines: readonly {
    /** Milliseconds since the epoch. */
    readonly at: number;
    readonly from: 'out' | 'err' | 'note';
    readonly text: string;
  }[];
}

/**
 * Waits and feeds are counted roughly. A name is borne or not; a door that is an agent's of its own keeps sockets, and
 * strangers are those of them that have not shown who they are.
 */
export type Held = 'waits' | 'feeds' | 'name' | 'sockets' | 'strangers';

/** The same times, by a clock that differs from the teller's. */
export function shiftSeen(seen: Seen, byMs: number): Seen {
  const moved = (at: number): number => (at === 0 ? 0 : at + byMs);
  const { reported, hooked } = seen;
  return {
    ...seen,
    connectedAt: moved(seen.connectedAt),
    disconnectedAt: moved(seen.disconnectedAt),
    lastCallAt: moved(seen.lastCallAt),
    lastDrainAt: moved(seen.lastDrainAt),
    reported: reported && {
      ...reported,
      ...{ at: moved(reported.at), saidAt: moved(reported.saidAt), until: moved(reported.until) },
    },
    hooked: hooked && { ...hooked, since: moved(hooked.since), at: moved(hooked.at) },
  };
}
