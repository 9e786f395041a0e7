/**
 * A process that may speak to NATS and is no server of the cluster: what it says is dropped, what it repeats is not done
 * again, what it claims is not believed, and a server that did not join serves nothing.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { jetstream } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../e2e/deadline.ts';
import { type HubProcess, isRunning, startHubProcess } from '../e2e/hub-process.ts';
import { fetchReply, type Json } from '../e2e/running-hub.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

describe.skipIf(NO_NATS !== null)(`a stranger at NATS ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  let stranger: NatsConnection;
  const dir = mkdtempSync(join(tmpdir(), 'synod-strangers-'));
  const servers = new Map<string, HubProcess>();
  const args = (name: string): string[] => [
    ...['--store', `nats://127.0.0.1:${node.port}/synod?replicas=1&durability=relaxed`],
    ...['--server-name', name, '--auth', 'open'],
  ];

  async function ask(server: string, operation: string, input: object = {}): Promise<Json> {
    const reply = await fetchReply(`${servers.get(server)?.url}/v1/ops/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-sox-agent-id': 'ada' },
      body: JSON.stringify(input),
    });
    if (reply.status !== 200) throw new Error(reply.text);
    return reply.body;
  }
  const say = (server: string, text: string): Promise<Json> =>
    ask(server, 'send', { channel: 'general', body: { text }, idempotency_key: text });
  const said = async (): Promise<string[]> =>
    (await ask('a', 'replay', { channel: 'general' })).messages.map((one: Json) => one.body.text);

  beforeAll(async () => {
    node = await openNatsNode();
    for (const name of ['a', 'b']) {
      const started = await startHubProcess(join(dir, name), { args: args(name) });
      if (!isRunning(started)) throw new Error(started.stderr);
      servers.set(name, started);
    }
    await ask('a', 'subscribe', { pattern: 'general' });
    stranger = await connect({ servers: [`127.0.0.1:${node.port}`] });
  }, 120_000);
  afterAll(async () => {
    await stranger?.close();
    for (const server of servers.values()) await server.kill();
    await node?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('[JN3] [JN4] what it asks is not done, and what it repeats not again', async () => {
    const heard: { subject: string; data: Uint8Array }[] = [];
    stranger.subscribe('synod.ask.>', {
      callback: (_, { subject, data, reply }) => {
        heard.push({ subject, data });
        // It is quicker than the server, and its answers count for nothing.
        if (reply) stranger.publish(reply, serialize({ outcomes: [{ seq: 1 }], length: 0 }));
      },
    });
    await stranger.flush();
    for (const name of ['a', 'b']) expect((await say(name, `by ${name}`)).seq).toBeGreaterThan(0);
    // Of two servers one forwards.
    const [genuine] = await until(
      'an ask was heard',
      async () => heard,
      (all) => all.length > 0,
    );
    const { entries } = await ask('a', 'status');
    const subject = genuine?.subject as string;
    for (let i = 0; i < 20; i++) stranger.publish(subject, genuine?.data);
    const forged = serialize([{ type: 'message.send', by: { name: 'evil' }, channel: 'general' }]);
    for (let i = 0; i < 20; i++) stranger.publish(subject, forged);
    for (const word of ['whisper.default', 'news', 'hello', 'hello.a', 'hello.b'])
      for (let i = 0; i < 50; i++) stranger.publish(`synod.${word}`, serialize([{ evil: true }]));
    await stranger.flush();
    await say('b', 'after');
    await say('a', 'after too');
    expect(await said()).toEqual(['by a', 'by b', 'after', 'after too']);
    expect((await ask('a', 'status')).entries).toBe(entries + 2);
    // Of some hundred messages somebody is told in a line or two.
    const told = [...servers.values()].map((one) => one.stderr().split('were dropped').length - 1);
    expect(Math.max(...told)).toBeGreaterThan(0);
    expect(Math.max(...told)).toBeLessThan(3);
  });

  test('[JN5] a lease that it writes is nobody’s, and the servers go on', async () => {
    const js = jetstream(stranger);
    const word = { by: 'evil', holder: 'evil', isReleased: false };
    const named = new Set<string>();
    for (let i = 0; i < 5; i++) {
      await js.publish('synod.lease.default', JSON.stringify(word));
      const text = `lease ${i}`;
      await until('somebody decides', () => say('b', text).catch(() => null), Boolean);
      for (const name of ['a', 'b'])
        named.add((await ask(name, 'status')).cluster.sequencer ?? 'nobody');
    }
    expect(named).not.toContain('evil');
    expect((await said()).filter((text) => text.startsWith('lease'))).toHaveLength(5);
  }, 120_000);

  test('[JN1] [JN2] what it writes to the registry lets nobody in; a server that did not join is refused by name', async () => {
    const js = jetstream(stranger);
    for (const text of ['', '{}', JSON.stringify({ record: '{"kind":"joined"}', signature: '' })])
      await js.publish('synod.servers.evil', text);
    const outside = join(dir, 'evil');
    mkdirSync(outside, { mode: 0o700 });
    // Not by the way of the tests, which would have it invited.
    const words = args('evil');
    const flags = words.flatMap((one, i) => (i % 2 === 0 ? [`${one}=${words[i + 1]}`] : []));
    const started = await startHubProcess(outside, { args: flags });
    expect(started).toMatchObject({
      exitCode: 78,
      stderr: expect.stringContaining('synod cluster invite evil'),
    });
    expect(await say('a', 'still here')).toMatchObject({ seq: expect.any(Number) });
  });
});
