/**
 * Looks at the log, none of them beyond what is durable. Who reads much of it does so in turns, so that whoever else
 * asks is answered in between.
 */
import type { DurableEvent } from '../core/law/world.ts';
import type { Log } from '../log/log.ts';
import {
  type EventsRead,
  eventsAt,
  positionAt,
  readEntries,
  readEvents,
  type Scanned,
  scanLog,
} from './scan.ts';
import { SPENT_IN_TURN_MAX, type Turns } from './turns.ts';

export interface Reading {
  /** What lies at positions of the log; each is read once. */
  eventsAt(positions: readonly number[]): Promise<readonly DurableEvent[]>;
  /**
   * The same for an agent, from the first on as much as so many characters hold and at least the first. Nobody holds
   * what was read while it waits for its turn.
   */
  readEvents(agent: string, positions: readonly number[], charsMax: number): Promise<EventsRead>;
  /** Entries from a position on that are wanted, so many at the most; `next` is where to go on. */
  scan(
    from: number,
    isWanted: (event: DurableEvent) => boolean,
    limit: number,
    scannedMax: number,
  ): Promise<Scanned>;
  /** Entries as they are stored, from a position on: some, or none when there are no more. */
  entries(from: number, bytesMax: number): Promise<readonly string[]>;
  /** The first position of which the entry is no older than this; how many there are when none is. */
  positionAt(at: number): Promise<number>;
}

export function createReading(
  log: Pick<Log, 'at' | 'read'>,
  lengthOf: () => number,
  turns: Turns,
): Reading {
  return {
    eventsAt: (positions) => eventsAt(log, lengthOf(), positions),
    async readEvents(agent, positions, charsMax) {
      const turn = turns.giveWay(agent);
      if (turn !== null) await turn;
      // How much it is, is known when it was read: who comes meanwhile waits as if it were much.
      turns.spend(SPENT_IN_TURN_MAX);
      const read = await readEvents(log, lengthOf(), positions, charsMax);
      turns.spend(read.chars - SPENT_IN_TURN_MAX);
      return read;
    },
    scan: (from, isWanted, limit, scannedMax) =>
      scanLog(log, { from, to: Math.min(lengthOf(), from + scannedMax), limit }, isWanted),
    entries: (from, bytesMax) => readEntries(log, { from, to: lengthOf(), bytesMax }),
    positionAt: (at) => positionAt(log, lengthOf(), at),
  };
}
