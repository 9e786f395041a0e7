/** A server that is taken out while it opens a space: the space is not served afterwards. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NatsPlace, parseNatsUrl } from '../../src/log/nats/place.ts';
import { type Cluster, openCluster } from '../../src/server/cluster/cluster.ts';
import { realClock } from '../../src/server/run/clock.ts';
import { openSpaces } from '../../src/server/run/spaces.ts';
import { within } from '../e2e/deadline.ts';
import { enrol } from './enrol.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

describe.skipIf(NO_NATS !== null)(`taken out ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  const dir = mkdtempSync(join(tmpdir(), 'synod-revoked-'));
  beforeAll(async () => {
    node = await openNatsNode();
  });
  afterAll(async () => {
    await node?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('[JN6] a space that was opening when its server was taken out is not served by it', async () => {
    const store = `nats://127.0.0.1:${node.port}/synod?replicas=1&durability=relaxed`;
    const place = parseNatsUrl(store) as NatsPlace;
    const enter = async (name: string): Promise<Cluster> => {
      await enrol(store, join(dir, name), name);
      const quiet = { onTrouble: () => {}, warn: () => {} };
      return openCluster({ place, name, version: '1', dir: join(dir, name), ...quiet });
    };
    const one = await enter('one');
    const two = await enter('two');
    let isSlow = false;
    let reach = (): void => {};
    let goOn = (): void => {};
    const reached = new Promise<void>((resolve) => {
      reach = resolve;
    });
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const spaces = await openSpaces({
      ...{ store, dir: join(dir, 'two'), clock: realClock, named: [] },
      ...{ settings: {}, typedChannels: null, onTrouble: () => {} },
      cluster: {
        ...two,
        async join(space) {
          const membership = await two.join(space);
          if (isSlow) {
            reach();
            await held;
          }
          return membership;
        },
      },
    });
    expect(spaces.find('default')).not.toBeNull();
    isSlow = true;
    const opening = spaces.open('blue', { mayCreate: true });
    await within('it is opening', reached);
    const out = new Promise<void>((resolve) => void two.onRevoked(resolve));
    await one.registry.revoke('two');
    await within('two hears that it is out', out);
    expect(spaces.find('default')).toBeNull();
    goOn();
    const refused = { refused: 'cluster.revoked' };
    expect(await opening).toMatchObject(refused);
    expect(spaces.find('blue')).toBeNull();
    expect(await spaces.open('blue', { mayCreate: true })).toMatchObject(refused);
    await spaces.close();
    await two.close();
    await one.close();
  }, 60_000);
});
