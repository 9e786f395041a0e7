/** The composition root: what is there when a hub is ready, what is left when it is gone, what a restart keeps. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { within } from '../../../test/e2e/deadline.ts';
import { fetchReply, type Json, openRunningHub } from '../../../test/e2e/running-hub.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'synod-server-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe('a hub that is ready', () => {
  test('[SV1] has said where it is, and is gone without a trace of that when it stops', async () => {
    const hub = await openRunningHub({ dir });
    const file = JSON.parse(await readFile(join(dir, 'hub.json'), 'utf8'));
    expect(file).toMatchObject({ url: hub.url, socket: join(dir, 'hub.sock'), pid: process.pid });
    expect(Date.parse(file.since)).toBeGreaterThan(Date.now() - 60_000);
    expect((await stat(join(dir, 'hub.json'))).mode & 0o777).toBe(0o600);
    expect((await fetchReply(`${file.url}/health`)).status).toBe(200);
    await hub.close();
    const left = await readdir(dir);
    expect(left.sort()).toEqual(['credential', 'lock.sqlite', 'spaces']);
  });

  test('[SV1] takes over the socket file that a killed hub left', async () => {
    await writeFile(join(dir, 'hub.sock'), '');
    const hub = await openRunningHub({ dir });
    const { status } = await fetchReply('http://x/health', { socketPath: hub.socketPath });
    expect(status).toBe(200);
    await hub.close();
  });

  test('[SV1] goes without a Unix socket where its name would be too long, and says so', async () => {
    const long = join(dir, 'd'.repeat(100));
    const hub = await openRunningHub({ dir: long });
    expect(hub.socketPath).toBe('');
    expect(hub.log.join('\n')).toContain('no Unix socket');
    expect((await fetchReply(`${hub.url}/health`)).status).toBe(200);
    await hub.close();
  });

  test('[SV1] serves no Unix socket when told not to', async () => {
    const hub = await openRunningHub({ dir, flags: { socket: false } });
    expect(await readdir(dir)).not.toContain('hub.sock');
    await hub.close();
  });

  test('[SV2] that cannot open its port leaves nothing open and nothing locked', async () => {
    const first = await openRunningHub();
    const flags = { port: String(first.port) };
    await expect(openRunningHub({ dir, flags })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    const second = await openRunningHub({ dir });
    await second.close();
    await first.close();
  });
});

describe('a hub that stops', () => {
  test('[SV3] ends long waits at once, and keeps what was asked before', async () => {
    const hub = await openRunningHub({ dir });
    await hub.ask('ada', 'subscribe', { pattern: 'c' });
    const waiting = hub.post('recv', { wait_ms: 300_000 }, hub.as('ada')).catch(() => null);
    await hub.ask('bob', 'whoami');
    const sending = hub.ask('bob', 'send', { channel: 'other', body: {} });
    await sending;
    await within('the hub stops', hub.close(), 3_000);
    await within('the wait ends', waiting, 3_000);
  });
});

describe('a restart', () => {
  test('[SV4] keeps subscriptions, what is owed, groups, acks, tokens, settings and spaces', async () => {
    let hub = await openRunningHub({ dir });
    await hub.ask('ada', 'subscribe', { pattern: 'team/*' });
    const sent = await hub.ask('bob', 'send', { channel: 'team/a', body: { n: 1 } });
    await hub.ask('bob', 'send', { channel: 'team/a', body: { n: 2 } });
    await hub.ask('ada', 'recv', { max_messages: 1 });
    await hub.ask('ada', 'channels_ack', { message_id: sent.message_id, status: 'done' });
    await hub.ask('ada', 'group_create', { group_id: 'g' });
    await hub.admin('channels_configure', { channel: 'typed', schema: { required: ['n'] } });
    const { token } = await hub.admin('tokens_create', { agent_id: 'carl' }, 'lab');
    const before = await hub.mark();
    await hub.close();

    hub = await openRunningHub({ dir });
    // All that came is the name of the snapshot that stopping took [H21].
    expect(Number.parseInt(await hub.mark(), 10)).toBe(Number.parseInt(before, 10) + 1);
    expect((await hub.ask('ada', 'whoami')).subscriptions).toEqual(['team/*', 'group/g']);
    const { messages } = await hub.ask('ada', 'recv');
    expect(messages.map((one: Json) => one.body.n)).toEqual([2]);
    const { receipts } = await hub.ask('bob', 'receipts_get', { message_id: sent.message_id });
    expect(receipts[0]).toMatchObject({ agent_id: 'ada', state: 'acted' });
    expect((await hub.ask('ada', 'group_list')).groups).toHaveLength(1);
    const bad = await hub.post('send', { channel: 'typed', body: {} }, hub.as('bob'));
    expect(bad.body.detail.reason).toBe('body.invalid');
    const carl = await hub.post('whoami', {}, { authorization: `Bearer ${token}` });
    expect(carl.body).toMatchObject({ agent_id: 'carl', space: 'lab' });
    await hub.close();
  });

  test.each(['file', 'sqlite'])(
    '[SV4] keeps them in a %s store of its own as well',
    async (kind) => {
      const store = `${kind}://${join(dir, 'elsewhere.log')}`;
      let hub = await openRunningHub({ dir: join(dir, 'hub'), flags: { store } });
      await hub.ask('ada', 'subscribe', { pattern: 'c' });
      await hub.ask('bob', 'send', { channel: 'c', body: { n: 1 } });
      await hub.ask('ada', 'subscribe', { pattern: 'c' }, 'lab');
      await hub.close();
      hub = await openRunningHub({ dir: join(dir, 'hub'), flags: { store } });
      expect((await hub.ask('ada', 'recv')).messages).toHaveLength(1);
      expect((await hub.ask('ada', 'whoami', {}, 'lab')).subscriptions).toEqual(['c']);
      await hub.close();
    },
  );
});

describe('the owner’s credential', () => {
  test('[I7] is made once, and a file that others could read is closed', async () => {
    let hub = await openRunningHub({ dir });
    const { owner } = hub;
    expect(owner).toMatch(/^own_[\w-]{43}$/);
    await hub.close();
    await chmod(join(dir, 'credential'), 0o644);
    hub = await openRunningHub({ dir });
    expect(hub.owner).toBe(owner);
    expect((await stat(join(dir, 'credential'))).mode & 0o777).toBe(0o600);
    await hub.close();
  });

  test('[I7] that is empty, as a crash may leave it, is made anew and opens nothing', async () => {
    await writeFile(join(dir, 'credential'), '\n');
    const hub = await openRunningHub({ dir });
    expect(hub.owner).toMatch(/^own_/);
    for (const wrong of ['', ' ', 'own_']) {
      const { status } = await hub.post('whoami', {}, { authorization: `Bearer ${wrong}` });
      expect(status).toBe(401);
    }
    await hub.close();
  });

  test('[ST1] that cannot be read is named, with the way out', async () => {
    await mkdir(join(dir, 'credential'));
    await expect(openRunningHub({ dir })).rejects.toMatchObject({
      code: 'log.unavailable',
      message: expect.stringContaining(join(dir, 'credential')),
    });
  });
});
