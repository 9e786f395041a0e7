/**
 * A node of NATS that is lost, and is not the one this server is connected to: whatever it told of is told of by another,
 * while it is away and from where it stopped.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Log } from '../../src/log/log.ts';
import { readFirst, streamFrom } from '../../src/log/nats/consume.ts';
import { followNatsSpaces, type NatsSpace } from '../../src/log/nats/directory.ts';
import { type Link, openLink } from '../../src/log/nats/link.ts';
import { type NatsPlace, parseNatsUrl } from '../../src/log/nats/place.ts';
import { removeNatsSpace } from '../../src/log/nats/removal.ts';
import { openNatsLog } from '../../src/log/nats.ts';
import { createSeed, keyPairOfSeed } from '../../src/server/cluster/keys.ts';
import {
  openRegistryStream,
  type RegistryStream,
} from '../../src/server/cluster/registry-stream.ts';
import { until, within } from '../e2e/deadline.ts';
import { type NatsNode, NO_NATS, openNatsCluster } from './server.ts';

/** Two signs of life that did not come, and asking anew those that are left; long, for a busy machine. */
const HEARD_MS = 40_000;

describe.skipIf(NO_NATS !== null)(`a node that is lost ${NO_NATS ?? ''}`, () => {
  let nodes: NatsNode[] = [];
  let place: NatsPlace;
  let link: Link;
  /** We are connected to the first; it leads nothing, so that nobody has to wait until another one does. */
  let victim = '';

  beforeAll(async () => {
    nodes = await openNatsCluster(3);
    const store = `nats://127.0.0.1:${nodes[0]?.port}/p?replicas=3&durability=relaxed`;
    place = parseNatsUrl(store) as NatsPlace;
    link = await openLink(place);
    const told = await (await fetch(`${nodes[0]?.monitor}/jsz`)).json();
    const { leader } = (told as { meta_cluster: { leader: string } }).meta_cluster;
    victim = leader === 'node2' ? 'node1' : 'node2';
  }, 60_000);
  afterAll(async () => {
    await link?.release();
    for (const node of nodes) await node.close();
  });

  async function consumersOf(stream: string): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for await (const { name, cluster } of link.manager.consumers.list(stream))
      found.set(name, cluster?.leader ?? '');
    return found;
  }

  /** Begun again and again until it is the victim that tells. */
  async function toldByVictim<T>(
    stream: string,
    begin: () => T | Promise<T>,
    end: (begun: T) => unknown,
  ): Promise<T> {
    for (;;) {
      const before = await consumersOf(stream);
      const begun = await begin();
      const fresh = await until(
        'somebody tells',
        async () => [...(await consumersOf(stream))].find(([name]) => !before.has(name)),
        (one) => one !== undefined && one[1] !== '',
      );
      if (fresh?.[1] === victim) return begun;
      await end(begun);
    }
  }

  async function letOthersLead(stream: string): Promise<void> {
    await until(
      `${stream} is led by another`,
      async () => {
        const { cluster } = await link.manager.streams.info(stream);
        if (cluster?.leader === victim)
          await link.connection.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`);
        return cluster?.leader;
      },
      (leader) => leader !== undefined && leader !== '' && leader !== victim,
    );
  }

  test('[NL11] [JN6] what it told of is told by another: the registry, the directory, a log, and what was being read', async () => {
    const key = keyPairOfSeed(createSeed());
    const writing = await openRegistryStream(link, place, { isFollowed: false });
    const writer = await openNatsLog(place, 'default');
    await (await openNatsLog(place, 'gone')).close();
    for (let n = 0; n < 40; n++) await writer.append(n, [`before ${n}`]);
    const stream = `p-log-default-${await idOf('default')}`;

    const registry: RegistryStream = await toldByVictim(
      'p-servers',
      () => openRegistryStream(link, place, { isFollowed: true }),
      (one) => one.close(),
    );
    const founded = new Promise<void>((resolve) => void registry.onChange(resolve));
    const removals: NatsSpace[] = [];
    const stopFollowing = await toldByVictim(
      'p-spaces',
      () => followNatsSpaces(link, place, (one) => void (one.removal && removals.push(one))),
      (stop) => stop(),
    );
    const log: Log = await openNatsLog(place, 'default');
    const told: { count: number; resolve(): void } = { count: 0, resolve: () => {} };
    const heard = new Promise<void>((resolve) => {
      told.resolve = resolve;
    });
    const follow = (): (() => void) => log.follow(() => void (log.length > 40 && told.resolve()));
    const stopLog = await toldByVictim(stream, follow, (stop) => stop());
    const reading = await toldByVictim(
      stream,
      async () => {
        const read = streamFrom(link, stream, 1, 4);
        const first = await read.next();
        expect(first.value?.seq).toBe(1);
        return read;
      },
      (one) => one.return(undefined),
    );
    const some = await toldByVictim(
      stream,
      async () => {
        const read = readFirst(link, stream, 'p.log.>', 40, 4);
        const first = await read.next();
        expect(first.value?.seq).toBe(1);
        return read;
      },
      (one) => one.return(undefined),
    );

    for (const one of ['p-servers', 'p-spaces', stream]) await letOthersLead(one);
    await nodes[Number(victim.at(-1))]?.kill();
    /** Those that are left may have to choose who leads first. */
    const patiently = (what: () => Promise<unknown>): Promise<boolean> => {
      const isDone = (): Promise<boolean> =>
        what().then(
          () => true,
          () => false,
        );
      return until('the nodes that are left take it', isDone, Boolean);
    };
    const entry = { kind: 'founded', prefix: 'p', name: 'one', key: key.id, nonce: 'n' } as const;
    await Promise.all([
      patiently(() => writing.add(() => entry, key)),
      patiently(() => writer.append(40, ['after'])),
      patiently(() => removeNatsSpace(place, 'gone', 1)),
    ]);
    const rest = async (read: typeof reading, enough: number): Promise<number[]> => {
      const seqs: number[] = [];
      for await (const { seq } of read) if (seqs.push(seq) === enough) break;
      return seqs;
    };
    const all = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const meanwhile = <T>(what: string, event: Promise<T>): Promise<T> =>
      within(`${what} while the node is away`, event, HEARD_MS);
    const isTold = async (): Promise<number> => removals.length;
    const [streamed, first] = await Promise.all([
      meanwhile('what is streamed is read', rest(reading, 40)),
      meanwhile('what is read by the page is read', rest(some, 39)),
      meanwhile('the registry is told', founded),
      meanwhile('the log is told', heard),
      until('the directory is told', isTold, Boolean, HEARD_MS),
    ]);
    expect(streamed).toEqual(all(2, 41));
    expect(first).toEqual(all(2, 40));
    expect(registry.registry.servers.has('one')).toBe(true);
    expect(log.length).toBe(41);
    stopFollowing();
    stopLog();
    registry.close();
    writing.close();
    await log.close();
    await writer.close();
  }, 120_000);

  async function idOf(space: string): Promise<string> {
    const names = await link.manager.streams.names().next();
    const found = names.find((name) => name.startsWith(`p-log-${space}-`));
    return found?.split('-').at(-1) ?? '';
  }
});
