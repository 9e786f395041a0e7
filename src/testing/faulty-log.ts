/**
 * A log that keeps its promises on a disk that does not make it easy: appends are
 * slow, fail before or while writing, are torn by a crash, or are stored and never
 * acknowledged; reads fail for a while. The disk outlives the process; the log is
 * what one process sees of it. The chain is cheap and not cryptographic.
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

export type Lie = 'acks-early' | 'forgets-on-crash' | 'changes-a-byte' | 'stores-twice';

export interface Faults {
  /** Probability that an append fails and leaves nothing. */
  appendFails: number;
  /** An append or read takes up to this long. */
  slowMs: number;
  /** Probability that a read fails. */
  readFails: number;
  lie: Lie | null;
}

interface DiskBatch {
  readonly first: number;
  readonly entries: string[];
  readonly head: string;
  /** Being written: a crash now leaves a torn tail. */
  isWhole: boolean;
}

export interface Disk {
  batches: DiskBatch[];
  snapshots: Snapshot[];
}

const GENESIS = '0'.repeat(64);
const CHUNK_BATCHES = 8;

export function createDisk(): Disk {
  return { batches: [], snapshots: [] };
}

/** What would survive a crash now. */
export function storedEntries(disk: Disk): string[] {
  return disk.batches.filter(({ isWhole }) => isWhole).flatMap(({ entries }) => entries);
}

/** The first position whose batch does not fit its chain, or null. */
export function verifyDisk(disk: Disk): number | null {
  let head = GENESIS;
  let length = 0;
  for (const batch of disk.batches) {
    if (!batch.isWhole) continue;
    head = chain(head, batch.entries);
    if (batch.first !== length || batch.head !== head) return batch.first;
    length += batch.entries.length;
  }
  return null;
}

/** What a crash does to the disk besides stopping everything: nothing, if nobody lied. */
export function crashDisk(disk: Disk, faults: Faults): void {
  if (faults.lie === 'forgets-on-crash') disk.batches.pop();
}

export function openFaultyLog(disk: Disk, clock: Clock, chance: Chance, faults: Faults): Log {
  // A torn tail is found and cut on open.
  disk.batches = disk.batches.filter(({ isWhole }) => isWhole);
  let isClosed = false;
  const length = (): number => {
    const last = disk.batches.findLast(({ isWhole }) => isWhole);
    return last === undefined ? 0 : last.first + last.entries.length;
  };
  const head = (): string => disk.batches.findLast(({ isWhole }) => isWhole)?.head ?? GENESIS;
  const wait = (): Promise<void> =>
    new Promise((resolve) => {
      if (chance.isLikely(0.5)) clock.soon(resolve);
      else clock.after(chance.int(0, faults.slowMs), resolve);
    });
  const failing = (what: string): LogError =>
    new LogError('log.unavailable', `${what}: the disk said no`);
  const open = (): void => {
    if (isClosed) throw new LogError('log.closed', 'the log is closed');
  };
  const readable = async (): Promise<void> => {
    open();
    if (chance.isLikely(0.3)) await wait();
    if (chance.isLikely(faults.readFails)) throw failing('read');
  };

  async function append(expected: number, entries: readonly string[]): Promise<Appended> {
    open();
    if (expected !== length()) return { conflict: length() };
    const batch: DiskBatch = {
      first: expected,
      entries: [...entries],
      head: chain(head(), entries),
      isWhole: false,
    };
    if (faults.lie === 'acks-early') {
      clock.after(chance.int(1, 1 + faults.slowMs), () => {
        batch.isWhole = true;
      });
      disk.batches.push(batch);
      return { length: expected + entries.length };
    }
    await wait();
    if (chance.isLikely(faults.appendFails)) throw failing('append');
    disk.batches.push(batch);
    await wait();
    if (chance.isLikely(faults.appendFails)) {
      disk.batches.splice(disk.batches.indexOf(batch), 1);
      throw failing('append, half written and taken back');
    }
    batch.isWhole = true;
    if (faults.lie === 'changes-a-byte' && chance.isLikely(0.05))
      batch.entries[0] = `${batch.entries[0]} `;
    if (faults.lie === 'stores-twice' && chance.isLikely(0.05))
      batch.entries.push(batch.entries[0] as string);
    // Stored, and a crash from here on keeps it although nobody was told.
    await wait();
    return { length: length() };
  }

  async function* read(from: number): AsyncGenerator<Chunk> {
    for (let first = from; first < length(); ) {
      await readable();
      const stored = storedEntries(disk);
      const entries = stored.slice(first, first + CHUNK_BATCHES);
      yield { first, entries };
      first += entries.length;
    }
  }

  return {
    get length() {
      return length();
    },
    get head() {
      return head();
    },
    append,
    read,
    async at(positions) {
      await readable();
      const stored = storedEntries(disk);
      return positions.map((position) => {
        const entry = stored[position];
        if (entry === undefined) throw new LogError('log.position', `no entry ${position}`);
        return entry;
      });
    },
    follow: () => () => {},
    async *batches(from): AsyncGenerator<StoredBatch> {
      for (const { first, entries, head: stored } of disk.batches) {
        if (first >= from)
          yield { first, count: entries.length, bytes: new Uint8Array(), head: stored };
      }
    },
    async loadSnapshot() {
      await readable();
      return disk.snapshots.findLast((one) => one.head === headAt(disk, one.position)) ?? null;
    },
    async saveSnapshot(snapshot) {
      open();
      await wait();
      if (chance.isLikely(faults.appendFails)) throw failing('snapshot');
      disk.snapshots = [...disk.snapshots.slice(-1), snapshot];
    },
    async close() {
      isClosed = true;
    },
  };
}

function headAt(disk: Disk, position: number): string | null {
  if (position === 0) return GENESIS;
  const batch = disk.batches.find(({ first, entries }) => first + entries.length === position);
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
