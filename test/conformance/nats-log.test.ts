/**
 * The log in JetStream held to every promise of the port, [G1] to [G12], by a server that the test starts; and to
 * those that only storage behind a network can break: an answer that does not come, a message that is too
 * large, a server that may lose what it acknowledged.
 */
import { randomBytes } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { logContract } from '../../src/log/log.contract.ts';
import type { Log, StoredBatch } from '../../src/log/log.ts';
import { openMemoryLog } from '../../src/log/memory.ts';
import { readPointer } from '../../src/log/nats/generation.ts';
import { type Link, openLink } from '../../src/log/nats/link.ts';
import { writeLabel } from '../../src/log/nats/message.ts';
import { type NatsPlace, parseNatsUrl } from '../../src/log/nats/place.ts';
import { namesOf } from '../../src/log/nats/streams.ts';
import { natsSpaces, openNatsLog } from '../../src/log/nats.ts';
import { verifyLog } from '../../src/log/verify.ts';
import { until } from '../e2e/deadline.ts';
import { openLine, STARTS } from '../nats/line.ts';
import { noise } from '../nats/noise.ts';
import { CAN_SYNC, type NatsNode, NO_NATS, openNatsNode, SYNC_ALWAYS } from '../nats/server.ts';

const fresh = (): string => `t${randomBytes(6).toString('hex')}`;

