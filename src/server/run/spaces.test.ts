/** How a space comes to be and goes, from the door: reading makes none, and one that was removed stays away. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';
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

  test('[SP3] does not keep its visitor from the list of spaces, or from making another', async () => {
    expect((await hub.admin('spaces_list', {}, 'reserch')).spaces.length).toBeGreaterThan(1);
    await hub.admin('spaces_create', { name: 'other' }, 'reserch');
    expect(await spaceNames(hub)).not.toContain('reserch');
  });
});
