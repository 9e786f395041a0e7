/** How a space comes to be and goes, from the door: reading makes none, and one that was removed stays away. */
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isRunning, startHubProcess } from '../../../test/e2e/hub-process.ts';
import {
  fetchReply,
  type Json,
  openRunningHub,
  type RunningHub,
} from '../../../test/e2e/running-hub.ts';
import { isMaking } from '../../wire/operation.ts';
import { operationList } from '../../wire/operations/table.ts';

const files = (hub: RunningHub): Promise<string[]> => readdir(join(hub.dir, 'spaces'));
const spaceNames = async (hub: RunningHub): Promise<string[]> =>
  (await hub.admin('spaces_list')).spaces.map((one: Json) => one.name);

describe('a space that nobody made', () => {
  let hub: RunningHub;
  beforeAll(async () => {
    hub = await openRunningHub();
    await hub.admin('spaces_create', { name: 'research' });
  });
  afterAll(() => hub.close());

  const readers = operationList.filter((one) => !isMaking(one) && !one.isAboutSpaces);
  test.each(readers.filter((one) => !one.isStreaming).map((one) => one.name))(
    '[SP3] is not made by %s',
    async (name) => {
      const headers = { authorization: `Bearer ${hub.owner}`, 'x-sox-namespace': 'reserch' };
      const { body } = await hub.post(name, {}, headers);
      expect(['validation_error', 'identity_failure']).toContain(body.error_code);
      expect(await spaceNames(hub)).toEqual(['default', 'research']);
      expect((await files(hub)).filter((file) => file.startsWith('reserch'))).toEqual([]);
    },
  );

  test('[SP3] is refused to a reader with the nearest names and how to make one', async () => {
    const { status, body } = await hub.post('recv', {}, hub.as('ada', 'reserch'));
    expect([status, body.detail]).toEqual([
      404,
      { reason: 'space.not-found', space: 'reserch', nearest: ['research'] },
    ]);
    expect(body.message).toMatch(/Did you mean research\?.*spaces\.create/);
  });

  test('[SP3] is not made by a stream', async () => {
    const reply = await fetch(`${hub.url}/v1/stream`, { headers: hub.as('ada', 'reserch') });
    expect([reply.status, ((await reply.json()) as Json).detail.reason]).toEqual([
      404,
      'space.not-found',
    ]);
    expect(await spaceNames(hub)).toEqual(['default', 'research']);
  });

  test('[SP3] is made by the first write, by whoever may', async () => {
    await hub.ask('ada', 'send', { channel: 'c', body: { n: 1 } }, 'fresh');
    expect((await hub.ask('ada', 'whoami', {}, 'fresh')).space).toBe('fresh');
    expect(await files(hub)).toContain('fresh.sqlite');
  });

  test('[SP3] is not made by a write that is refused, and leaves no file', async () => {
    const refused = (operation: string, input: unknown): Promise<Json> =>
      hub.post(operation, input, hub.as('ada', 'reserch')).then(({ body }) => body.detail.reason);
    // All at once: who is refused last takes it away, and nobody is told that a store is down.
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        refused('send', { channel: i % 2 ? 'dm/ada' : 'sox/acks', body: {} }),
      ),
    );
    expect(new Set(all)).toEqual(new Set(['dm.not-canonical', 'channel.reserved']));
    expect(await spaceNames(hub)).not.toContain('reserch');
    expect((await files(hub)).filter((file) => file.startsWith('reserch'))).toEqual([]);
    const { body } = await hub.post('recv', {}, hub.as('ada', 'reserch'));
    expect(body.detail.reason).toBe('space.not-found');
  });

  test('[SP3] is made when one of those that ask at the same time is not refused', async () => {
    const send = (channel: string, to: string): Promise<number> =>
      hub.post('send', { channel, body: { n: 1 } }, hub.as('ada', to)).then(({ status }) => status);
    const channels = ['sox/acks', 'sox/acks', 'plain', 'sox/acks', 'plain'];
    for (const to of ['mixed-1', 'mixed-2']) {
      const codes = await Promise.all(channels.map((channel) => send(channel, to)));
      expect(codes.map((code) => code === 200)).toEqual([false, false, true, false, true]);
      const { channels: made } = await hub.ask('ada', 'list_channels', {}, to);
      expect(made).toMatchObject([{ name: 'plain' }]);
    }
  });

  test('[SP3] stays, though empty, when it is asked for by name while a write is refused', async () => {
    await Promise.all([
      hub.post('send', { channel: 'sox/acks', body: {} }, hub.as('ada', 'wanted')),
      hub.admin('spaces_create', { name: 'wanted' }),
    ]);
    await hub.post('send', { channel: 'sox/acks', body: {} }, hub.as('ada', 'wanted'));
    expect(await spaceNames(hub)).toContain('wanted');
  });

  test('[SP3] does not keep its visitor from the list of spaces, or from making another', async () => {
    expect((await hub.admin('spaces_list', {}, 'reserch')).spaces.length).toBeGreaterThan(1);
    await hub.admin('spaces_create', { name: 'other' }, 'reserch');
    expect(await spaceNames(hub)).not.toContain('reserch');
  });
});