describe.skipIf(NO_NATS !== null)(`JetStream ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  const place = (prefix: string, more = ''): NatsPlace => {
    const url = `nats://127.0.0.1:${node.port}/${prefix}?replicas=1&durability=relaxed${more}`;
    return parseNatsUrl(url) as NatsPlace;
  };
  const entriesOf = async (log: Log): Promise<string[]> => {
    const all: string[] = [];
    for await (const chunk of log.read(0)) all.push(...chunk.entries);
    return all;
  };

  beforeAll(async () => {
    node = await openNatsNode();
  });
  afterAll(() => node?.close());

  for (const { name, run } of logContract) {
    test(name, async () => {
      const prefix = fresh();
      await run(() => openNatsLog(place(prefix), 'default'));
    });
  }

  test('[NL1] a batch over the limit of a message is cut, and is all there or not at all', async () => {
    const prefix = fresh();
    const log = await openNatsLog(place(prefix), 'default');
    const large = [noise(900_000), noise(900_000), noise(900_000)];
    await log.append(0, ['first']);
    expect(await log.append(1, large)).toEqual({ length: 4 });
    expect(await log.append(4, ['last'])).toEqual({ length: 5 });
    const other = await openNatsLog(place(prefix), 'default');
    expect(await entriesOf(other)).toEqual(['first', ...large, 'last']);
    expect(await other.at([2, 0, 4])).toEqual([large[1], 'first', 'last']);
    expect(await verifyLog(other)).toMatchObject({ ok: true, length: 5 });
    await log.close();
    await other.close();
  });

  /** With the stream that the space lies in, as NATS has it. */
  async function withStream<T>(
    prefix: string,
    work: (link: Link, names: ReturnType<typeof namesOf>) => Promise<T>,
  ): Promise<T> {
    const link = await openLink(place(prefix));
    try {
      const pointer = await readPointer(link, place(prefix), 'default');
      if (pointer === null) throw new Error('there is no such space');
      return await work(link, namesOf(place(prefix), pointer.generation));
    } finally {
      await link.release();
    }
  }

  const bytesOf = (prefix: string): Promise<number> =>
    withStream(prefix, async ({ manager }, { log }) => {
      const { state } = await manager.streams.info(log);
      return state.bytes;
    });

  test('[NL9] what is much alike is kept compressed, and is the same log as without', async () => {
    const prefix = fresh();
    const batches = [
      Array.from({ length: 400 }, (_, i) => JSON.stringify({ seq: i, text: 'tests are grün' })),
      ['small'],
      [noise(5_000)],
      ['x'.repeat(3_000_000)],
    ];
    const plain = openMemoryLog();
    const log = await openNatsLog(place(prefix), 'default');
    for (const batch of batches) {
      await plain.append(plain.length, batch);
      await log.append(log.length, batch);
    }
    expect(log.head).toBe(plain.head);
    // The noise, the small one, their labels, and next to nothing of three megabytes.
    expect(await bytesOf(prefix)).toBeLessThan(15_000);
    const other = await openNatsLog(place(prefix), 'default', { mayCompress: () => false });
    expect(await entriesOf(other)).toEqual(batches.flat());
    expect(await other.at([402, 7, 400])).toEqual([
      'x'.repeat(3_000_000),
      batches[0]?.[7],
      'small',
    ]);
    expect(await verifyLog(other)).toMatchObject({ ok: true, length: plain.length });
    // One that may not writes as before, and both read both.
    const before = await bytesOf(prefix);
    await other.append(other.length, ['y'.repeat(100_000)]);
    expect((await bytesOf(prefix)) - before).toBeGreaterThan(100_000);
    expect(await entriesOf(log)).toEqual([...batches.flat(), 'y'.repeat(100_000)]);
    await log.close();
    await other.close();
  });

  test('[NL9] compressed bytes that are not what their label says are refused with their position', async () => {
    const text = ['z'.repeat(100_000)];
    const source = openMemoryLog();
    await source.append(0, text);
    let batch: StoredBatch | null = null;
    for await (const one of source.batches(0)) batch = one;
    if (batch === null) throw new Error('there is no batch');
    const { first, count, head } = batch;
    const plainBytes = batch.bytes.byteLength;
    const zstd = zstdCompressSync(batch.bytes);
    const lies = {
      'too few': { data: zstd, plainBytes: plainBytes - 1 },
      'too many': { data: zstd, plainBytes: plainBytes + 1 },
      'no zstd': { data: randomBytes(500), plainBytes },
      'cut off': { data: zstd.subarray(0, -4), plainBytes },
      'of something else': { data: zstdCompressSync(Buffer.alloc(plainBytes)), plainBytes },
    };
    for (const [lie, { data, plainBytes: said }] of Object.entries(lies)) {
      const prefix = fresh();
      await (await openNatsLog(place(prefix), 'default')).close();
      await withStream(prefix, async (link, { logSubject }) => {
        const label = { first, count, head, part: 1, parts: 1, by: 'us', plainBytes: said };
        await link.js.publish(logSubject, data, {
          headers: writeLabel(link.createHeaders(), label),
        });
      });
      const log = await openNatsLog(place(prefix), 'default');
      expect(log.length, lie).toBe(1);
      await expect(entriesOf(log), lie).rejects.toMatchObject({
        code: 'log.corrupt',
        message: expect.stringContaining('position 0'),
      });
      expect(await verifyLog(log), lie).toMatchObject({ ok: false });
      await log.close();
    }
  });

  test('[NL1] spaces lie beside each other, and are listed', async () => {
    const prefix = fresh();
    const logs = await Promise.all(
      ['default', 'a-b', 'a_b'].map((space) => openNatsLog(place(prefix), space)),
    );
    await Promise.all(logs.map((log, i) => log.append(0, [`of ${i}`])));
    expect(await natsSpaces(place(prefix))).toEqual(['a-b', 'a_b', 'default']);
    expect(await Promise.all(logs.map(entriesOf))).toEqual([['of 0'], ['of 1'], ['of 2']]);
    await Promise.all(logs.map((log) => log.close()));
  });

  test('[NL3] what one machine may lose is not opened unless that is accepted', async () => {
    const prefix = fresh();
    const strict = `nats://127.0.0.1:${node.port}/${prefix}?replicas=1`;
    await expect(openNatsLog(parseNatsUrl(strict) as NatsPlace, 'default')).rejects.toMatchObject({
      code: 'log.durability',
      message: expect.stringContaining('durability=relaxed'),
    });
    const three = `nats://127.0.0.1:${node.port}/${fresh()}`;
    await expect(openNatsLog(parseNatsUrl(three) as NatsPlace, 'default')).rejects.toMatchObject({
      code: 'log.unavailable',
      message: expect.stringContaining('replicas=1'),
    });
  });

  test.skipIf(!CAN_SYNC)('[NL3] one copy that is on the disk first is enough', async () => {
    const sure = await openNatsNode({ settings: SYNC_ALWAYS });
    const options = `replicas=1&monitor=${sure.monitor}`;
    const at = parseNatsUrl(`nats://127.0.0.1:${sure.port}/x?${options}`) as NatsPlace;
    const log = await openNatsLog(at, 'default');
    expect(log.durability).toEqual({
      ...{ replicas: 1, storage: 'file', isSynced: true, isStrict: true },
    });
    await log.close();
    await sure.close();
  });

  test('[NL4] a server that is not there is said to be so', async () => {
    const nowhere = parseNatsUrl('nats://127.0.0.1:1/x') as NatsPlace;
    await expect(openNatsLog(nowhere, 'default')).rejects.toMatchObject({
      code: 'log.unavailable',
      message: expect.stringContaining('no NATS server answers'),
    });
  });

  test('[NL2] what was lost on its way, there or back, is sent again after two seconds and stored once; a question is asked again', async () => {
    await using line = await openLine(node.port);
    const at = `nats://127.0.0.1:${line.port}/${fresh()}?replicas=1&durability=relaxed`;
    const log = await openNatsLog(parseNatsUrl(at) as NatsPlace, 'default');
    for (const [length, way] of (['append', 'stored'] as const).entries()) {
      line.next(STARTS[way], 'lose');
      const begun = performance.now();
      expect(await log.append(length, [`lost: ${way}`])).toEqual({ length: length + 1 });
      // A request of NATS is otherwise given five seconds.
      expect(performance.now() - begun).toBeLessThan(4_800);
      expect(line.met).toBe(length + 1);
    }
    line.next(STARTS.question, 'lose');
    const begun = performance.now();
    expect(await entriesOf(log)).toEqual(['lost: append', 'lost: stored']);
    expect(performance.now() - begun).toBeLessThan(4_800);
    expect(line.met).toBe(3);
    await log.close();
  });

  test('[NL2] an answer that does not come is asked for again; what nobody can say is said to be unknown', async () => {
    const mortal = await openNatsNode();
    const at = parseNatsUrl(
      `nats://127.0.0.1:${mortal.port}/x?replicas=1&durability=relaxed`,
    ) as NatsPlace;
    const log = await openNatsLog(at, 'default', { patienceMs: 8_000 });
    await log.append(0, ['before']);
    // The fault itself lasts so long: past several requests, within the patience.
    mortal.pause();
    const late = log.append(1, ['during']);
    const resumed = new Promise((resolve) => setTimeout(resolve, 6_000)).then(mortal.resume);
    expect(await late).toEqual({ length: 2 });
    await resumed;
    expect(await entriesOf(log)).toEqual(['before', 'during']);
    await mortal.kill();
    await expect(log.append(2, ['never'])).rejects.toMatchObject({ code: 'log.unknown' });
    await mortal.start();
    const after = await until(
      'the log is read again',
      () => entriesOf(log).catch(() => []),
      (entries) => entries.length > 0,
    );
    expect([
      ['before', 'during'],
      ['before', 'during', 'never'],
    ]).toContainEqual(after);
    expect(await log.append(after.length, ['again'])).toEqual({ length: after.length + 1 });
    await log.close();
    await mortal.close();
  });
});
