/** Who may be at a store: servers that share it have names, each its own; one without a name shares with nobody. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { within } from '../e2e/deadline.ts';
import { openRunningHub } from '../e2e/running-hub.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

describe.skipIf(NO_NATS !== null)(`leases on NATS ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  // A server that comes again comes with its key.
  const dir = mkdtempSync(join(tmpdir(), 'synod-leases-'));
  const storeOf = (prefix: string) =>
    `nats://127.0.0.1:${node.port}/${prefix}?replicas=1&durability=relaxed`;

  beforeAll(async () => {
    node = await openNatsNode();
  });
  afterAll(async () => {
    await node?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('[SQ7] a second server of one name, and one without a name, are refused by name and soon', async () => {
    const store = storeOf('named');
    const one = { dir: join(dir, 'one'), flags: { store, serverName: 'a' } };
    const first = await openRunningHub(one);
    await within(
      'the second of one name is refused',
      expect(openRunningHub({ flags: { store, serverName: 'a' } })).rejects.toMatchObject({
        message: expect.stringContaining('choose another name'),
      }),
      30_000,
    );
    await within(
      'one without a name is refused',
      expect(openRunningHub({ flags: { store } })).rejects.toMatchObject({
        code: 'cluster.nameless',
        message: expect.stringContaining('synod cluster invite'),
      }),
      30_000,
    );
    // Both refusals changed nothing.
    const { cluster } = await first.ask('ada', 'status', {});
    expect(cluster).toMatchObject({ server: 'a', sequencer: 'a' });
    await first.close();
    const again = await openRunningHub(one);
    await again.close();
  });

  test('[SQ7] where one without a name is, one with a name is refused, until that one is gone', async () => {
    const store = storeOf('alone');
    const a = { dir: join(dir, 'a'), flags: { store, serverName: 'a' } };
    const alone = await openRunningHub({ flags: { store } });
    await within(
      'one with a name is refused',
      expect(openRunningHub(a)).rejects.toMatchObject({
        code: 'log.locked',
        message: expect.stringContaining('give both a name'),
      }),
      30_000,
    );
    await alone.close();
    const named = await openRunningHub(a);
    await named.close();
    // The prefix is the cluster's from then on.
    await expect(openRunningHub({ flags: { store } })).rejects.toMatchObject({
      code: 'cluster.nameless',
    });
  });
});
