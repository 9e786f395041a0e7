/**
 * Answers of JetStream that do not come, or say nothing: whatever is written is stored once, known not to be, or said to be unknown,
 * and a space opens after each of them. A line between the log and a real server does what networks and servers do.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Log } from '../../src/log/log.ts';
import { type NatsPlace, parseNatsUrl } from '../../src/log/nats/place.ts';
import { openNatsLog } from '../../src/log/nats.ts';
import { verifyLog } from '../../src/log/verify.ts';
import { openLine, STARTS } from '../nats/line.ts';
import { noise } from '../nats/noise.ts';
import { type NatsNode, NO_NATS, openNatsNode } from '../nats/server.ts';

const fresh = (): string => `t${randomBytes(6).toString('hex')}`;
/** What older servers of a cluster say of a message that they have heard of and not stored, and may never store. */
const UNSURE = { answer: '{"stream":"x-log-default","seq":0,"duplicate":true}' };

describe.skipIf(NO_NATS !== null)(`JetStream that is not sure ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  const placeAt = (port: number, prefix: string): NatsPlace =>
    parseNatsUrl(`nats://127.0.0.1:${port}/${prefix}?replicas=1&durability=relaxed`) as NatsPlace;
  const entriesOf = async (log: Log): Promise<string[]> => {
    const all: string[] = [];
    for await (const chunk of log.read(0)) all.push(...chunk.entries);
    return all;
  };

  beforeAll(async () => {
    node = await openNatsNode();
  });
  afterAll(() => node?.close());

  /** What is stored, by somebody who has nothing to do with the line. */
  async function stored(prefix: string): Promise<string[]> {
    const log = await openNatsLog(placeAt(node.port, prefix), 'default');
    try {
      expect(await verifyLog(log)).toMatchObject({ ok: true });
      return await entriesOf(log);
    } finally {
      await log.close();
    }
  }

  test('[NL2] that a message was heard of before is no answer: what was not stored then is not acknowledged', async () => {
    await using line = await openLine(node.port);
    const prefix = fresh();
    const log = await openNatsLog(placeAt(line.port, prefix), 'default');
    await log.append(0, ['first']);
    // It is lost, and so is what the server says that it has.
    line.next(STARTS.append, 'lose');
    line.next(STARTS.append, UNSURE);
    expect(await log.append(1, ['second'])).toEqual({ length: 2 });
    expect(line.met).toBe(2);
    expect(await stored(prefix)).toEqual(['first', 'second']);
    // Of a batch in parts each may be so.
    const large = [noise(900_000), noise(900_000), noise(900_000)];
    for (let part = 0; part < 3; part++) {
      line.next(STARTS.append, UNSURE);
      line.next(STARTS.append, 'pass');
    }
    expect(await log.append(2, large)).toEqual({ length: 5 });
    expect(await log.append(5, ['last'])).toEqual({ length: 6 });
    expect(line.met).toBe(8);
    expect(await stored(prefix)).toEqual(['first', 'second', ...large, 'last']);
    expect(await entriesOf(log)).toEqual(['first', 'second', ...large, 'last']);
    await log.close();
  });

  test('[NL2] what lies there decides when the server is not sure: ours is acknowledged, and who was first has it', async () => {
    await using line = await openLine(node.port);
    const prefix = fresh();
    const log = await openNatsLog(placeAt(line.port, prefix), 'default');
    // Stored, and neither that nor anything else is said of it.
    line.next(STARTS.stored, 'lose');
    line.next(STARTS.append, UNSURE);
    expect(await log.append(0, ['ours'])).toEqual({ length: 1 });
    expect(log.length).toBe(1);
    expect(await stored(prefix)).toEqual(['ours']);
    const other = await openNatsLog(placeAt(node.port, prefix), 'default');
    await other.append(1, ['theirs']);
    line.next(STARTS.append, UNSURE);
    expect(await log.append(1, ['late'])).toEqual({ conflict: 2 });
    expect(line.met).toBe(3);
    expect(await stored(prefix)).toEqual(['ours', 'theirs']);
    await log.close();
    await other.close();
  });

  test('[NL2] what no server is sure of for so long is said to be unknown, and read again it is there or not', async () => {
    await using line = await openLine(node.port);
    const prefix = fresh();
    const options = { patienceMs: 600 };
    const log = await openNatsLog(placeAt(line.port, prefix), 'default', options);
    for (let asked = 0; asked < 20; asked++) line.next(STARTS.append, UNSURE);
    await expect(log.append(0, ['never'])).rejects.toMatchObject({ code: 'log.unknown' });
    await log.close();
    expect(await stored(prefix)).toEqual([]);
  });
});