describe('a space that was removed', () => {
  let hub: RunningHub;
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'synod-removed-'));
    hub = await openRunningHub({ dir });
    await hub.ask('ada', 'send', { channel: 'c', body: { n: 1 } }, 'lab');
  });
  afterEach(async () => {
    await hub.close();
    await rm(dir, { recursive: true, force: true });
  });
  const restart = async (): Promise<void> => {
    await hub.close();
    hub = await openRunningHub({ dir });
  };
  const send = () => hub.post('send', { channel: 'c', body: { n: 2 } }, hub.as('ada', 'lab'));
  const remove = (input: object = {}) => hub.admin('spaces_remove', { name: 'lab', ...input });

  test('[SP4] is refused by name to readers and writers, also after a restart, and is moved aside', async () => {
    const { kept, removed_at } = await remove();
    expect(existsSync(kept)).toBe(true);
    for (let round = 0; round < 2; round++) {
      for (const answer of [await send(), await hub.post('recv', {}, hub.as('ada', 'lab'))])
        expect([answer.status, answer.body.detail]).toEqual([
          410,
          { reason: 'space.removed', space: 'lab', removed_at },
        ]);
      expect(await spaceNames(hub)).toEqual(['default']);
      expect((await files(hub)).filter((file) => file.startsWith('lab'))).toEqual([basename(kept)]);
      await restart();
    }
  });

  test('[SP4] comes back empty by spaces.create alone, asked for from wherever', async () => {
    const { kept } = await remove();
    expect(await hub.admin('spaces_create', { name: 'lab' }, 'lab')).toMatchObject({
      created: true,
    });
    expect((await hub.ask('ada', 'list_channels', {}, 'lab')).channels).toEqual([]);
    expect((await send()).status).toBe(200);
    await restart();
    expect((await send()).status).toBe(200);
    expect(existsSync(kept)).toBe(true);
  });

  test('[SP4] is deleted when asked, at once or later, and its name stays refused', async () => {
    const { kept } = await remove();
    expect(statSync(kept).size).toBeGreaterThan(0);
    expect(await remove({ delete: true })).toMatchObject({ kept: null });
    expect(statSync(kept).size).toBe(0);
    await restart();
    expect((await send()).status).toBe(410);
    await hub.admin('spaces_create', { name: 'lab' });
    expect(existsSync(kept)).toBe(false);
  });

  test('[SP4] ends its feeds with the reason', async () => {
    const stream = await fetch(`${hub.url}/v1/stream`, { headers: hub.as('bob', 'lab') });
    await remove();
    expect(await stream.text()).toContain('"reason":"space_removed"');
  });

  test('[SP4] is removed by the owner alone, and the default space by nobody', async () => {
    const { token } = await hub.admin('tokens_create', { agent_id: 'root', kind: 'admin' });
    const headers = { authorization: `Bearer ${token}` };
    expect((await hub.post('spaces_remove', { name: 'lab' }, headers)).status).toBe(403);
    const owner = { authorization: `Bearer ${hub.owner}` };
    expect((await hub.post('spaces_remove', { name: 'default' }, owner)).status).toBe(403);
    expect((await hub.post('spaces_remove', { name: 'lob' }, owner)).body.detail).toMatchObject({
      reason: 'space.not-found',
      nearest: ['lab'],
    });
    expect((await send()).status).toBe(200);
  });

  test('[SP4] a crash after the one step that removes it leaves it removed, before it untouched', async () => {
    const whole = join(dir, 'spaces', 'lab.sqlite');
    const aside = `${whole}.REMOVED-1700000000000`;
    await hub.close();
    await rename(whole, aside);
    hub = await openRunningHub({ dir });
    expect((await send()).body.detail).toMatchObject({ reason: 'space.removed' });
    await hub.close();
    // Moved back by hand, it is the space it was.
    await rename(aside, whole);
    hub = await openRunningHub({ dir });
    expect((await send()).body.seq).toBe(2);
  });
});

test.each([
  ['a sqlite URL without a suffix', (dir: string) => `sqlite://${dir}/log`],
  ['a file URL', (dir: string) => `file://${dir}/log`],
])(
  '[SP4] a space in %s is removed, found removed after a restart, and made again',
  async (_, storeOf) => {
    const dir = await mkdtemp(join(tmpdir(), 'synod-removed-'));
    const options = { dir, flags: { store: storeOf(dir) } };
    const send = (on: RunningHub) =>
      on.post('send', { channel: 'c', body: { n: 1 } }, on.as('ada', 'lab'));
    const first = await openRunningHub(options);
    await send(first);
    await first.admin('spaces_remove', { name: 'lab', delete: true });
    await first.close();
    const second = await openRunningHub(options);
    expect((await send(second)).status).toBe(410);
    await second.admin('spaces_create', { name: 'lab' });
    expect((await send(second)).body.seq).toBe(1);
    await second.close();
    await rm(dir, { recursive: true });
  },
);

test('[SP4] a hub that is killed while it removes a space has it whole or removed', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'synod-removed-'));
  for (let round = 0; round < 2; round++) {
    const hub = await startHubProcess(dir);
    if (!isRunning(hub)) throw new Error(hub.stderr);
    const owner = (await readFile(join(dir, 'credential'), 'utf8')).trim();
    const post = (operation: string, input: object, space: string) =>
      fetchReply(`${hub.url}/v1/ops/${operation}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${owner}`, 'x-sox-namespace': space },
        body: JSON.stringify(input),
      });
    const { status, body } = await post('send', { channel: 'c', body: { n: round } }, 'lab');
    expect(status === 410 || body.seq === round + 1).toBe(true);
    const removing = post('spaces_remove', { name: 'lab' }, 'default').catch(() => null);
    await hub.kill();
    await removing;
  }
  await rm(dir, { recursive: true });
});
