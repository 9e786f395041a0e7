/**
 * The log in JetStream as it is meant to be run, three copies on three nodes, held to what the port promises of
 * appends, conflicts, followers and replacement, and to what several nodes may get wrong: who has a write, and who can tell.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { logContract } from '../../src/log/log.contract.ts';
import type { Log } from '../../src/log/log.ts';
import { requireDurable } from '../../src/log/nats/durability.ts';
import { pointersOf } from '../../src/log/nats/generation.ts';
import { openLink } from '../../src/log/nats/link.ts';
import { type NatsPlace, parseNatsUrl } from '../../src/log/nats/place.ts';
import { openNatsLog } from '../../src/log/nats.ts';
import { openLine, STARTS } from '../nats/line.ts';
import { type NatsNode, NO_NATS, openNatsCluster } from '../nats/server.ts';

const UNSURE = { answer: '{"stream":"x-log-default","seq":0,"duplicate":true}' };
/** What one copy tells is left to the test of one node: each of these makes streams, which choose their leaders first. */
const OF_COPIES = /^\[G([1-3]|6|7|12)\] |snapshot/;
const fresh = (): string => `t${randomBytes(6).toString('hex')}`;

describe.skipIf(NO_NATS !== null)(`three copies on three nodes ${NO_NATS ?? ''}`, () => {
  let nodes: NatsNode[] = [];
  const placeAt = (ports: readonly number[], prefix: string): NatsPlace =>
    parseNatsUrl(
      `nats://${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${prefix}`,
    ) as NatsPlace;
  const placeOf = (prefix: string): NatsPlace =>
    placeAt(
      nodes.map(({ port }) => port),
      prefix,
    );
  const entriesOf = async (log: Log): Promise<string[]> => {
    const all: string[] = [];
    for await (const chunk of log.read(0)) all.push(...chunk.entries);
    return all;
  };

  beforeAll(async () => {
    // Nobody is told of other ways to a node than those that the store names.
    nodes = await openNatsCluster(3, 'no_advertise: true');
  });
  afterAll(() => Promise.all(nodes.map((node) => node.close())));

  for (const { name, run } of logContract.filter((one) => OF_COPIES.test(one.name))) {
    test.concurrent(name, async () => {
      const prefix = fresh();
      await run(() => openNatsLog(placeOf(prefix), 'default'));
    });
  }

  test('[NL2] with copies, too, what was lost or not said for sure is asked for again and stored once', async () => {
    const prefix = fresh();
    const [{ port }] = nodes as [NatsNode];
    await using line = await openLine(port);
    const log = await openNatsLog(placeAt([line.port], prefix), 'default');
    line.next(STARTS.append, 'lose');
    line.next(STARTS.append, UNSURE);
    expect(await log.append(0, ['first'])).toEqual({ length: 1 });
    line.next(STARTS.stored, 'lose');
    line.next(STARTS.append, UNSURE);
    expect(await log.append(1, ['second'])).toEqual({ length: 2 });
    const other = await openNatsLog(placeOf(prefix), 'default');
    expect(await entriesOf(other)).toEqual(['first', 'second']);
    expect(line.met).toBe(4);
    await log.close();
    await other.close();
  });

  /** As of a server that writes to the disk first; those from 2.10 on can be told to, and say so. */
  async function openMonitor(node: NatsNode): Promise<string> {
    const server = createServer(async (request, response) => {
      const told = (await (await fetch(`${node.monitor}${request.url}`)).json()) as Varz;
      told.jetstream.config.sync_always = true;
      response.end(JSON.stringify(told));
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test('[NL3] a monitor speaks for its own server: of one copy at another it is not known whether it is on the disk first', async () => {
    const strict = { ...placeOf(fresh()), replicas: 1 };
    const relaxed: NatsPlace = { ...strict, durability: 'relaxed' };
    await (await openNatsLog(relaxed, 'default')).close();
    const link = await openLink(relaxed);
    onTestFinished(() => link.release());
    const info = await link.manager.streams.info(pointersOf(relaxed.prefix));
    for (const [i, node] of nodes.entries()) {
      const place = { ...strict, monitor: await openMonitor(node) };
      const leader = info.cluster?.leader;
      if (leader === `node${i}`)
        expect(await requireDurable(place, info)).toMatchObject({ isSynced: true, isStrict: true });
      else {
        await expect(openNatsLog(place, 'default')).rejects.toMatchObject({
          code: 'log.durability',
          message: expect.stringContaining(
            `at the server ${leader}, and the monitor is that of node${i}`,
          ),
        });
        const accepted = { ...place, durability: 'relaxed' } as const;
        expect(await requireDurable(accepted, info)).toMatchObject({
          isSynced: null,
          isStrict: false,
        });
      }
    }
  });
});

interface Varz {
  readonly jetstream: { readonly config: { sync_always?: boolean } };
}
