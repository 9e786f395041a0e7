/**
 * What it means to be a Log: its promises as cases that need no test framework.
 *
 * Each case gets an `open` that opens storage of its own; calling it again
 * opens the same storage once more, as after a restart. An adapter that cannot keep a case
 * says so with a reason where it is run; it never leaves one out in silence.
 */
import type { Case } from './contract-case.ts';
import { check, codeOf, collect, createBell, failure, same } from './contract-case.ts';
import type { Chunk, Log, StoredBatch } from './log.ts';
import type { Verified } from './verify.ts';
import { verifyLog } from './verify.ts';

const ODD_ENTRIES: readonly string[] = ['', 'ä', '日本語', '🦉🦉', 'a\u0000b', 'line\nline', '"\\'];

export const logContract: readonly Case<Log>[] = [
  on('[G1] a batch is stored whole, in order, under consecutive positions', async (log) => {
    same(await log.append(0, ['a', 'b', 'c']), { length: 3 });
    same(await log.append(3, ['d']), { length: 4 });
    same(await entriesFrom(log, 0), ['a', 'b', 'c', 'd']);
    same(await shapes(log), [
      [0, 3],
      [3, 1],
    ]);
  }),
  on('[G1] an append that is refused as no text stores none of its entries', async (log) => {
    await log.append(0, ['a']);
    const { head } = log;
    const error = await failure(log.append(1, ['fine', '\ud800', 'fine']));
    check(error instanceof TypeError, 'a lone surrogate was accepted');
    same([log.length, log.head, await entriesFrom(log, 0)], [1, head, ['a']]);
  }),
  on('[G1] an append of nothing changes nothing', async (log) => {
    same(await log.append(0, []), { length: 0 });
    same([log.length, log.head], [0, '0'.repeat(64)]);
  }),
  on('[G2] append refuses a stale expectation and writes nothing', async (log) => {
    await log.append(0, ['a', 'b']);
    const { head } = log;
    for (const expected of [0, 1, 3, -1]) {
      same(await log.append(expected, ['x']), { conflict: 2 });
    }
    same([log.length, log.head, await entriesFrom(log, 0)], [2, head, ['a', 'b']]);
  }),
  {
    name: '[G2] of two openings of one storage only one append can win a position',
    async run(open) {
      const [one, other] = [await open(), await open()];
      same(await one.append(0, ['mine']), { length: 1 });
      same(await other.append(0, ['theirs', 'too']), { conflict: 1 });
      same(await other.append(1, ['after']), { length: 2 });
      same(await one.append(1, ['late']), { conflict: 2 });
      same(await entriesFrom(one, 0), ['mine', 'after']);
      same([one.head, (await verifyLog(one)).ok], [other.head, true]);
      await one.close();
      await other.close();
    },
  },
  {
    name: '[G3] what was appended is there after closing and opening again',
    async run(open) {
      const log = await open();
      await log.append(0, ODD_ENTRIES);
      await log.append(log.length, ['last']);
      const { length, head } = log;
      await log.close();
      const again = await open();
      same([again.length, again.head], [length, head]);
      same(await entriesFrom(again, 0), [...ODD_ENTRIES, 'last']);
      same(await again.append(length, ['next']), { length: length + 1 });
      await again.close();
    },
  },
  {
    name: '[G3] what was appended is there when the first opening was never closed',
    async run(open) {
      const crashed = await open();
      await crashed.append(0, ['a', 'b']);
      await crashed.append(2, ['c']);
      const log = await open();
      same([log.length, log.head, await entriesFrom(log, 0)], [3, crashed.head, ['a', 'b', 'c']]);
      await log.close();
      await crashed.close();
    },
  },
  on('[G4] read starts at any position and leaves nothing out', async (log) => {
    const all = await fill(log, 40);
    for (let from = 0; from <= all.length; from++) {
      same(await entriesFrom(log, from), all.slice(from));
    }
  }),
  on('[G4] a large batch is read in bounded chunks that follow on', async (log) => {
    const all = Array.from({ length: 10_000 }, (_, index) => `entry ${index}`);
    await log.append(0, all);
    const chunks = await collect(log.read(1));
    check(
      chunks.every((chunk) => chunk.entries.length <= 4096),
      'a chunk is too large',
    );
    same(flatten(chunks, 1), all.slice(1));
  }),
  on('[G5] at answers every position, in the order asked, repeats included', async (log) => {
    const all = await fill(log, 40);
    const asked = all.map((_, index) => (index * 7) % all.length).concat(0, 0, all.length - 1);
    same(
      await log.at(asked),
      asked.map((position) => all[position]),
    );
    same(await log.at([]), []);
  }),
  on('[G5] odd texts come back as they went in', async (log) => {
    await log.append(0, ODD_ENTRIES);
    same(await log.at(ODD_ENTRIES.map((_, index) => index)), ODD_ENTRIES);
  }),
  on('[G5] a position out of range is refused by name', async (log) => {
    await log.append(0, ['a']);
    for (const position of [-1, 1, 0.5, Number.NaN]) {
      same(codeOf(await failure(log.at([0, position]))), 'log.position');
    }
    same(codeOf(await failure(collect(log.read(2)))), 'log.position');
  }),
  {
    name: '[G6] a follower is told of what another writer stored, and then it can be read',
    async run(open) {
      const [mine, other] = [await open(), await open()];
      const told = createBell();
      const stop = mine.follow(told.ring);
      await other.append(0, ['theirs', 'too']);
      await told.rang();
      same([mine.length, mine.head], [other.length, other.head]);
      same(await entriesFrom(mine, 0), ['theirs', 'too']);
      stop();
      await mine.close();
      await other.close();
    },
  },
  {
    name: '[G6] a follower is not told of its own writer, nor after it stopped or closed',
    async run(open) {
      const [mine, other] = [await open(), await open()];
      const [own, stopped, closed, last] = [createBell(), createBell(), createBell(), createBell()];
      mine.follow(own.ring);
      mine.follow(stopped.ring)();
      await mine.append(0, ['a']);
      same([own.count, stopped.count], [0, 0]);
      const third = await open();
      third.follow(closed.ring);
      await third.close();
      other.follow(last.ring);
      // Heard where somebody still listens, so whoever does not had the time to.
      await mine.append(1, ['b']);
      await last.rang();
      same([own.count, stopped.count, closed.count], [0, 0, 0]);
      await mine.close();
      await other.close();
    },
  },
  {
    name: '[G4] a read goes to what is stored when it starts, by whichever writer',
    async run(open) {
      const [mine, other] = [await open(), await open()];
      await other.append(0, ['a', 'b']);
      same(await entriesFrom(mine, 0), ['a', 'b']);
      same(await mine.append(2, ['c']), { length: 3 });
      await mine.close();
      await other.close();
    },
  },
  {
    name: '[G7] opening again after a crash cuts nothing that was acknowledged',
    async run(open) {
      let acknowledged: string[] = [];
      const abandoned: Log[] = [];
      for (let crash = 0; crash < 5; crash++) {
        const log = await open();
        same(await entriesFrom(log, 0), acknowledged);
        await log.append(log.length, [`${crash}`, 'x'.repeat(crash * 1000)]);
        acknowledged = await entriesFrom(log, 0);
        same((await verifyLog(log)).ok, true);
        abandoned.push(log);
      }
      for (const log of abandoned) await log.close();
    },
  },
  on('[G8] verify agrees with an untouched log and names its head', async (log) => {
    await fill(log, 30);
    same(await verifyLog(log), { ok: true, length: log.length, head: log.head });
  }),
  on('[G8] any changed byte is found by verify, which names the batch it is in', async (log) => {
    await fill(log, 12);
    for (const victim of await collect(log.batches(0))) {
      for (let at = 0; at < victim.bytes.byteLength; at++) {
        const verdict = await verifyLog(changed(log, (batches) => flip(batches, victim.first, at)));
        check(!verdict.ok, `byte ${at} of the batch at ${victim.first} changed unseen`);
        const { position } = verdict as { position: number };
        const isInside = position >= victim.first && position < victim.first + victim.count;
        check(isInside, `byte ${at} of the batch at ${victim.first} was blamed on ${position}`);
      }
    }
  }),
  on('[G8] a missing, repeated, swapped or cut batch is found by verify', async (log) => {
    await fill(log, 12);
    const batches = await collect(log.batches(0));
    for (let index = 0; index < batches.length; index++) {
      const position = batches[index]?.first ?? 0;
      const [before, from] = [batches.slice(0, index), batches.slice(index)];
      const missing = [...before, ...from.slice(1)];
      same(pick(await verifyLog(changed(log, () => missing))), [false, position]);
      if (from.length < 2) continue;
      const swapped = [...before, ...from.slice(1, 2), ...from.slice(0, 1), ...from.slice(2)];
      same(pick(await verifyLog(changed(log, () => swapped))), [false, position]);
      const repeated = [...before, ...from.slice(0, 1), ...from];
      same((await verifyLog(changed(log, () => repeated))).ok, false);
    }
  }),
  on('[G9] a closed log refuses every call by name and its length stays', async (log) => {
    await log.append(0, ['a']);
    await log.close();
    await log.close();
    const calls = [log.append(1, ['b']), log.at([0]), collect(log.read(0)), log.loadSnapshot()];
    for (const call of calls) same(codeOf(await failure(call)), 'log.closed');
    same(log.length, 1);
  }),
  on('a snapshot comes back, and the newest one wins', async (log) => {
    same(await log.loadSnapshot(), null);
    for (let turn = 0; turn < 4; turn++) {
      await log.append(log.length, [`${turn}`]);
      const snapshot = { position: log.length, head: log.head, text: `state ä ${turn}\n` };
      await log.saveSnapshot(snapshot);
      same(await log.loadSnapshot(), snapshot);
    }
    await log.append(log.length, ['more']);
    same((await log.loadSnapshot())?.position, 4);
    same((await log.loadSnapshot(undefined, 3))?.position, 3);
    same(await log.loadSnapshot(undefined, 2), null);
  }),
  on('a snapshot that is not at a head of this chain is refused', async (log) => {
    await log.append(0, ['a', 'b']);
    const { head } = log;
    const wrong = [
      { position: 1, head },
      { position: 3, head },
      { position: 2, head: '0'.repeat(64) },
    ];
    for (const claim of wrong) {
      same(codeOf(await failure(log.saveSnapshot({ ...claim, text: '' }))), 'log.position');
    }
    same(await log.loadSnapshot(), null);
  }),
  {
    name: 'a snapshot is there after opening again',
    async run(open) {
      const log = await open();
      await log.append(0, ['a']);
      const snapshot = { position: 1, head: log.head, text: 'x'.repeat(300_000) };
      await log.saveSnapshot(snapshot);
      await log.close();
      const again = await open();
      same(await again.loadSnapshot(), snapshot);
      await again.close();
    },
  },
  {
    name: '[G12] replace stores other batches instead of all, with the heads they are given, and closes',
    async run(open) {
      const log = await open();
      await log.append(0, ['a', 'b']);
      await log.append(2, ['c']);
      const { head } = log;
      const stored = await collect(log.batches(0));
      const [short] = await collect(await otherBatches(['A', 'B']));
      const [first, second] = stored as [StoredBatch, StoredBatch];
      const batches = [{ ...first, bytes: (short as StoredBatch).bytes }, second];
      await log.replace(3, allOf(batches), { through: 2, record: 2 });
      same(codeOf(await failure(log.append(3, ['d']))), 'log.closed');
      const again = await open();
      same([again.length, again.head, again.compacted], [3, head, { through: 2, record: 2 }]);
      same(await entriesFrom(again, 0), ['A', 'B', 'c']);
      same(await again.append(3, ['d']), { length: 4 });
      same(await again.at([0, 3]), ['A', 'd']);
      await again.close();
    },
  },
  {
    name: '[G12] a replacement that breaks off, or meets another length, leaves everything as it was',
    async run(open) {
      const log = await open();
      await log.append(0, ['a', 'b']);
      const { head } = log;
      const [batch] = await collect(log.batches(0));
      async function* half(): AsyncGenerator<StoredBatch> {
        yield batch as StoredBatch;
        throw new Error('the power went');
      }
      const compacted = { through: 2, record: 2 };
      check((await failure(log.replace(2, half(), compacted))) !== null, 'it was taken');
      same(codeOf(await failure(log.replace(1, allOf([]), compacted))), 'log.diverged');
      await log.close();
      const again = await open();
      same([again.length, again.head, again.compacted], [2, head, null]);
      same(await entriesFrom(again, 0), ['a', 'b']);
      same(await again.append(2, ['c']), { length: 3 });
      await again.close();
    },
  },
];

