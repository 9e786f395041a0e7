import { afterEach, beforeEach, expect, test } from 'vitest';
import { openScriptedHub, type ScriptedHub, type Seat } from '../../test/client/scripted-hub.ts';
import type { Change } from './changes.ts';
import { type Client, createClient } from './client.ts';
import type { LiveStream } from './live.ts';

let hub: ScriptedHub;
let client: Client;

beforeEach(async () => {
  hub = await openScriptedHub();
  client = createClient({ url: hub.url, reconnect: { random: () => 0 }, bufferMax: 3 });
  await hub.seat();
});

afterEach(async () => {
  const closing = client.close();
  await hub.close();
  await closing;
});

async function confirm(position: number): Promise<Seat> {
  const seat = await hub.seat();
  const asked = await seat.asked();
  expect(asked.params).toMatchObject({ from: 'now', changes: true });
  seat.answer(asked, { stream: 's1', position });
  return seat;
}

async function take(stream: LiveStream<Change>): Promise<Change['nouns'] | undefined> {
  return (await stream.next()).value?.nouns;
}

test('[K14] each opening says all, also the one after a break', async () => {
  const changes = client.changes();
  const first = await confirm(4);
  first.push('changed', { nouns: ['claims'], position: 5 });
  expect(await take(changes)).toBe('all');
  expect(await take(changes)).toEqual(['claims']);
  first.cut();
  await confirm(9);
  expect((await changes.next()).value).toEqual({ nouns: 'all', position: 9 });
});

test('[K14] a reader that falls behind is told all, and holds no more than the bound', async () => {
  const changes = client.changes();
  const seat = await confirm(0);
  for (const noun of ['claims', 'plan', 'docket', 'turns']) {
    seat.push('changed', { nouns: [noun], position: 1 });
  }
  await changes.ready;
  seat.cut();
  await confirm(2);
  expect([await take(changes), await take(changes), await take(changes)]).toEqual([
    'all',
    ['claims'],
    'all',
  ]);
});
