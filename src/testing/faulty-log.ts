/**
 * A log that keeps its promises on a disk that does not make it easy: appends are slow,
 * fail before they write, fail after it, or are not heard of for longer than anybody
 * waits; reads fail for a while; other processes write too. The disk outlives them; a
 * log is what one of them sees of it. The chain is cheap and not cryptographic.
 *
 * `lie` breaks a promise on purpose, to show that whoever checks would notice.
 */
import type { Clock } from '../hub/clock.ts';
import {
  type Appended,
  type Chunk,
  type Log,
  LogError,
  type Snapshot,
  type StoredBatch,
} from '../log/log.ts';
import type { Chance } from './chance.ts';

export type Lie =
  | 'acks-early'
  | 'forgets-on-crash'
  | 'changes-a-byte'
  | 'stores-twice'
  | 'does-not-fence';

export interface Faults {
  /** Probability that an append fails and leaves nothing. */
  appendFails: number;
  /** Probability that an append is stored, and fails all the same. */
  appendDoubts: number;
  /** Probability that the disk does not answer an append for a minute, whether it stores it before or after. */
  appendHangs: number;
  /** An append or read takes up to this long. */
  slowMs: number;
  /** Probability that a read fails. */
  readFails: number;
  /** The way to the log is cut: nothing is read, and of an append nobody can tell whether it got through. */
  isCut: boolean;
  lie: Lie | null;
}

export const NO_FAULTS: Readonly<Faults> = {
  appendFails: 0,
  appendDoubts: 0,
  appendHangs: 0,
  slowMs: 0,
  readFails: 0,
  isCut: false,
  lie: null,
};

interface DiskBatch {
  readonly first: number;
  readonly entries: string[];
  readonly head: string;
}

export interface Disk {
  readonly batches: DiskBatch[];
  /** The entries of all batches; simulations look at them at every step. */
  readonly entries: string[];
  snapshots: Snapshot[];
  /** One for each open log; what is stored is told to all but the one that stored it. */
  readonly followers: Set<Follower>;
}

interface Follower {
  readonly clock: Clock;
  readonly look: () => void;
}

const GENESIS = '0'.repeat(64);
const CHUNK_ENTRIES = 8;
const HANG_MS = 60_000;
/** By when a follower hears of what another process stored. */
const FOLLOW_MS_MAX = 500;
/** An append over a way that is cut is given up by then, and may get through later. */
const CUT_MS_MAX = 8_000;
const LATE_MS_MAX = 20_000;

export function createDisk(): Disk {
  return { batches: [], entries: [], snapshots: [], followers: new Set() };
}

/** What would survive a crash now. */
export function storedEntries(disk: Disk): readonly string[] {
  return disk.entries;
}

/** The first position whose batch does not fit its chain, or null. */
export function verifyDisk(disk: Disk): number | null {
  let head = GENESIS;
  let length = 0;
  for (const batch of disk.batches) {
    head = chain(head, batch.entries);
    if (batch.first !== length || batch.head !== head) return batch.first;
    length += batch.entries.length;
  }
  return null;
}

/** What a crash does to the disk besides stopping a process: nothing, if nobody lied. */
export function crashDisk(disk: Disk, faults: Faults): void {
  if (faults.lie !== 'forgets-on-crash') return;
  disk.entries.length = disk.batches.pop()?.first ?? 0;
}

