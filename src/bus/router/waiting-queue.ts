/**
 * What waits for a worker. Those who wait are served in turns, one of each at a time, so that who asks for
 * ten thousand things does not go before who asks for one [BU29]; of one client the order stays, and within a
 * session as well, whoever speaks in it [BU5]. Taking something out of the middle, because it was cancelled,
 * only marks it; the marks are swept when they outweigh what is left, so that a storm of cancels
 * costs no more than the requests did.
 */

import type { ByteLine } from '../process/byte-line.ts';
import { detached } from '../process/frames.ts';

/** What can wait: it is marked when it is taken out of the middle. */
export interface Waitable {
  line: ByteLine;
  isDropped: boolean;
  /** Who has a turn with it. */
  readonly owner: object;
  /** What waits under one session stays in its order. */
  readonly session: object | null;
}

export interface WaitingQueue<Item extends Waitable> {
  /** How many wait. */
  readonly length: number;
  /** How many bytes they are. */
  readonly bytes: number;
  /** How many bytes of it are of one owner. */
  bytesOf(owner: object): number;
  push(item: Item): void;
  /** Before all of the same owner that wait already: they were here earlier. */
  putFirst(items: readonly Item[]): void;
  /** Whether anything of a session waits here. */
  holds(session: object): boolean;
  /** When it was last the turn of whom `take` would serve: of two queues the one where that is longer ago comes first. */
  turn(mayTake?: (item: Item) => boolean): number;
  /** The next in turn that may be taken. */
  take(mayTake?: (item: Item) => boolean): Item | undefined;
  drop(item: Item): void;
  /** All that wait, of each owner in order. */
  live(): Item[];
}

/** What waits of one owner, in order. */
interface Lane<Item> {
  readonly owner: object;
  items: Item[];
  head: number;
  length: number;
  bytes: number;
  turn: number;
}

/** Counted over all queues: who waits for one worker and who waits for any of a pool have turns with each other. */
let turns = 0;
const SWEEP_AT = 1_024;
const ANY = (): boolean => true;

export function createWaitingQueue<Item extends Waitable>(): WaitingQueue<Item> {
  /** In the order of their turns. */
  const lanes = new Map<object, Lane<Item>>();
  /** Sessions of which something waits: what is said in them meanwhile goes to the same lane. */
  const sessions = new Map<object, { readonly lane: Lane<Item>; count: number }>();
  let length = 0;
  let bytes = 0;

  function laneOf({ owner, session }: Item): Lane<Item> {
    const known = (session && sessions.get(session)?.lane) ?? lanes.get(owner);
    if (known) return known;
    const lane: Lane<Item> = { owner, items: [], head: 0, length: 0, bytes: 0, turn: ++turns };
    lanes.set(owner, lane);
    return lane;
  }

  function enter(lane: Lane<Item>, { session, line }: Item): void {
    length += 1;
    lane.length += 1;
    bytes += line.length;
    lane.bytes += line.length;
    if (session === null) return;
    const place = sessions.get(session);
    if (place) place.count += 1;
    else sessions.set(session, { lane, count: 1 });
  }

  function leave(lane: Lane<Item>, { session, line }: Item): void {
    length -= 1;
    lane.length -= 1;
    bytes -= line.length;
    lane.bytes -= line.length;
    if (lane.length === 0) lanes.delete(lane.owner);
    const place = session && sessions.get(session);
    if (!place) return;
    place.count -= 1;
    if (place.count === 0) sessions.delete(session as object);
  }

  function headOf(lane: Lane<Item>): Item {
    while (lane.items[lane.head]?.isDropped) lane.head += 1;
    if (lane.head > SWEEP_AT && lane.head * 2 > lane.items.length) {
      lane.items = lane.items.slice(lane.head);
      lane.head = 0;
    }
    return lane.items[lane.head] as Item;
  }

  function nextLane(mayTake: (item: Item) => boolean): Lane<Item> | undefined {
    for (const lane of lanes.values()) if (mayTake(headOf(lane))) return lane;
    return undefined;
  }

  return {
    get length() {
      return length;
    },
    get bytes() {
      return bytes;
    },
    bytesOf: (owner) => lanes.get(owner)?.bytes ?? 0,
    push(item) {
      // It may stay for long, and must not keep alive the chunk it came in.
      item.line = detached(item.line);
      const lane = laneOf(item);
      lane.items.push(item);
      enter(lane, item);
    },
    putFirst(items) {
      const first = new Map<Lane<Item>, Item[]>();
      for (const item of items) {
        const lane = laneOf(item);
        enter(lane, item);
        const some = first.get(lane);
        if (some) some.push(item);
        else first.set(lane, [item]);
      }
      for (const [lane, some] of first) {
        lane.items = some.concat(lane.items.slice(lane.head));
        lane.head = 0;
      }
    },
    holds: (session) => sessions.has(session),
    turn: (mayTake = ANY) => nextLane(mayTake)?.turn ?? Number.POSITIVE_INFINITY,
    take(mayTake = ANY) {
      const lane = nextLane(mayTake);
      if (!lane) return undefined;
      const item = headOf(lane);
      lane.head += 1;
      lane.turn = ++turns;
      // The others come first now.
      if (lanes.size > 1) lanes.delete(lane.owner);
      if (lane.length > 1) lanes.set(lane.owner, lane);
      leave(lane, item);
      return item;
    },
    live: () =>
      [...lanes.values()].flatMap(({ items, head }) =>
        items.slice(head).filter(({ isDropped }) => !isDropped),
      ),
    drop(item) {
      if (item.isDropped) return;
      item.isDropped = true;
      const lane = laneOf(item);
      leave(lane, item);
      const { items, head } = lane;
      if (items.length - head - lane.length <= SWEEP_AT || items.length - head <= lane.length * 2)
        return;
      lane.items = items.filter((one, i) => i >= head && !one.isDropped);
      lane.head = 0;
    },
  };
}
