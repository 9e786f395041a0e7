/**
 * Streams that are made: for a log that is written anew, and for a new space. Whatever is lost on the way, one log counts,
 * opens, and has everything; and what belongs to nobody is not left where it can be removed [NL10].
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Log, StoredBatch } from '../../src/log/log.ts';
import { openLink } from '../../src/log/nats/link.ts';
import { type NatsPlace, parseNatsUrl } from '../../src/log/nats/place.ts';
import { openNatsLog } from '../../src/log/nats.ts';
import { openLine, STARTS } from '../nats/line.ts';
import { type NatsNode, NO_NATS, openNatsNode } from '../nats/server.ts';

const fresh = (): string => `t${randomBytes(6).toString('hex')}`;
const COMPACTED = { through: 1, record: 1 };
const UNSURE = { answer: '{"stream":"x-log-default","seq":0,"duplicate":true}' };
const NO_ROOM = {
  answer: '{"error":{"code":503,"err_code":10023,"description":"insufficient resources"}}',
};

describe.skipIf(NO_NATS !== null)(`streams that are made ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  const placeAt = (port: number, prefix: string): NatsPlace =>
    parseNatsUrl(`nats://127.0.0.1:${port}/${prefix}?replicas=1&durability=relaxed`) as NatsPlace;
  const open = (prefix: string, port = node.port, patienceMs = 10_000): Promise<Log> =>
    openNatsLog(placeAt(port, prefix), 'default', { patienceMs });

  beforeAll(async () => {
    node = await openNatsNode();
  });
  afterAll(() => node?.close());

  /** Of the space, without the pointers: a log and its snapshots are two. */
  async function streamsOf(prefix: string): Promise<string[]> {
    const link = await openLink(placeAt(node.port, prefix));
    try {
      const names: string[] = [];
      for await (const { config } of link.manager.streams.list()) names.push(config.name);
      return names.filter((name) => new RegExp(`^${prefix}-(log|snap)-`).test(name));
    } finally {
      await link.release();
    }
  }

  async function* batchesOf(log: Log): AsyncGenerator<StoredBatch> {
    for await (const batch of log.batches(0)) yield batch;
  }

  /** Opened by somebody else it has what was said, and takes more; what was made in vain is gone. */
  async function requireWhole(prefix: string, isCompacted: boolean, streams = 2): Promise<void> {
    const log = await open(prefix);
    expect([log.length, await log.at([0]), log.compacted]).toEqual([
      ...[1, ['said']],
      isCompacted ? COMPACTED : null,
    ]);
    expect(await log.append(1, ['more'])).toEqual({ length: 2 });
    await log.close();
    expect(await streamsOf(prefix)).toHaveLength(streams);
  }

  test.each([
    ['the answer is lost', 'lose'],
    ['the connection breaks', 'break'],
  ] as const)('[NL10] [G12] a log is written anew although %s that it was', async (_, fate) => {
    await using line = await openLine(node.port);
    const prefix = fresh();
    const log = await open(prefix, line.port);
    await log.append(0, ['said']);
    line.next(STARTS.marker, 'pass');
    line.next(STARTS.stored, fate);
    await log.replace(1, batchesOf(log), COMPACTED);
    expect(line.met).toBe(2);
    await requireWhole(prefix, true);
  });

  test.each([
    ['was', true],
    ['was not', false],
  ])(
    '[NL10] where nobody knows whether a log %s written anew both are left, and an opening tells',
    async (_, isStored) => {
      await using line = await openLine(node.port);
      const prefix = fresh();
      const log = await open(prefix, line.port, 1_000);
      await log.append(0, ['said']);
      if (isStored) {
        line.next(STARTS.marker, 'pass');
        line.next(STARTS.stored, 'lose');
      } else for (let asked = 0; asked < 40; asked++) line.next(STARTS.marker, UNSURE);
      await expect(log.replace(1, batchesOf(log), COMPACTED)).rejects.toMatchObject({
        code: 'log.unknown',
        message: expect.stringMatching(/both are left: open the log again.*nats stream rm/),
      });
      await log.close();
      expect(await streamsOf(prefix)).toHaveLength(4);
      await requireWhole(prefix, isStored, isStored ? 2 : 4);
    },
  );

  test('[NL10] [G12] a log that somebody wrote to while it was written anew is as it was, with nothing beside it', async () => {
    const prefix = fresh();
    const [log, other] = [await open(prefix), await open(prefix)];
    await log.append(0, ['said']);
    async function* interrupted(): AsyncGenerator<StoredBatch> {
      yield* batchesOf(log);
      await other.append(1, ['theirs']);
    }
    await expect(log.replace(1, interrupted(), COMPACTED)).rejects.toMatchObject({
      code: 'log.diverged',
    });
    expect(await streamsOf(prefix)).toHaveLength(2);
    expect(await log.append(2, ['ours'])).toEqual({ length: 3 });
    await log.close();
    await other.close();
  });

  test('[NL10] a replacement that is gone is refused with what still has the log, and what is said then mends it', async () => {
    const prefix = fresh();
    await using line = await openLine(node.port);
    const log = await open(prefix, line.port, 1_000);
    await log.append(0, ['said']);
    const [old] = await streamsOf(prefix);
    line.next(STARTS.marker, 'pass');
    line.next(STARTS.stored, 'lose');
    await expect(log.replace(1, batchesOf(log), COMPACTED)).rejects.toThrow();
    await log.close();
    const link = await openLink(placeAt(node.port, prefix));
    for (const name of await streamsOf(prefix)) {
      if (!old?.endsWith(name.split('-').at(-1) as string)) await link.manager.streams.delete(name);
    }
    for (const _ of ['once', 'and again']) {
      await expect(open(prefix)).rejects.toMatchObject({
        code: 'log.corrupt',
        message: expect.stringContaining(`nats stream rmm ${old} 2`),
      });
    }
    await link.manager.streams.deleteMessage(old as string, 2);
    await link.release();
    await requireWhole(prefix, false);
  });

  test('[NL10] a space that cannot be made leaves nothing, however often it is tried', async () => {
    await using line = await openLine(node.port);
    const prefix = fresh();
    for (const start of [STARTS.makeSnapshots, STARTS.pointer, STARTS.makeSnapshots]) {
      line.next(start, NO_ROOM);
      await expect(open(prefix, line.port)).rejects.toMatchObject({
        message: expect.stringContaining('no room left'),
      });
      expect(await streamsOf(prefix)).toEqual([]);
    }
    await (await open(prefix, line.port)).close();
    expect(await streamsOf(prefix)).toHaveLength(2);
  });

  test('[NL10] what could not be removed is left once, and what may be named is not removed', async () => {
    await using line = await openLine(node.port);
    const prefix = fresh();
    line.next(STARTS.makeSnapshots, NO_ROOM);
    // It is tried twice.
    line.next(STARTS.remove, NO_ROOM);
    line.next(STARTS.remove, NO_ROOM);
    await expect(open(prefix, line.port)).rejects.toThrow('no room left');
    line.next(STARTS.pointed, 'lose');
    await expect(open(prefix, line.port)).rejects.toThrow('no answer came in time');
    expect(line.met).toBe(4);
    const log = await open(prefix, line.port);
    await log.append(0, ['said']);
    await log.close();
    await requireWhole(prefix, false);
  });

  test('[NL10] what could not be removed is removed when somebody else has made the space', async () => {
    await using line = await openLine(node.port);
    const prefix = fresh();
    line.next(STARTS.makeSnapshots, NO_ROOM);
    // It is tried twice.
    line.next(STARTS.remove, NO_ROOM);
    line.next(STARTS.remove, NO_ROOM);
    await expect(open(prefix, line.port)).rejects.toThrow('no room left');
    expect(await streamsOf(prefix)).toHaveLength(1);
    const first = await open(prefix);
    await first.append(0, ['said']);
    await first.close();
    expect(await streamsOf(prefix)).toHaveLength(3);
    await (await open(prefix, line.port)).close();
    await requireWhole(prefix, false);
  });
});
