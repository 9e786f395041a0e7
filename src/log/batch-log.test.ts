import { expect, test } from 'vitest';
import { encodeBatch, entryAt, GENESIS } from './batch.ts';
import { type BatchStorage, openBatchLog } from './batch-log.ts';
import type { Log, StoredBatch } from './log.ts';

const PER_BATCH = 50;

/** A log of so many batches, which tells what was read of its storage and how. */
function openCounted(batches: number): { log: Log; loads: number[]; entries: number[] } {
  const stored: StoredBatch[] = [];
  let previous = GENESIS;
  for (let n = 0; n < batches; n++) {
    const first = n * PER_BATCH;
    const texts = Array.from({ length: PER_BATCH }, (_, i) => `entry ${first + i}`);
    const { bytes, head } = encodeBatch(texts, previous);
    stored.push({ first, count: PER_BATCH, bytes, head });
    previous = head;
  }
  const batchOf = (position: number) => stored[Math.floor(position / PER_BATCH)] as StoredBatch;
  const tail = { length: batches * PER_BATCH, head: previous };
  const loads: number[] = [];
  const entries: number[] = [];
  const storage: BatchStorage = {
    ...{ path: 'counted:', tail: () => tail, refresh: () => tail, watch: () => () => {} },
    ...{ write: () => false, saveSnapshot: async () => {}, snapshots: () => [] },
    ...{ compacted: () => null, replace: async () => {}, close: () => {} },
    load(position) {
      loads.push(position);
      return [batchOf(position)];
    },
    entry(position) {
      entries.push(position);
      return entryAt(batchOf(position).bytes, position % PER_BATCH);
    },
  };
  return { log: openBatchLog(storage), loads, entries };
}

test('[G5] entries that lie apart, or by twos, are read without their batches', async () => {
  const { log, loads, entries } = openCounted(40);
  // As the messages of a thread lie among those of others: one, and sometimes two, of a batch.
  const positions = Array.from({ length: 20 }, (_, n) => [n * 100 + 3, n * 100 + 12]).flat();
  expect(await log.at(positions)).toEqual(positions.map((position) => `entry ${position}`));
  expect(loads).toEqual([]);
  expect(entries).toEqual(positions);
});

test('[G5] of entries that lie together each batch is read once', async () => {
  const { log, loads, entries } = openCounted(4);
  // As the messages of a busy channel lie: with few of others in between.
  const positions = Array.from({ length: 50 }, (_, n) => n * 4);
  expect(await log.at(positions.toReversed())).toEqual(
    positions.toReversed().map((position) => `entry ${position}`),
  );
  expect(loads.length).toBe(4);
  expect(entries).toEqual([]);
});

test('[G5] a neighbour that is asked for by itself is read with its batch, and so are the next', async () => {
  const { log, loads, entries } = openCounted(4);
  for (let position = 60; position < 80; position++) {
    expect(await log.at([position])).toEqual([`entry ${position}`]);
  }
  expect(entries).toEqual([60]);
  expect(loads).toEqual([61]);
});
