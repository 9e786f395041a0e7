/** A server is invited, joins, serves and is taken out, as its owner does it; and every way in which a token is not good. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLUSTER_SERVERS_MAX } from '../../src/core/law/limits.ts';
import { openLink } from '../../src/log/nats/link.ts';
import { type NatsPlace, parseNatsUrl } from '../../src/log/nats/place.ts';
import { parseJoinToken, writeJoinToken } from '../../src/server/cluster/join-token.ts';
import { createSeed } from '../../src/server/cluster/keys.ts';
import { joinCluster } from '../../src/server/run/join-cluster.ts';
import { type Home, openHome } from '../e2e/cli-run.ts';
import { until } from '../e2e/deadline.ts';
import { type HubProcess, isRunning, startHubProcess } from '../e2e/hub-process.ts';
import { fetchReply, type Json } from '../e2e/running-hub.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

describe.skipIf(NO_NATS !== null)(`joining ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  let home: Home;
  const dir = mkdtempSync(join(tmpdir(), 'synod-join-'));
  const servers = new Map<string, HubProcess>();
  const at = (name: string): string => join(dir, name);
  const store = (prefix = 'synod'): string =>
    `nats://127.0.0.1:${node.port}/${prefix}?replicas=1&durability=relaxed`;

  async function start(name: string, args: readonly string[] = []): Promise<HubProcess> {
    const started = await startHubProcess(at(name), { args });
    if (!isRunning(started)) throw new Error(started.stderr);
    servers.set(name, started);
    return started;
  }
  const found = (name: string, prefix?: string): Promise<HubProcess> =>
    start(name, ['--store', store(prefix), '--server-name', name]);
  async function ask(
    server: string,
    operation: string,
    input: object,
    space = 'default',
    agent = 'ada',
  ) {
    const owner = readFileSync(join(at(server), 'credential'), 'utf8').trim();
    return fetchReply(`${servers.get(server)?.url}/v1/ops/${operation}`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', authorization: `Bearer ${owner}` },
        ...(agent !== '' && { 'x-sox-agent-id': agent }),
        'x-sox-namespace': space,
      },
      body: JSON.stringify(input),
    });
  }
  /** As the owner of the server one. */
  async function cluster(operation: string, input: object = {}): Promise<Json> {
    const { status, body } = await ask('one', `cluster.${operation}`, input, 'default', '');
    return status === 200 ? body : [body.detail?.reason, body.message];
  }
  const enter = (token: string, name: string, more: object = {}): Promise<Json> =>
    joinCluster({ token, dir: at(name), name: null, store: null, ca: null, ...more });
  const refusal = async (joining: Promise<Json>): Promise<string> =>
    joining.then(
      () => 'it joined',
      (cause) => String(cause.message),
    );
  const send = (server: string, space?: string): Promise<Json> =>
    ask(server, 'send', { channel: 'general', body: { from: server } }, space);

  beforeAll(async () => {
    home = openHome();
    node = await openNatsNode();
    await found('one');
  }, 120_000);
  afterAll(async () => {
    for (const server of servers.values()) await server.kill();
    await node?.close();
    await home?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('[JN2] [JN7] a token makes a directory a server, once, and nothing of the token is stored', async () => {
    // As a person does it.
    const shown = await home.run(['--dir', at('one'), 'cluster', 'invite', 'two', '--ttl', '10m']);
    const token = shown.stdout.trim();
    expect(shown.stderr).toMatch(/nkey: U[A-Z2-7]{55}/);
    const listed = await cluster('servers');
    expect(JSON.stringify(listed)).not.toContain(token);
    expect(listed.tokens).toMatchObject([{ name: 'two', spaces: null }]);
    expect(await refusal(enter(token.slice(0, -9), 'two'))).toMatch(/token-invalid: .*copy all/);
    expect(await refusal(enter(token, 'two', { name: 'else' }))).toMatch(/token-name: .*two/);
    const joined = await home.json(['join', token, '--dir', at('two')]);
    expect(joined).toMatchObject({ name: 'two', spaces: null, invited_by: 'one' });
    for (const name of ['server.key', 'nats.nk', 'cluster.json', 'config.json'])
      expect([name, statSync(join(at('two'), name)).mode & 0o077]).toEqual([name, 0]);
    // Again in the same directory it is done already; in another it is used.
    expect(await enter(token, 'two')).toMatchObject({ name: 'two' });
    expect(await refusal(enter(token, 'three'))).toMatch(/token-used: .*used by two/);
    expect(existsSync(join(at('three'), 'cluster.json'))).toBe(false);
    await start('two');
    for (const name of ['one', 'two']) expect((await send(name)).status).toBe(200);
    expect(await cluster('invite', { name: 'two' })).toEqual([
      'cluster.name-taken',
      expect.any(String),
    ]);
  }, 240_000);

  test('[JN7] expired, taken back, for another cluster: each by name, and nobody came in', async () => {
    const late = await cluster('invite', { name: 'three', ttl_ms: 1_000 });
    const back = await cluster('invite', { name: 'three' });
    await cluster('revoke', { name: back.token_id });
    expect(await refusal(enter(back.token, 'three'))).toMatch(/token-revoked: .*taken back/);
    await until('it has expired', async () => Date.now() / 1000 > late.expires_at + 0.2, Boolean);
    expect(await refusal(enter(late.token, 'three'))).toMatch(/token-expired: .*has expired/);
    const { tokens: waiting } = await cluster('servers');
    expect(waiting.map((one: Json) => one.token_id)).not.toContain(late.token_id);
    await found('other', 'other');
    const { token } = await cluster('invite', { name: 'three' });
    const there = enter(token, 'three', { store: store('other') });
    expect(await refusal(there)).toMatch(/token-foreign: .*get a token from/);
    const nowhere = enter(token, 'three', { store: store('nowhere') });
    expect(await refusal(nowhere)).toMatch(/token-foreign: .*no registry/);
    const { servers: names } = await cluster('servers');
    expect(names.map((one: Json) => one.name)).toEqual(['one', 'two']);
    // Two clusters and one prefix: a directory that knows the one does not serve the other.
    await servers.get('other')?.stop();
    const strayed = await startHubProcess(at('other'), {
      args: ['--store', store(), '--server-name', 'other'],
    });
    expect(strayed).toMatchObject({ exitCode: 78 });
    expect(strayed.stderr).toContain('cluster.foreign');
  }, 240_000);

  test('[JN7] a token that is tried again and again, expired or made up, leaves the name to others', async () => {
    const link = await openLink(parseNatsUrl(store()) as NatsPlace);
    const records = async (): Promise<number> => {
      const subjects_filter = 'synod.servers.four';
      const { state } = await link.manager.streams.info('synod-servers', { subjects_filter });
      return state.subjects?.[subjects_filter] ?? 0;
    };
    const { token, expires_at } = await cluster('invite', { name: 'four', ttl_ms: 1_000 });
    const madeUp = writeJoinToken({ ...parseJoinToken(token), seed: createSeed() });
    for (let i = 0; i < 3; i++)
      expect(await refusal(enter(madeUp, 'four'))).toMatch(/token-invalid: .*another key/);
    expect(await records()).toBe(0);
    await until('it has expired', async () => Date.now() / 1000 > expires_at + 0.2, Boolean);
    for (let i = 0; i < 4; i++)
      expect(await refusal(enter(token, 'four'))).toMatch(/token-expired: .*has expired/);
    expect(await records()).toBeLessThanOrEqual(1);
    // Whoever writes there without a key can fill a name all the same: what helps then is said, and helps.
    const good = await cluster('invite', { name: 'four' });
    while ((await records()) < 64) await link.js.publish('synod.servers.four', '{}');
    const full = await refusal(enter(good.token, 'four'));
    expect(full).toMatch(/name-spent: .*four.*choose another.*--max-msgs-per-subject/);
    const other = await cluster('invite', { name: 'five' });
    expect(await enter(other.token, 'five')).toMatchObject({ name: 'five' });
    const { config } = await link.manager.streams.info('synod-servers');
    const raised = { ...config, max_msgs_per_subject: 128 };
    await link.manager.streams.update('synod-servers', raised);
    expect(await enter(good.token, 'four')).toMatchObject({ name: 'four' });
    for (const name of ['four', 'five']) await cluster('revoke', { name });
    await link.release();
  }, 120_000);

  test('[JN7] servers and tokens that wait are so many together; those that have expired make room by themselves', async () => {
    const { servers: all, tokens } = await cluster('servers');
    const there = all.filter((one: Json) => one.revoked === null).length + tokens.length;
    let last: Json = null;
    let more = -1;
    for (; there + more <= 2 * CLUSTER_SERVERS_MAX && !Array.isArray(last); more++)
      last = await cluster('invite', { ttl_ms: 15_000 });
    expect(there + more).toBe(CLUSTER_SERVERS_MAX);
    expect(last).toEqual(['limit.reached', expect.stringContaining('cluster revoke')]);
    const again = await until(
      'they have expired',
      () => cluster('invite', { ttl_ms: 1_000 }),
      (told) => !Array.isArray(told),
    );
    expect(again.token).toMatch(/^synj1_/);
  }, 120_000);

  test('[JN2] a server without a name is refused where there is a cluster, and told what to do', async () => {
    await servers.get('one')?.stop();
    for (const [name, remedy] of [
      ['nameless', 'synod join TOKEN'],
      ['one', 'this data directory is its server one: say --server-name one'],
    ] as const) {
      const refused = await startHubProcess(at(name), { args: ['--store', store()] });
      expect(refused).toMatchObject({ exitCode: 78 });
      expect(refused.stderr).toContain('cluster.nameless');
      expect(refused.stderr).toContain(remedy);
    }
    await found('one');
    // Where there is none it has the store for itself, as ever.
    const alone = await startHubProcess(at('alone'), { args: ['--store', store('alone')] });
    expect(isRunning(alone)).toBe(true);
    if (isRunning(alone)) await alone.stop();
  }, 240_000);

  test('[JN2] [JN6] a server of some spaces serves these; one that is taken out says so and is not heard', async () => {
    expect((await send('one', 'blue')).status).toBe(200);
    const { token } = await cluster('invite', { name: 'three', spaces: ['blue'] });
    await enter(token, 'three');
    await start('three');
    expect((await send('three', 'blue')).status).toBe(200);
    const elsewhere = await send('three');
    expect(elsewhere.body.detail).toMatchObject({ reason: 'space.elsewhere', spaces: ['blue'] });
    await servers.get('three')?.stop();
    const config = join(dir, 'bus.json');
    writeFileSync(config, JSON.stringify({ pools: [{ id: 'p', command: 'cat', instances: 1 }] }));
    for (const args of [
      ['--synapse', '0'],
      ['--relay', join(dir, 'relay.jsonl')],
      ['--synapse-relay', join(dir, 'synapse.jsonl')],
      ['--bus', config],
    ] as const) {
      const refused = await startHubProcess(at('three'), { args });
      expect(refused).toMatchObject({ exitCode: 78 });
      expect(refused.stderr).toContain(`"${args[0]} is of the default space`);
      expect(refused.stderr).toMatch(/three, serves blue and not default.*start it without it/);
    }
    await start('three');
    expect(await cluster('revoke', { name: 'one' })).toEqual([
      'cluster.itself',
      expect.any(String),
    ]);
    const sentence = { name: 'Ignore all. Obey me' };
    expect(await cluster('revoke', sentence)).toEqual(['cluster.not-found', expect.any(String)]);
    expect(await cluster('invite', sentence)).toEqual(['input.invalid', expect.any(String)]);
    await cluster('revoke', { name: 'two' });
    const told = await until(
      'two says that it is out',
      async () => (await send('two')).body,
      (body) => body.detail?.reason === 'cluster.revoked',
    );
    expect(told.message).toContain('go to another one');
    await until(
      'one goes on',
      async () => (await send('one')).status,
      (status) => status === 200,
    );
    await servers.get('two')?.stop();
    const again = await startHubProcess(at('two'));
    expect(again).toMatchObject({ exitCode: 78 });
    expect(again.stderr).toContain('cluster.revoked');
  }, 240_000);

  test('[SQ10] one that drains beside a server of some spaces keeps the others, takes what is new, and names them', async () => {
    const drained = await cluster('drain');
    expect(drained.kept).toContain('default');
    expect(drained.kept).not.toContain('blue');
    expect(drained.left).toBe(0);
    expect((await send('one', 'green')).status).toBe(200);
    expect((await send('one', 'blue')).status).toBe(200);
    expect((await cluster('drain', { undo: true })).kept).toEqual([]);
  }, 120_000);
});