/** The bytes of one append of these entries. */
async function otherBatches(entries: readonly string[]): Promise<AsyncIterable<StoredBatch>> {
  const { openMemoryLog } = await import('./memory.ts');
  const log = openMemoryLog();
  await log.append(0, entries);
  return log.batches(0);
}

async function* allOf(batches: readonly StoredBatch[]): AsyncGenerator<StoredBatch> {
  yield* batches;
}

/** A case that needs one opening only. */
function on(name: string, work: (log: Log) => Promise<void>): Case<Log> {
  return {
    name,
    async run(open) {
      const log = await open();
      try {
        await work(log);
      } finally {
        await log.close();
      }
    },
  };
}

/** Appends `count` entries in batches of one, two, three and so on. */
async function fill(log: Log, count: number): Promise<string[]> {
  const all = Array.from(
    { length: count },
    (_, index) => `entry ${index} ${'é'.repeat(index % 5)}`,
  );
  for (let start = 0, size = 1; start < count; start += size - 1) {
    await log.append(start, all.slice(start, start + size++));
  }
  return all;
}

/** The same log, except that its storage tells another story. */
function changed(log: Log, tell: (batches: StoredBatch[]) => StoredBatch[]): Log {
  async function* batches(from: number): AsyncGenerator<StoredBatch> {
    yield* tell(await collect(log.batches(from)));
  }
  return { ...log, length: log.length, head: log.head, batches };
}

function flip(batches: readonly StoredBatch[], first: number, at: number): StoredBatch[] {
  return batches.map((batch) => {
    if (batch.first !== first) return batch;
    const bytes = Uint8Array.from(batch.bytes);
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
    return { ...batch, bytes };
  });
}

async function shapes(log: Log): Promise<[number, number][]> {
  return (await collect(log.batches(0))).map((batch) => [batch.first, batch.count]);
}

function pick(verdict: Verified): [boolean, number] {
  return [verdict.ok, verdict.ok ? verdict.length : verdict.position];
}

async function entriesFrom(log: Log, from: number): Promise<string[]> {
  return flatten(await collect(log.read(from)), from);
}

function flatten(chunks: readonly Chunk[], from: number): string[] {
  const entries: string[] = [];
  for (const chunk of chunks) {
    same(chunk.first, from + entries.length);
    entries.push(...chunk.entries);
  }
  return entries;
}
