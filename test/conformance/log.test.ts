/**
 * Every log adapter held to every promise of the port, [G1] to [G9].
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { openFileLog } from '../../src/log/file.ts';
import { logContract } from '../../src/log/log.contract.ts';
import type { Log } from '../../src/log/log.ts';
import { createMemoryStore, type MemoryStore, openMemoryLog } from '../../src/log/memory.ts';
import { openSqliteLog } from '../../src/log/sqlite.ts';
import { verifyLog } from '../../src/log/verify.ts';

interface Adapter {
  readonly name: string;
  open(dir: string): Promise<Log>;
}

/** The stores in memory, by the directory they stand for. */
const stores = new Map<string, MemoryStore>();

const adapters: readonly Adapter[] = [
  {
    name: 'memory',
    async open(dir) {
      const store = stores.get(dir) ?? createMemoryStore();
      stores.set(dir, store);
      return openMemoryLog(store);
    },
  },
  { name: 'file', open: (dir) => openFileLog(join(dir, 'log')) },
  {
    name: 'file, many segments',
    open: (dir) => openFileLog(join(dir, 'log'), { segmentBytesMax: 200 }),
  },
  { name: 'sqlite', open: (dir) => openSqliteLog(join(dir, 'log.sqlite')) },
];

const root = mkdtempSync(join(tmpdir(), 'synod-log-'));
afterAll(() => rmSync(root, { recursive: true }));

for (const { name, open } of adapters) {
  describe(name, () => {
    for (const contractCase of logContract) {
      test(contractCase.name, async () => {
        const dir = mkdtempSync(join(root, 'case-'));
        await contractCase.run(() => open(dir));
      });
    }
  });
}

/**
 * Goal: no history of appends and reopenings makes a stored log differ from a list.
 * Method: random batches of random text, reopened at random, then read from
 * random positions and asked for random ones; a failure prints its seed.
 */
for (const { name, open } of adapters) {
  test(`[G4] [G5] ${name} equals a list, always`, async () => {
    const batch = fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { maxLength: 12 });
    const step = fc.record({ batch, reopens: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 15 }),
        fc.array(fc.nat()),
        async (steps, asked) => {
          const dir = mkdtempSync(join(root, 'property-'));
          const model: string[] = [];
          let log = await open(dir);
          for (const { batch: entries, reopens } of steps) {
            expect(await log.append(model.length, entries)).toEqual({
              length: model.length + entries.length,
            });
            model.push(...entries);
            if (!reopens) continue;
            await log.close();
            log = await open(dir);
          }
          const positions = model.length === 0 ? [] : asked.map((number) => number % model.length);
          expect(await log.at(positions)).toEqual(positions.map((position) => model[position]));
          for (const from of [0, ...positions.slice(0, 3)]) {
            const read: string[] = [];
            for await (const chunk of log.read(from)) read.push(...chunk.entries);
            expect(read).toEqual(model.slice(from));
          }
          expect(await verifyLog(log)).toMatchObject({ ok: true, length: model.length });
          await log.close();
          rmSync(dir, { recursive: true });
        },
      ),
      { numRuns: 40 },
    );
  });
}
