/** What the owner is shown of servers that share a store, at any of them; a hub that is alone has nothing to show. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Home, openHome } from '../e2e/cli-run.ts';
import { until } from '../e2e/deadline.ts';
import { type HubProcess, isRunning, startHubProcess } from '../e2e/hub-process.ts';
import type { Json } from '../e2e/running-hub.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

describe.skipIf(NO_NATS !== null)(`the status of a cluster ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  let home: Home;
  const dir = mkdtempSync(join(tmpdir(), 'synod-status-'));
  const servers = new Map<string, HubProcess>();

  async function start(name: string): Promise<void> {
    const store = `nats://127.0.0.1:${node.port}/synod?replicas=1&durability=relaxed`;
    const args = ['--store', store, '--server-name', name];
    const started = await startHubProcess(join(dir, name), { args });
    if (!isRunning(started)) throw new Error(started.stderr);
    servers.set(name, started);
  }
  const at = (name: string): string[] => ['--dir', join(dir, name)];
  const status = (name: string): Promise<Json> => home.json([...at(name), 'cluster', 'status']);

  beforeAll(async () => {
    home = openHome();
    node = await openNatsNode();
    await start('one');
    await start('two');
  });
  afterAll(async () => {
    for (const server of servers.values()) await server.kill();
    await node?.close();
    await home?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('[SQ6] every server tells who is there, who sequences what, and how far each has come', async () => {
    await home.json([...at('two'), 'send', 'general', 'hello']);
    for (const name of ['one', 'two']) {
      const told = await until(
        `${name} has heard of both`,
        () => status(name),
        ({ servers: all, spaces }) =>
          all.length === 2 &&
          spaces[0]?.positions.length === 2 &&
          spaces[0].positions[0].position === spaces[0].positions[1].position &&
          spaces[0].positions[0].position > 0,
      );
      expect(told).toMatchObject({
        server: name,
        servers: [
          { name: 'one', state: 'alive', spaces: 1, lag: 0, url: servers.get('one')?.url },
          { name: 'two', state: 'alive', spaces: 1, lag: 0, url: servers.get('two')?.url },
        ],
        spaces: [{ space: 'default', positions: [{ server: 'one' }, { server: 'two' }] }],
        store: { replicas: 1, storage: 'file', synced: null, strict: false },
        next: null,
      });
      expect(told.servers.map((one: Json) => one.sequences).sort()).toEqual([0, 1]);
      const [sequencer] = told.servers.filter((one: Json) => one.sequences === 1);
      expect(told.spaces[0].sequencer).toBe(sequencer.name);
      expect(told.servers[0].version).toMatch(/^\d/);
    }
    const { stdout } = await home.run([...at('one'), 'cluster', 'status']);
    expect(stdout).toMatch(/^store {2}nats:.*one copy in files.*RELAXED/m);
    expect(stdout).toMatch(/^one \(this\) +alive/m);
    expect(stdout).toMatch(/^default +(one|two) +\d+ +one \d+, two \d+/m);
  });

  test('[SQ6] a server that is not heard of is shown as gone; who answers no more is said', async () => {
    await servers.get('one')?.kill();
    const told = await until(
      'one is gone, and two sequences',
      () => status('two'),
      ({ servers: all, spaces }) => all[0].state === 'gone' && spaces[0]?.sequencer === 'two',
    );
    expect(told.servers).toMatchObject([{ name: 'one', sequences: 0 }, { state: 'alive' }]);
    expect(told.spaces[0].positions).toMatchObject([{ server: 'two' }]);
    const { stdout } = await home.run([...at('two'), 'cluster', 'status']);
    expect(stdout).toMatch(/^one +GONE \d+/m);
  });

  test('[SQ6] a hub that is alone refuses by name, and an agent is not told', async () => {
    const alone = await startHubProcess(join(dir, 'alone'), {});
    if (!isRunning(alone)) throw new Error(alone.stderr);
    const refused = await home.run([...at('alone'), 'cluster', 'status']);
    expect([refused.code, refused.stderr]).toEqual([12, expect.stringContaining('--server-name')]);
    const { token } = await home.json([...at('alone'), 'token', 'create', 'eve']);
    const eve = await home.run([...at('alone'), '--token', String(token), 'cluster', 'status']);
    expect([eve.code, eve.stderr]).toEqual([11, expect.stringContaining('owner')]);
    await alone.kill();
  });
});