export function openFaultyLog(disk: Disk, clock: Clock, chance: Chance, faults: Faults): Log {
  let isClosed = false;
  let tail = endOf(disk);
  const hearers = new Set<() => void>();
  const me: Follower = {
    clock,
    look() {
      if (isClosed) return;
      if (faults.isCut) clock.after(FOLLOW_MS_MAX, me.look);
      else refresh();
    },
  };
  disk.followers.add(me);
  const wait = (): Promise<void> =>
    new Promise((resolve) => {
      if (chance.isLikely(0.5)) clock.soon(resolve);
      else clock.after(chance.int(0, faults.slowMs), resolve);
    });
  const hang = (): Promise<void> =>
    new Promise((resolve) => void clock.after(HANG_MS + chance.int(0, 1000), resolve));
  const failing = (what: string): LogError =>
    new LogError('log.unavailable', `${what}: the disk said no`);
  const open = (): void => {
    if (isClosed) throw new LogError('log.closed', 'the log is closed');
  };
  const readable = async (): Promise<void> => {
    open();
    if (chance.isLikely(0.3)) await wait();
    if (faults.isCut || chance.isLikely(faults.readFails)) throw failing('read');
  };

  /** As real ones do, a log knows how far others have come only when it looks. */
  function refresh(): void {
    const { length } = tail;
    tail = endOf(disk);
    if (tail.length !== length) for (const hear of hearers) hear();
  }

  async function append(expected: number, entries: readonly string[]): Promise<Appended> {
    open();
    if (expected !== tail.length) refresh();
    if (expected !== tail.length && faults.lie !== 'does-not-fence')
      return { conflict: tail.length };
    if (faults.lie === 'acks-early') {
      clock.after(chance.int(1, 1 + faults.slowMs), () => store(expected, entries));
      return { length: expected + entries.length };
    }
    const isHanging = chance.isLikely(faults.appendHangs);
    await wait();
    if (isHanging && chance.isLikely(0.5)) await hang();
    if (chance.isLikely(faults.appendFails)) throw failing('append');
    await wait();
    if (faults.isCut) return loseOnTheWay(expected, entries);
    // The write itself is one instant: of two processes, one is first.
    if (!store(expected, entries)) {
      refresh();
      return { conflict: tail.length };
    }
    // Stored, and a crash from here on keeps it although nobody was told.
    await wait();
    if (isHanging) await hang();
    if (faults.isCut) throw new LogError('log.unknown', 'append: the log does not answer');
    if (chance.isLikely(faults.appendDoubts)) throw failing('append, which was stored');
    // Somebody may have come behind it by now; we heard of this one alone.
    const length = expected + entries.length;
    if (tail.length < length) tail = { length, head: headAt(disk, length) ?? '' };
    return { length };
  }

  /** Stored now, later, or never; whoever waits is told that nobody knows. */
  async function loseOnTheWay(expected: number, entries: readonly string[]): Promise<never> {
    const throughMs = chance.pick([0, chance.int(0, LATE_MS_MAX), null]);
    if (throughMs !== null) clock.after(throughMs, () => store(expected, entries));
    await new Promise<void>((done) => void clock.after(chance.int(0, CUT_MS_MAX), done));
    throw new LogError('log.unknown', 'append: the log does not answer');
  }

  function store(expected: number, entries: readonly string[]): boolean {
    const end = endOf(disk);
    if (end.length !== expected && faults.lie !== 'does-not-fence') return false;
    const batch = { first: end.length, entries: [...entries], head: chain(end.head, entries) };
    if (faults.lie === 'changes-a-byte' && chance.isLikely(0.05))
      batch.entries[0] = `${batch.entries[0]} `;
    if (faults.lie === 'stores-twice' && chance.isLikely(0.05))
      batch.entries.push(batch.entries[0] as string);
    disk.batches.push(batch);
    disk.entries.push(...batch.entries);
    for (const follower of disk.followers) {
      if (follower !== me) follower.clock.after(chance.int(0, FOLLOW_MS_MAX), follower.look);
    }
    return true;
  }

  async function* read(from: number, enough = Number.POSITIVE_INFINITY): AsyncGenerator<Chunk> {
    await readable();
    if (tail.length < enough) refresh();
    const end = tail.length;
    if (from > end) throw new LogError('log.position', `no entry ${from}`);
    for (let first = from; first < end; ) {
      if (first > from) await readable();
      const entries = storedEntries(disk).slice(first, Math.min(end, first + CHUNK_ENTRIES));
      yield { first, entries };
      first += entries.length;
    }
  }

  return {
    get length() {
      return tail.length;
    },
    get head() {
      return tail.head;
    },
    append,
    read,
    // Nothing is compacted here: that is done to a log that no hub has open.
    compacted: null,
    replace: () => Promise.reject(new LogError('log.unavailable', 'this log is not compacted')),
    async at(positions) {
      await readable();
      const stored = storedEntries(disk);
      return positions.map((position) => {
        const entry = stored[position];
        if (entry === undefined) throw new LogError('log.position', `no entry ${position}`);
        return entry;
      });
    },
    follow(hear) {
      const hearer = (): void => hear();
      hearers.add(hearer);
      return () => hearers.delete(hearer);
    },
    async *batches(from): AsyncGenerator<StoredBatch> {
      for (const { first, entries, head } of disk.batches) {
        if (first >= from) yield { first, count: entries.length, bytes: new Uint8Array(), head };
      }
    },
    async loadSnapshot(_onRefused, atMost = Number.POSITIVE_INFINITY) {
      await readable();
      const usable = ({ position, head }: Snapshot): boolean =>
        position <= atMost && head === headAt(disk, position);
      return disk.snapshots.findLast(usable) ?? null;
    },
    async saveSnapshot(snapshot) {
      open();
      await wait();
      if (faults.isCut || chance.isLikely(faults.appendFails)) throw failing('snapshot');
      if (snapshot.head !== headAt(disk, snapshot.position)) {
        throw new LogError('log.position', `no head at ${snapshot.position} is that of a snapshot`);
      }
      const others = disk.snapshots.filter(({ position }) => position !== snapshot.position);
      disk.snapshots = [...others, snapshot].sort((a, b) => a.position - b.position).slice(-2);
    },
    async close() {
      isClosed = true;
      disk.followers.delete(me);
    },
  };
}

function endOf({ batches }: Disk): { readonly length: number; readonly head: string } {
  const last = batches.at(-1);
  if (last === undefined) return { length: 0, head: GENESIS };
  return { length: last.first + last.entries.length, head: last.head };
}

/** The head at a position; null where no batch ends. */
function headAt({ batches }: Disk, position: number): string | null {
  if (position === 0) return GENESIS;
  const batch = batches.findLast(({ first, entries }) => first + entries.length === position);
  return batch?.head ?? null;
}

/** FNV-1a, twice with different starts: enough to notice a change, not an attack. */
function chain(head: string, entries: readonly string[]): string {
  const text = `${head}\n${entries.join('\n')}`;
  let a = 0x811c9dc5;
  let b = 0xc9dc5811;
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(i), 0x01000193) ^ (a >>> 13);
  }
  return [a, b]
    .map((one) => (one >>> 0).toString(16).padStart(8, '0'))
    .join('')
    .padStart(64, '0');
}
