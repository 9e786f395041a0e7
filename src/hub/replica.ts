/**
 * The world of one space: what its log holds, and, while a batch is decided and
 * appended, what the batch would add. Entries count once they are durable, and they
 * count the same whoever wrote them: each is handed on exactly once, in log order.
 */
import { assert } from '../core/law/assert.ts';
import { carryMemory } from '../core/law/carry.ts';
import type { World } from '../core/law/state.ts';
import type { DurableEvent } from '../core/law/world.ts';
import type { Log } from '../log/log.ts';
import { applyForListeners } from './apply-entry.ts';
import { rebuild, rebuildWorld } from './rebuild.ts';

/** Told of entries that have become durable, in log order and once each; messages such as this program writes them. */
export type OnDurable = (
  first: number,
  events: readonly DurableEvent[],
  entries: readonly string[],
) => void;

export interface Replica {
  /** Whoever decides a batch on it makes it run ahead of the log, until `confirm` or `rewind`. */
  readonly world: World;
  /** Entries from here on are in no snapshot that was found on opening. */
  readonly snapshotEnd: number;
  /** How many entries are durable and known here: all that may be shown to anybody. */
  readonly length: number;
  /** The batch that was decided is appended. */
  confirm(): void;
  /** Throws away what was decided: the world is made anew from the log, as far as it was known. */
  rewind(): Promise<void>;
  /** Reads on to the end of the log; where `enough` entries of it are known, to the end of what is known. */
  catchUp(enough?: number): Promise<void>;
}

export async function openReplica(
  log: Log,
  onDurable: OnDurable,
  onTrouble: (what: string, cause: unknown) => void,
): Promise<Replica> {
  const rebuilt = await rebuild(log, onTrouble);
  let { world } = rebuilt;
  let { length } = world;

  return {
    snapshotEnd: rebuilt.snapshotEnd,
    get world() {
      return world;
    },
    get length() {
      return length;
    },
    confirm() {
      length = world.length;
    },
    async rewind() {
      const fresh = await rebuildWorld(log, onTrouble, length);
      fresh.awakeFrom = world.awakeFrom;
      carryMemory(world, fresh);
      world = fresh;
    },
    async catchUp(enough) {
      for await (const { first, entries } of log.read(length, enough)) {
        assert(world.length === first && length === first, 'what is read follows what is known');
        const events: DurableEvent[] = [];
        const own: string[] = [];
        for (const entry of entries) {
          const applied = applyForListeners(world, entry);
          events.push(applied.event);
          own.push(applied.own);
        }
        length = world.length;
        onDurable(first, events, own);
      }
    },
  };
}
