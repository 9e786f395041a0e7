/** Streams beside the log that somebody changed: what must not be forgotten is not opened where it is, and what may be is. */
import type { StreamConfig } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ensureHeads, openNatsHeads } from '../../src/log/nats/heads.ts';
import { openLink } from '../../src/log/nats/link.ts';
import { type NatsPlace, parseNatsUrl } from '../../src/log/nats/place.ts';
import { openNatsLog } from '../../src/log/nats.ts';
import { openRegistryStream } from '../../src/server/cluster/registry-stream.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

type Bad = readonly [change: Partial<StreamConfig>, sentence: string];
const AGE: Bad = [{ max_age: 3600e9 }, '--max-age=0'];
const COUNT: Bad = [{ max_msgs: 5, discard: 'old' as never }, 'drops all but the last 5'];
const BYTES: Bad = [{ max_msgs: -1, max_bytes: 5e6, discard: 'old' as never }, '--max-bytes=-1'];

describe.skipIf(NO_NATS !== null)(`streams that forget ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  const placeOf = (prefix: string): NatsPlace =>
    parseNatsUrl(
      `nats://127.0.0.1:${node.port}/${prefix}?replicas=1&durability=relaxed`,
    ) as NatsPlace;

  beforeAll(async () => {
    node = await openNatsNode();
  });
  afterAll(() => node?.close());

  /** Each is refused with what to do, and then it is as if nothing had been. */
  async function requireRefused(
    place: NatsPlace,
    stream: string,
    bad: readonly Bad[],
    open: () => Promise<{ close(): unknown }>,
  ): Promise<void> {
    const link = await openLink(place);
    onTestFinished(() => link.release());
    const { streams } = link.manager;
    for (const [change, sentence] of bad) {
      const { config } = await streams.info(stream);
      await streams.update(stream, { ...config, ...change });
      await expect(open(), sentence).rejects.toMatchObject({
        code: 'log.durability',
        message: expect.stringMatching(new RegExp(`the stream ${stream} .*${sentence}`)),
      });
      await streams.update(stream, config);
      await (await open()).close();
    }
  }

  test('[NL6] a registry that forgets who is a server, or was taken out, is not opened', async () => {
    const place = placeOf('registry');
    const link = await openLink(place);
    onTestFinished(() => link.release());
    const open = (mayMake: boolean) => () =>
      openRegistryStream(link, place, { isFollowed: false, mayMake });
    (await open(true)()).close();
    const each: Bad = [
      { discard_new_per_subject: false },
      'keeps the last 64 of a subject.*--max-msgs-per-subject=-1',
    ];
    const old = { discard: 'old' as never, discard_new_per_subject: false };
    const bad: Bad[] = [
      AGE,
      each,
      ...[COUNT, BYTES].map(
        ([change, said]): Bad => [{ ...change, ...old, max_msgs_per_subject: -1 }, said],
      ),
    ];
    for (const mayMake of [true, false])
      await requireRefused(place, 'registry-servers', bad, open(mayMake));
  });

  test('[NL6] signed heads that are forgotten are not opened; to keep more of them is fine', async () => {
    const place = placeOf('proof');
    const link = await openLink(place);
    onTestFinished(() => link.release());
    await (await openNatsLog(place, 'default')).close();
    await ensureHeads(link, place);
    const few: Bad = [
      { max_msgs_per_subject: 10 },
      'keeps the last 10 of a subject.*--max-msgs-per-subject=1000',
    ];
    const open = () => openNatsHeads(place, 'default');
    await requireRefused(place, 'proof-heads', [AGE, few, COUNT, BYTES], open);
    await link.manager.streams.update('proof-heads', { max_msgs_per_subject: 5_000 });
    await (await open()).close();
  });

  test('[NL6] snapshots may be forgotten: the log is read from further back', async () => {
    const place = placeOf('snapped');
    await (await openNatsLog(place, 'default')).close();
    const link = await openLink(place);
    onTestFinished(() => link.release());
    for await (const { config } of link.manager.streams.list()) {
      if (config.name.startsWith('snapped-snap-'))
        await link.manager.streams.update(config.name, { max_age: 3600e9 });
    }
    const log = await openNatsLog(place, 'default');
    expect(await log.append(0, ['said'])).toEqual({ length: 1 });
    await log.close();
  });
});
