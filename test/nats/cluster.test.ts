/**
 * Three servers, each a process, on one JetStream: agents at different servers talk and claim, and when any of the
 * servers dies the others go on, with everything that was acknowledged, once.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../e2e/deadline.ts';
import { type HubProcess, isRunning, startHubProcess } from '../e2e/hub-process.ts';
import { fetchReply, type Json } from '../e2e/running-hub.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

const NAMES = ['a', 'b', 'c'] as const;

describe.skipIf(NO_NATS !== null)(`three servers ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  const dir = mkdtempSync(join(tmpdir(), 'synod-cluster-'));
  const servers = new Map<string, HubProcess>();

  async function start(name: string): Promise<void> {
    const store = `nats://127.0.0.1:${node.port}/synod?replicas=1&durability=relaxed`;
    const args = ['--store', store, '--server-name', name, '--auth', 'open'];
    const started = await startHubProcess(join(dir, name), { args });
    if (!isRunning(started)) throw new Error(started.stderr);
    servers.set(name, started);
  }

  /** The answer, or null where the server is not there or refuses. */
  async function ask(
    server: string,
    agent: string,
    operation: string,
    input: unknown,
  ): Promise<Json> {
    const hub = servers.get(server);
    const reply = await fetchReply(`${hub?.url}/v1/ops/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-sox-agent-id': agent },
      body: JSON.stringify(input),
    }).catch(() => null);
    return reply === null || reply.status !== 200 ? { refused: reply?.body ?? 'gone' } : reply.body;
  }

  const sequencer = async (at: string): Promise<string | null> =>
    (await ask(at, 'ada', 'status', {})).cluster?.sequencer ?? null;

  beforeAll(async () => {
    node = await openNatsNode();
    for (const name of NAMES) await start(name);
  }, 120_000);
  afterAll(async () => {
    for (const server of servers.values()) await server.kill();
    await node?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('[SQ1] what is said at one is read at another, and one file has one holder', async () => {
    await ask('b', 'bob', 'subscribe', { pattern: 'general' });
    for (const name of NAMES) {
      const said = await ask(name, 'ada', 'send', { channel: 'general', body: { from: name } });
      expect(said.seq).toBeGreaterThan(0);
    }
    const { messages } = await ask('c', 'bob', 'recv', {});
    expect(messages.map((one: Json) => one.body.from)).toEqual([...NAMES]);
    expect((await ask('b', 'bob', 'recv', {})).messages).toEqual([]);
    const scope = { paths: ['src/x.ts'], worktree: '/srv/repo' };
    const taken = await Promise.all(
      NAMES.map((name) => ask(name, `worker-${name}`, 'claims_take', { task_id: name, ...scope })),
    );
    expect(taken.filter((one) => one.refused === undefined)).toHaveLength(1);
    const named = await Promise.all(NAMES.map(sequencer));
    expect(new Set(named).size).toBe(1);
    expect(named[0]).toMatch(/^[abc]$/);
  });

  test('[SQ2] [SQ3] any server dies: the others go on within seconds, nothing acknowledged is lost or doubled', async () => {
    const acknowledged: string[] = [];
    let count = 0;
    const say = async (at: string): Promise<boolean> => {
      const text = `message ${count++}`;
      const key = `key-${text}`;
      const input = { channel: 'soak', body: { text }, idempotency_key: key };
      const said = await ask(at, 'ada', 'send', input);
      if (said.refused === undefined) acknowledged.push(text);
      return said.refused === undefined;
    };
    await ask('a', 'bob', 'subscribe', { pattern: 'soak' });
    for (const victim of NAMES) {
      const others = NAMES.filter((name) => name !== victim);
      const sending = NAMES.map(async (name) => {
        for (let i = 0; i < 10; i++) await say(name);
      });
      await servers.get(victim)?.kill();
      await Promise.all(sending);
      for (const other of others) {
        await until(`${other} goes on without ${victim}`, () => say(other), Boolean);
      }
      await start(victim);
      await until(`${victim} is back`, () => say(victim), Boolean);
    }
    const read: string[] = [];
    for (;;) {
      const { messages } = await ask('a', 'bob', 'recv', {});
      if (messages.length === 0) break;
      read.push(...messages.map((one: Json) => one.body.text));
    }
    expect(acknowledged.filter((text) => !read.includes(text))).toEqual([]);
    expect(read).toHaveLength(new Set(read).size);
    expect(acknowledged.length).toBeGreaterThan(30);
  }, 180_000);
});
