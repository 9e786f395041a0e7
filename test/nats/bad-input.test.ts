/** What can be wrong with a NATS server or with what lies there: told at the door with what to do, and nothing is lost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager, type StreamConfig } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../e2e/deadline.ts';
import { type HubProcess, isRunning, startHubProcess } from '../e2e/hub-process.ts';
import { fetchReply, type Json } from '../e2e/running-hub.ts';
import { noise } from './noise.ts';
import { type NatsNode, NO_NATS, type NodeOptions, openNatsNode } from './server.ts';

describe.skipIf(NO_NATS !== null)(`at the door ${NO_NATS ?? ''}`, () => {
  async function openNode(options: NodeOptions = {}): Promise<NatsNode> {
    const node = await openNatsNode(options);
    onTestFinished(() => node.close());
    return node;
  }

  function openDir(): string {
    const dir = mkdtempSync(join(tmpdir(), 'synod-bad-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    return dir;
  }

  async function serve(store: string, ...more: string[]): Promise<HubProcess> {
    const started = await startHubProcess(openDir(), {
      args: ['--store', store, '--auth', 'open', ...more],
    });
    if (!isRunning(started)) throw new Error(started.stderr);
    onTestFinished(() => started.kill());
    return started;
  }

  /** What it says when it does not start. */
  async function refused(store: string): Promise<string> {
    const started = await startHubProcess(openDir(), { args: ['--store', store] });
    if (isRunning(started)) await started.kill();
    expect(isRunning(started)).toBe(false);
    return (started as { stderr: string }).stderr;
  }

  const ask = (
    hub: HubProcess,
    operation: string,
    input: unknown,
  ): Promise<{ status: number; body: Json }> =>
    fetchReply(`${hub.url}/v1/ops/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-sox-agent-id': 'ada' },
      body: JSON.stringify(input),
    });
  const send = (hub: HubProcess, text: string) =>
    ask(hub, 'send', { channel: 'general', body: { text } });
  const read = async (hub: HubProcess): Promise<string[]> => {
    const texts: string[] = [];
    for (let since = 1; ; ) {
      const { body } = await ask(hub, 'replay', { channel: 'general', since, limit: 1000 });
      texts.push(...body.messages.map((one: Json) => one.body.text));
      if (!body.has_more) return texts;
      since = body.messages.at(-1).seq + 1;
    }
  };
  const one = (port: number, more = ''): string =>
    `nats://127.0.0.1:${port}/x?replicas=1&durability=relaxed${more}`;

  test('[NL4] wrong credentials, wrong permissions, a file that is not there, TLS where there is none', async () => {
    const locked = await openNode({ top: 'authorization { user: ada, password: secret }' });
    const wrong = await refused(`nats://ada:guess@127.0.0.1:${locked.port}/x`);
    expect(wrong).toContain('the server refuses these credentials');
    expect(wrong).toContain('mend the user, token or creds of the store');
    expect(wrong).not.toContain('guess');
    expect(await refused(one(locked.port, '&token=guess'))).not.toContain('guess');
    expect(await refused(one(locked.port, '&creds=/no/such.creds'))).toContain('mend creds or ca');
    expect(await refused(one(locked.port, '&tls=on'))).toContain('do not agree about TLS');
    const narrow = await openNode({
      top: 'authorization { users: [{user: a, password: b, permissions: {publish: ["z"]}}] }',
    });
    const denied = await refused(`nats://a:b@127.0.0.1:${narrow.port}/x?replicas=1`);
    expect(denied).toContain('its permissions need the subjects of the prefix');
  }, 120_000);

  test('[NL6] a stream that forgets is not opened, and what it has is not touched', async () => {
    const node = await openNode();
    const hub = await serve(one(node.port));
    await ask(hub, 'subscribe', { pattern: 'general' });
    expect((await send(hub, 'kept')).status).toBe(200);
    expect(await hub.stop()).toBe(0);
    const connection = await connect({ port: node.port });
    onTestFinished(() => connection.close());
    const { streams } = await jetstreamManager(connection);
    const names = (await streams.list().next()).map(({ config }) => config.name);
    const log = names.find((name) => name.startsWith('x-log-')) ?? '';
    const bad: [stream: string, change: Partial<StreamConfig>, sentence: string][] = [
      [log, { max_age: 3600e9 }, 'drops what is older than 3600 s'],
      [log, { max_msgs_per_subject: 5 }, '--max-msgs-per-subject=-1'],
      [log, { max_msgs: 5, discard: 'old' as never }, 'drops all but the last 5'],
      [log, { max_bytes: 5e6, discard: 'old' as never }, '--max-bytes=-1'],
      ['x-spaces', { max_age: 3600e9 }, '--max-age=0'],
    ];
    for (const [stream, change, sentence] of bad) {
      const { config } = await streams.info(stream);
      await streams.update(stream, change);
      const said = await refused(one(node.port));
      expect(said).toContain(sentence);
      expect(said).toContain('nothing was opened');
      await streams.update(stream, config);
    }
    // A bound that refuses is another matter: nothing is lost by it.
    await streams.update(log, { max_bytes: 5e6 });
    expect(await read(await serve(one(node.port)))).toEqual(['kept']);
  }, 180_000);

  test('[NL6] the log of another space, and what is no log at all, are refused by name', async () => {
    const node = await openNode();
    const hub = await serve(one(node.port));
    await ask(hub, 'subscribe', { pattern: 'general' });
    await send(hub, 'of default');
    const connection = await connect({ port: node.port });
    onTestFinished(() => connection.close());
    const { streams } = await jetstreamManager(connection);
    const found = await streams.getMessage('x-spaces', { last_by_subj: 'x.spaces.default' });
    await connection.request('x.spaces.copied', found?.data);
    await connection.request('x.spaces.strange', 'not a pointer');
    const inSpace = (space: string) =>
      fetchReply(`${hub.url}/v1/ops/send`, {
        method: 'POST',
        headers: {
          ...{ 'content-type': 'application/json', 'x-sox-agent-id': 'ada' },
          'x-sox-namespace': space,
        },
        body: JSON.stringify({ channel: 'general', body: { text: space } }),
      });
    expect((await inSpace('copied')).status).not.toBe(200);
    expect((await inSpace('strange')).status).not.toBe(200);
    await until(
      'it is said why',
      async () => hub.stderr(),
      (text) => text.includes('strange'),
    );
    expect(hub.stderr()).toContain('the log of the space default');
    expect(hub.stderr()).toContain('something else');
    // Nobody else is touched, and the next start is not hindered.
    expect((await send(hub, 'more')).status).toBe(200);
    expect(await hub.stop()).toBe(0);
    expect(await read(await serve(one(node.port)))).toEqual(['of default', 'more']);
  }, 120_000);

  test('[NL4] a store that is full refuses, keeps what it acknowledged, and goes on when there is room', async () => {
    const node = await openNode({ settings: 'max_file_store: 2MB' });
    const hub = await serve(one(node.port));
    await ask(hub, 'subscribe', { pattern: 'general' });
    const filler = noise(100_000);
    const acknowledged: string[] = [];
    let last = { status: 200, body: {} as Json };
    for (let i = 0; i < 40 && last.status === 200; i++) {
      const text = `${i} ${filler}`;
      last = await send(hub, text);
      if (last.status === 200) acknowledged.push(text);
    }
    expect(last).toMatchObject({ status: 503, body: { detail: { reason: 'store.unavailable' } } });
    expect(last.body.message).toContain('nothing was changed');
    await until(
      'it is said why',
      async () => hub.stderr(),
      (text) => text.includes('no room left'),
    );
    expect(acknowledged.length).toBeGreaterThan(5);
    await node.kill();
    node.configure('max_file_store: 200MB');
    await node.start();
    await until(
      'it takes more',
      () => send(hub, 'more'),
      ({ status }) => status === 200,
      60_000,
    );
    const texts = await read(hub);
    expect(texts.filter((text) => text !== 'more')).toEqual(acknowledged);
  }, 120_000);

  test('[NL1] what is larger than a message of the server may be is taken at any server, whole', async () => {
    const node = await openNode({ top: 'max_payload: 65536' });
    const [a, b] = [
      await serve(one(node.port), '--server-name', 'a'),
      await serve(one(node.port), '--server-name', 'b'),
    ];
    await ask(a, 'subscribe', { pattern: 'general' });
    const large = [noise(300_000), noise(300_000)];
    expect((await send(a, large[0] as string)).status).toBe(200);
    expect((await send(b, large[1] as string)).status).toBe(200);
    for (const hub of [a, b]) expect(await read(hub)).toEqual(large);
    // Beyond what a message may be at all it is refused, and nothing is stored of it.
    const huge = await send(b, 'c'.repeat(20_000_000)).then(
      ({ status }) => (status >= 400 ? 'refused' : 'taken'),
      // The hub does not read it to its end: whoever still writes may find the door closed before the answer.
      ({ code }) => (code === 'EPIPE' || code === 'ECONNRESET' ? 'refused' : code),
    );
    expect(huge).toBe('refused');
    expect(await read(b)).toEqual(large);
  }, 120_000);

  test('[SQ26] an answer larger than a message of NATS comes all the same, and keeps nobody waiting', async () => {
    const node = await openNode({ top: 'max_payload: 65536' });
    const hubs = [
      await serve(one(node.port), '--server-name', 'a'),
      await serve(one(node.port), '--server-name', 'b'),
    ] as const;
    const channels = Array.from({ length: 400 }, (_, i) => `${'c'.repeat(240)}${i}`);
    for (const channel of channels) await ask(hubs[0], 'send', { channel, body: {} });
    for (const hub of hubs) {
      const asked = performance.now();
      const [listed, sent] = await Promise.all([
        ask(hub, 'subscribe', { pattern: '*' }),
        send(hub, 'beside it'),
      ]);
      expect([listed.status, sent.status]).toEqual([200, 200]);
      expect(listed.body.subscribed).toEqual(expect.arrayContaining(channels));
      // Less than it takes to give an answer up.
      expect(performance.now() - asked).toBeLessThan(10_000);
    }
  }, 120_000);
});
