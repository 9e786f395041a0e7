/**
 * What following and reading a log in JetStream costs, by what a server of NATS counts itself: an append comes to a
 * follower with what is in it, and whoever reads a page is not sent the rest.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Log } from '../../src/log/log.ts';
import { openLink } from '../../src/log/nats/link.ts';
import { type NatsPlace, parseNatsUrl } from '../../src/log/nats/place.ts';
import { openNatsLog } from '../../src/log/nats.ts';
import { until, within } from '../e2e/deadline.ts';
import { noise } from './noise.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

describe.skipIf(NO_NATS !== null)(`a log that is followed ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  const place = (prefix: string): NatsPlace =>
    parseNatsUrl(
      `nats://127.0.0.1:${node.port}/${prefix}?replicas=1&durability=relaxed`,
    ) as NatsPlace;

  /** Requests for messages and states of the stream of a log, as they come. */
  async function openSpy(prefix: string) {
    const link = await openLink({ ...place(prefix), prefix: 'spy' });
    const asked: string[] = [];
    const isRead = new RegExp(`^\\$JS\\.API\\.(STREAM|DIRECT)\\.\\S+\\.${prefix}-log-`);
    const heard = link.connection.subscribe('$JS.API.>', {
      callback: (_, { subject }) => void (isRead.test(subject) && asked.push(subject)),
    });
    await link.connection.flush();
    return {
      asked,
      async [Symbol.asyncDispose]() {
        heard.unsubscribe();
        await link.release();
      },
    };
  }

  /** Once it knows of so many entries, told by whoever stored them. */
  async function follows(log: Log, length: number): Promise<void> {
    let stop = (): void => {};
    const told = new Promise<void>((resolve) => {
      const look = (): void => void (log.length >= length && resolve());
      stop = log.follow(look);
      look();
    });
    await within(`it hears of ${length} entries`, told).finally(stop);
  }

  async function known(log: Log, from: number): Promise<string[]> {
    const all: string[] = [];
    for await (const { entries } of log.read(from, log.length)) all.push(...entries);
    return all;
  }

  beforeAll(async () => {
    node = await openNatsNode();
  });
  afterAll(() => node?.close());

  test('[NL8] a follower that keeps up asks for nothing, also of what was cut', async () => {
    const writer = await openNatsLog(place('calm'), 'default');
    const mine = await openNatsLog(place('calm'), 'default');
    const stop = mine.follow(() => {});
    await writer.append(0, ['first']);
    await follows(mine, 1);
    await using spy = await openSpy('calm');
    const written = ['first'];
    for (let n = 0; n < 20; n++) {
      const batch = [`${n}`, noise(n === 7 ? 1_500_000 : 1_000)];
      await writer.append(written.length, batch);
      written.push(...batch);
      await follows(mine, written.length);
      expect(await known(mine, written.length - 2)).toEqual(batch);
    }
    expect(mine.head).toBe(writer.head);
    expect(spy.asked).toEqual([]);
    // What was read is let go of soon: who goes back has it asked for.
    expect(await known(mine, 0)).toEqual(written);
    expect(spy.asked).not.toEqual([]);
    stop();
    await mine.close();
    await writer.close();
  });

  test('[NL8] one that writes is not sent its own, and hears of others all the same', async () => {
    const [mine, other] = [
      await openNatsLog(place('own'), 'default'),
      await openNatsLog(place('own'), 'default'),
    ];
    let told = 0;
    mine.follow(() => void told++);
    const large = noise(200_000);
    for (let n = 0; n < 12; n++) await mine.append(n, [large]);
    await until('it is told by labels', sentTo, (bytes) => bytes > 0, 20_000);
    const before = await sentTo();
    for (let n = 12; n < 32; n++) await mine.append(n, [large]);
    expect((await sentTo()) - before).toBeLessThan(10 * large.length);
    expect(told).toBe(0);
    for (let n = 32; n < 36; n++) await other.append(n, [`theirs ${n}`]);
    await follows(mine, 36);
    expect(told).toBeGreaterThan(0);
    expect(await known(mine, 32)).toEqual(['theirs 32', 'theirs 33', 'theirs 34', 'theirs 35']);
    await mine.close();
    await other.close();
  });

  test('[NL8] who reads one entry of a long log is not sent what follows it', async () => {
    const writer = await openNatsLog(place('long'), 'default');
    for (let n = 0; n < 120; n++) await writer.append(n, [`${n} ${noise(100_000)}`]);
    const reader = await openNatsLog(place('long'), 'default');
    const before = await sentTo();
    for (const from of [3, 40, 60]) {
      for await (const { entries } of reader.read(from, reader.length)) {
        expect(entries[0]).toMatch(new RegExp(`^${from} `));
        break;
      }
    }
    // Three batches, and what was looked at to find them.
    expect((await sentTo()) - before).toBeLessThan(4_000_000);
    expect((await known(reader, 0)).length).toBe(120);
    await reader.close();
    await writer.close();
  });

  /** Bytes that the node has sent to anybody. */
  async function sentTo(): Promise<number> {
    const told = (await (await fetch(`${node.monitor}/varz`)).json()) as { out_bytes: number };
    return told.out_bytes;
  }
});
