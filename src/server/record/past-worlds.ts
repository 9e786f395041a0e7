/**
 * The world at any position of a log, replayed from the nearest place that is known. One world is alive
 * and goes forward with what is asked; on the way copies of it are kept as text, more of them near where
 * somebody looks, so that going back costs reading a copy and a few thousand entries [PA5]. The copies
 * have a bound in bytes; without them it only takes longer.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { freezeWorld, thawWorld } from '../../core/law/snapshot.ts';
import { createWorld, type World } from '../../core/law/state.ts';
import { applyEntry } from '../../hub/apply-entry.ts';
import type { PastLog } from '../../hub/past-hub.ts';
import { thawNewest } from '../../hub/rebuild.ts';

/** How far apart the copies near the moment asked for are, and how many of them there are. */
const STEP = 16_384;
const STEPS = 4;
/** On a long way a copy is kept each time the log has grown by a quarter, and by so many entries. */
const LONG_STEP = 100_000;
const COPIES_BYTES_MAX = 64 * 1024 * 1024;

export interface PastWorlds {
  /** The world of the first `position` entries; null when it was called off. The next call changes it. */
  at(position: number, isCalledOff: () => boolean): Promise<World | null>;
  /** How many entries were replayed since the beginning. */
  readonly replayed: number;
  readonly bytes: number;
}

interface Copy {
  readonly position: number;
  readonly bytes: Uint8Array;
  usedAt: number;
}

export interface PastWorldsOptions {
  readonly step?: number;
  readonly bytesMax?: number;
}

export function createPastWorlds(log: PastLog, options: PastWorldsOptions = {}): PastWorlds {
  const { step = STEP, bytesMax = COPIES_BYTES_MAX } = options;
  /** In the order of their positions. */
  let copies: Copy[] = [];
  let bytes = 0;
  let uses = 0;
  let replayed = 0;
  let world: World | null = null;

  function copyBelow(position: number): Copy | undefined {
    return copies.findLast((copy) => copy.position <= position);
  }

  function keep(one: World): void {
    const isNear = copies.some(({ position }) => Math.abs(one.length - position) < step / 2);
    if (one.length === 0 || isNear) return;
    const params = { [constants.ZSTD_c_compressionLevel]: 1 };
    const text = zstdCompressSync(freezeWorld(one), { params });
    const copy = { position: one.length, bytes: text, usedAt: ++uses };
    copies = [...copies, copy].sort((a, b) => a.position - b.position);
    bytes += copy.bytes.byteLength;
    while (bytes > bytesMax) forgetOne();
  }

  function forgetOne(): void {
    const oldest = copies.reduce((a, b) => (a.usedAt <= b.usedAt ? a : b));
    copies = copies.filter((copy) => copy !== oldest);
    bytes -= oldest.bytes.byteLength;
  }

  /** Where to begin: the world that is alive, a copy, a snapshot of the log, or nothing. */
  async function begin(position: number): Promise<World> {
    const alive = world !== null && world.length <= position ? world : null;
    const copy = copyBelow(position);
    if (alive !== null && position - alive.length <= step) return alive;
    // Who comes back here later finds it.
    if (world !== null) keep(world);
    const known = Math.max(alive?.length ?? 0, copy?.position ?? 0);
    if (position - known > step) {
      const stored = (await thawNewest(log, () => {}, position))?.world;
      if (stored !== undefined && stored.length > known) {
        keep(stored);
        return stored;
      }
    }
    if (alive !== null && alive.length === known) return alive;
    if (copy === undefined) return createWorld();
    copy.usedAt = ++uses;
    return thawWorld(zstdDecompressSync(copy.bytes).toString()) ?? createWorld();
  }

  /** Where copies are kept on the way, in order. */
  function marksBetween(from: number, to: number): number[] {
    const marks: number[] = [];
    for (let at = from; at < to; at = Math.max(at + LONG_STEP, Math.ceil(at * 1.25))) {
      if (at > from) marks.push(at);
    }
    for (let i = STEPS; i > 0; i--) if (to - i * step > from) marks.push(to - i * step);
    return marks.sort((a, b) => a - b);
  }

  return {
    get replayed() {
      return replayed;
    },
    get bytes() {
      return bytes;
    },
    async at(position, isCalledOff) {
      const fresh = await begin(position);
      // One that an entry could not be applied to is not gone on with.
      world = null;
      const marks = marksBetween(fresh.length, position);
      for await (const { entries } of log.read(fresh.length)) {
        for (const entry of entries) {
          if (fresh.length === position) break;
          if (fresh.length === marks[0]) {
            keep(fresh);
            marks.shift();
          }
          applyEntry(fresh, entry);
          replayed++;
        }
        if (fresh.length === position || isCalledOff()) break;
      }
      world = fresh;
      return fresh.length === position ? fresh : null;
    },
  };
}
