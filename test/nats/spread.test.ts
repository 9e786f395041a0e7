/**
 * Spaces over servers: each has its share, a server that drains hands all of it over while clients go on, and what
 * a server that is killed had is taken by another; all of it is counted for Prometheus.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rankServers } from '../../src/log/choose-holder.ts';
import { type Home, openHome } from '../e2e/cli-run.ts';
import { until } from '../e2e/deadline.ts';
import { type HubProcess, isRunning, startHubProcess } from '../e2e/hub-process.ts';
import { fetchReply, type Json } from '../e2e/running-hub.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

const SPACES = ['default', 'one', 'two', 'three'];
const METRICS_TOKEN = 'prometheus-reads';

describe.skipIf(NO_NATS !== null)(`spaces over servers ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  let home: Home;
  const dir = mkdtempSync(join(tmpdir(), 'synod-spread-'));
  const servers = new Map<string, HubProcess>();

  async function start(name: string): Promise<void> {
    const store = `nats://127.0.0.1:${node.port}/synod?replicas=1&durability=relaxed`;
    const args = [
      '--store',
      store,
      '--server-name',
      name,
      '--auth',
      'open',
      '--metrics',
      METRICS_TOKEN,
    ];
    const started = await startHubProcess(join(dir, name), { args });
    if (!isRunning(started)) throw new Error(started.stderr);
    servers.set(name, started);
  }
  const at = (name: string): string[] => ['--dir', join(dir, name)];
  const status = (name: string): Promise<Json> => home.json([...at(name), 'cluster', 'status']);

  async function send(name: string, space: string, text: string): Promise<Json | null> {
    const reply = await fetchReply(`${servers.get(name)?.url}/v1/ops/send`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...{ 'x-sox-agent-id': 'ada', 'x-sox-namespace': space },
      },
      body: JSON.stringify({ channel: 'general', body: { text } }),
    }).catch(() => null);
    return reply?.status === 200 ? null : (reply?.body ?? 'gone');
  }

  async function metric(name: string, metricName: string): Promise<number> {
    const reply = await fetch(`${servers.get(name)?.url}/metrics`, {
      headers: { authorization: `Bearer ${METRICS_TOKEN}` },
    });
    const line = (await reply.text()).split('\n').find((one) => one.startsWith(`${metricName} `));
    return Number(line?.split(' ')[1] ?? Number.NaN);
  }

  beforeAll(async () => {
    home = openHome();
    node = await openNatsNode();
    await start('a');
    await start('b');
    for (const space of SPACES.slice(1))
      await home.json([...at('a'), 'call', 'spaces.create', JSON.stringify({ name: space })]);
  }, 90_000);
  afterAll(async () => {
    for (const server of servers.values()) await server.kill();
    await node?.close();
    await home?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('[SQ8] [SQ9] each space comes to the server that should have it, also where that one never asked for it', async () => {
    const wanted = Object.fromEntries(
      SPACES.map((space) => [space, rankServers(space, ['a', 'b'])[0]]),
    );
    const told = await until(
      'every space is where it belongs',
      () => status('b'),
      ({ spaces }) =>
        spaces.length === SPACES.length &&
        spaces.every((one: Json) => one.sequencer === wanted[one.space]),
      60_000,
    );
    expect(new Set(told.spaces.map((one: Json) => one.sequencer))).toEqual(new Set(['a', 'b']));
    // All of it over one connection of each server.
    const connections = await fetch(`${node.monitor}/connz`);
    expect(((await connections.json()) as Json).num_connections).toBe(2);
  }, 90_000);

  test('[SQ10] a server that drains hands over all it has; clients of both servers notice nothing', async () => {
    let isOver = false;
    let sent = 0;
    const refusals: Json[] = [];
    const senders = ['a', 'b'].flatMap((server) =>
      SPACES.map(async (space) => {
        for (let i = 0; !isOver; i++) {
          const refused = await send(server, space, `${server} ${i}`);
          if (refused !== null) refusals.push(refused);
          sent++;
        }
      }),
    );
    const drained = await home.json([...at('a'), 'drain']);
    isOver = true;
    await Promise.all(senders);
    expect(drained).toEqual({ server: 'a', draining: true, left: 0, kept: [] });
    expect(refusals).toEqual([]);
    expect(sent).toBeGreaterThan(20);
    const told = await until(
      'b has everything',
      () => status('b'),
      ({ servers: all, spaces }) =>
        all[0].state === 'draining' &&
        all[0].sequences === 0 &&
        spaces.every((one: Json) => one.sequencer === 'b'),
    );
    expect(told.servers).toMatchObject([{ sequences: 0 }, { sequences: SPACES.length }]);
    expect(await metric('a', 'synod_cluster_sequences{space="two"}')).toBe(0);
    expect(await metric('b', 'synod_cluster_sequences{space="two"}')).toBe(1);
    expect(await metric('a', 'synod_cluster_lag_entries{space="two"}')).toBe(0);
    expect(await metric('a', 'synod_cluster_forwarded_total')).toBeGreaterThan(0);
    expect(await metric('b', 'synod_cluster_failovers_total')).toBe(0);
    expect(await metric('b', 'synod_cluster_conflicts_total')).toBeGreaterThanOrEqual(0);
    // The other must not leave too, and this one may come back.
    const last = await home.run([...at('b'), 'cluster', 'drain']);
    expect([last.code, last.stderr]).toEqual([12, expect.stringContaining('no other server')]);
    const undone = await home.run([...at('a'), 'cluster', 'drain', '--undo']);
    expect(undone.stdout).toContain('a takes spaces again');
  }, 90_000);

  test('[SQ2] [SQ12] a server is killed: the other has its spaces within seconds, and that is counted', async () => {
    expect(await send('a', 'two', 'before')).toBeNull();
    const before = await metric('a', 'synod_cluster_failovers_total');
    await servers.get('b')?.kill();
    await until(
      'a decides what b did',
      () => send('a', 'two', 'after'),
      (refused) => refused === null,
    );
    const after = await until(
      'it is counted',
      () => metric('a', 'synod_cluster_failovers_total'),
      (count) => count > before,
    );
    expect(after).toBeGreaterThan(before);
  });
});
