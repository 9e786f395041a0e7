/**
 * How many sockets the door has, counted at all servers together [SQ24]: each whispers how many are at its own. Where
 * less than an eighth is free, whoever comes waits for what the others have to say, so that the bound is passed only by
 * those who come to several servers within that moment.
 */
import type { Whispers } from '../../../hub/whispers.ts';
import type { SynapseClient } from './client.ts';
import { HUB_NAME } from './speech.ts';

/** Who may wait at once; whoever comes then is judged by what is known. */
const WAITING_MAX = 64;
const NARROW = 8;

export interface SeatsOptions {
  readonly whispers: Pick<Whispers, 'hold' | 'moment' | 'others'> | null;
  readonly clients: ReadonlySet<SynapseClient>;
  readonly clientsMax: number;
  /** Sockets that have not shown the token; null where none is asked for. */
  readonly strangersMax: number | null;
}

export interface Seats {
  /** At all servers. */
  readonly taken: number;
  /** Settles when it can be said whether there is room. */
  looked(): Promise<void>;
  /** Why the next one may not sit down: the code and reason it is closed with. */
  whyNot(): readonly [code: number, reason: string] | null;
  /** Somebody came, left or said who it is. */
  changed(): void;
}

export function createSeats(options: SeatsOptions): Seats {
  const { whispers, clients, clientsMax, strangersMax } = options;
  let waiting = 0;

  function strangersHere(): number {
    let count = 0;
    for (const { caller } of clients) if (caller === null) count++;
    return count;
  }

  function everywhere(what: 'sockets' | 'strangers', here: number): number {
    return here + (whispers?.others.holds(HUB_NAME, what) ?? 0);
  }
  const sockets = (): number => everywhere('sockets', clients.size);
  const strangers = (): number => everywhere('strangers', strangersHere());

  function isNarrow(count: number, max: number): boolean {
    const free = max - count;
    return free > 0 && free <= Math.max(1, Math.floor(max / NARROW));
  }

  return {
    get taken() {
      return sockets();
    },
    async looked() {
      if (whispers === null || waiting >= WAITING_MAX) return;
      const isClose =
        isNarrow(sockets(), clientsMax) ||
        (strangersMax !== null && isNarrow(strangers(), strangersMax));
      if (!isClose) return;
      waiting++;
      await whispers.moment();
      waiting--;
    },
    whyNot() {
      if (sockets() >= clientsMax) return [4013, 'hub at capacity'];
      if (strangersMax === null || strangers() < strangersMax) return null;
      return [4014, 'too many unauthenticated'];
    },
    changed() {
      if (whispers === null) return;
      whispers.hold(HUB_NAME, 'sockets', clients.size);
      if (strangersMax !== null) whispers.hold(HUB_NAME, 'strangers', strangersHere());
    },
  };
}
