/** What becomes of search when its file cannot be written, its thread is lost, or its space goes. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createAsker, SEARCHES_PER_AGENT_MAX } from '../../src/server/search/asker.ts';
import { until } from './deadline.ts';
import { openRunningHub } from './running-hub.ts';

test('[FT5] a hub without files is searched as well, and large bodies come on several pages', async () => {
  const hub = await openRunningHub({ flags: { store: 'memory:' } });
  const text = `needle ${'x'.repeat(600_000)}`;
  for (let i = 0; i < 3; i++) await hub.ask('ada', 'send', { channel: 'general', body: { text } });
  const first = await hub.ask('bob', 'search', { query: 'needle' });
  expect(first.messages.map((one: { seq: number }) => one.seq)).toEqual([3]);
  const second = await hub.ask('bob', 'search', { query: 'needle', after: first.next });
  expect(second.messages.map((one: { seq: number }) => one.seq)).toEqual([2]);
  for (const time of [{ until: 1 }, { since: 9e9 }]) {
    expect((await hub.ask('bob', 'search', { query: 'needle', ...time })).messages).toEqual([]);
  }
  const { status, body } = await hub.post(
    'search',
    { query: 'x', after: 'yesterday' },
    hub.as('bob'),
  );
  expect([status, body.detail.violations[0].field]).toEqual([400, 'after']);
  await hub.close();
});

test('[FT5] an index that cannot be written is complained of once, and costs no send', async () => {
  const hub = await openRunningHub();
  const path = join(hub.dir, 'spaces', 'default.sqlite.SEARCH');
  mkdirSync(path);
  writeFileSync(join(path, 'file'), '');
  await hub.ask('ada', 'send', { channel: 'general', body: { text: 'needle' } });
  for (let i = 0; i < 3; i++) {
    const { status, body } = await hub.post('search', { query: 'needle' }, hub.as('ada'));
    expect([status, body.detail.reason]).toEqual([503, 'search.unavailable']);
    await hub.ask('ada', 'send', { channel: 'general', body: { text: 'needle' } });
  }
  expect(hub.log.filter((line) => line.includes('search index'))).toHaveLength(1);
  rmSync(path, { recursive: true });
  await until(
    'the index is written again',
    () => hub.post('search', { query: 'needle' }, hub.as('ada')),
    ({ status, body }) => status === 200 && body.messages.length === 4,
  );
  await hub.close();
});

test('[FT3] [SP4] the index of a space goes with the space', async () => {
  const hub = await openRunningHub();
  const path = join(hub.dir, 'spaces', 'side.sqlite.SEARCH');
  await hub.ask('ada', 'send', { channel: 'general', body: { text: 'needle' } }, 'side');
  expect((await hub.ask('ada', 'search', { query: 'needle' }, 'side')).messages).toHaveLength(1);
  expect(existsSync(path)).toBe(true);
  await hub.admin('spaces_remove', { name: 'side' });
  expect(existsSync(path)).toBe(false);
  await hub.admin('spaces_create', { name: 'side' });
  expect((await hub.ask('ada', 'search', { query: 'needle' }, 'side')).messages).toEqual([]);
  await hub.close();
});

test('[FT4] a thread that does not come back is ended, and another answers', async () => {
  let lost = 0;
  // No thread starts within a millisecond.
  const asker = createAsker(1);
  asker.onLost(() => lost++);
  const query = { wanted: [], unwanted: [], author: null };
  const ask = () => asker.askFor('ada', { kind: 'excerpts', query, bodies: ['{"text":"x"}'] });
  expect(await ask()).toBeNull();
  expect(lost).toBe(1);
  const many = await Promise.all(Array.from({ length: SEARCHES_PER_AGENT_MAX + 3 }, ask));
  expect(many.filter((one) => one === 'busy')).toHaveLength(2);
  await asker.close();
  const patient = createAsker();
  const answer = await patient.askFor('ada', { kind: 'excerpts', query, bodies: ['{"text":"x"}'] });
  expect(answer).toEqual({ ok: [{ text: 'x', found: [] }] });
  await patient.close();
});
