/** NATS that knows its users: wrong credentials are told, and a server joins with the user that is printed for it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinCluster } from '../../src/server/run/join-cluster.ts';
import { openRunningHub, type RunningHub } from '../e2e/running-hub.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

describe.skipIf(NO_NATS !== null)(`users of NATS ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  const hubs: RunningHub[] = [];
  const dir = mkdtempSync(join(tmpdir(), 'synod-users-'));
  const admin = '{ user: "one", password: "secret-of-one" }';
  const place = (who: string): string =>
    `nats://${who}127.0.0.1:${node.port}/synod?replicas=1&durability=relaxed`;

  beforeAll(async () => {
    node = await openNatsNode({
      top: 'authorization { include users.conf }',
      files: { 'users.conf': `users: [ ${admin} ]` },
    });
  }, 60_000);
  afterAll(async () => {
    for (const hub of hubs) await hub.close();
    await node?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('[NL4] wrong credentials are said with what to mend', async () => {
    const flags = { store: place('one:wrong@'), serverName: 'one' };
    const tried = openRunningHub({ dir: join(dir, 'wrong'), flags });
    await expect(tried).rejects.toThrow(/refuses these credentials.*mend the user/);
  }, 60_000);

  test('[JN8] NATS takes the user that is printed, and the server joins with it', async () => {
    const flags = { store: place('one:secret-of-one@'), serverName: 'one' };
    const one = await openRunningHub({ dir: join(dir, 'one'), flags });
    hubs.push(one);
    const body = { from: 'one' };
    for (const space of ['default', 'blue'])
      await one.ask('ada', 'send', { channel: 'general', body }, space);
    const invited = await one.admin('cluster.invite', { name: 'two', spaces: ['blue'] });
    expect(invited.token).not.toContain('secret-of-one');
    writeFileSync(join(node.dir, 'users.conf'), `users: [ ${admin}\n${invited.nats_user}\n]`);
    await node.kill();
    await node.start();
    const two = join(dir, 'two');
    const wish = { token: invited.token, dir: two, name: null, store: null, ca: null };
    const { store } = await joinCluster(wish);
    expect(store).toContain('nkey=');
  }, 120_000);
});
