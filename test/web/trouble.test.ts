/**
 * The page of a hub with trouble: a chain that does not hold, a message that waits for a person, a reader that
 * does not read, and a pool of the bus. Where each is seen, and what a person does about it.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../e2e/deadline.ts';
import { openRpcSocket } from '../e2e/rpc-socket.ts';
import { type Json, openRunningHub } from '../e2e/running-hub.ts';
import { BIN } from '../program.ts';
import { axeFinds, openScene, type Scene } from './scene.ts';

const BROKEN_AT = 2;

let dir: string;
let scene: Scene;
let page: Page;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'synod-trouble-'));
  const before = await openRunningHub({ dir: join(dir, 'hub') });
  for (let n = 0; n < 5; n++) await before.ask('ada', 'send', { channel: 'general', body: { n } });
  await before.close();
  const db = new DatabaseSync(join(dir, 'hub', 'spaces', 'default.sqlite'));
  db.exec(`UPDATE batches SET head = zeroblob(32) WHERE first = ${BROKEN_AT}`);
  db.close();
  const bus = join(dir, 'bus.json');
  const echo = { id: 'echo', command: process.execPath, args: [BIN, 'worker', 'echo'] };
  await writeFile(bus, JSON.stringify({ pools: [{ ...echo, instances: 2 }] }));
  const options = { dir: join(dir, 'hub'), flags: { bus }, hooks: { verifyAfterMs: 1 } };
  scene = await openScene(options);
  page = await scene.enter({ at: '#/needs' });
  page.setDefaultTimeout(60_000);
}, 120_000);
afterAll(async () => {
  await scene?.close();
  await rm(dir, { recursive: true, force: true });
});

const item = (words: string): Locator => page.getByRole('listitem').filter({ hasText: words });

async function go(room: string): Promise<void> {
  await page.evaluate(`location.hash = '#/${room}'`);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
}

test('[WI15] a chain that does not hold is said on every page, in Record with the place, and waits for a person', async () => {
  const alert = item('synod log verify');
  await alert.waitFor();
  await page.getByRole('link', { name: `chain broken at ${BROKEN_AT}` }).waitFor();
  await go('record');
  const chain = page.getByRole('region', { name: 'The chain' });
  await chain.getByText(`The chain is broken after entry ${BROKEN_AT}`).waitFor();
  expect(await axeFinds(page)).toEqual([]);
  await go('needs');
  await alert.getByRole('button', { name: 'Close', exact: true }).click();
  await alert.waitFor({ state: 'detached' });
  expect((await scene.hub.admin('docket_list', { kind: 'alert' })).items).toEqual([]);
  // Closing says that somebody has seen it, and mends nothing.
  await page.getByRole('link', { name: `chain broken at ${BROKEN_AT}` }).waitFor();
}, 90_000);

test('[WI1] a message that is held is released or refused, and only then anybody reads it', async () => {
  const { hub } = scene;
  await hub.ask('bob', 'subscribe', { pattern: 'general' });
  const { token } = await hub.admin('tokens_create', { agent_id: 'mal', tier: 'untrusted' });
  const send = async (text: string): Promise<string> => {
    const headers = { authorization: `Bearer ${token}` };
    const sent = await hub.post('send', { channel: 'general', body: { text } }, headers);
    return sent.body.message_id;
  };
  const texts = async (): Promise<string[]> => {
    const { messages } = await hub.ask('bob', 'replay', {
      channel: 'general',
      since: 0,
      limit: 50,
    });
    return messages.flatMap(({ body }: Json) => body.text ?? []);
  };
  const first = await send('let me in');
  const held = item('let me in');
  await held.getByRole('button', { name: 'Release', exact: true }).waitFor();
  expect(await texts()).toEqual([]);
  await held.getByRole('button', { name: 'Release', exact: true }).click();
  await held.waitFor({ state: 'detached' });
  expect(await texts()).toEqual(['let me in']);
  await send('and now this');
  const second = item('and now this');
  await second.getByRole('button', { name: 'Refuse…' }).click();
  await second.getByLabel(/^Why not\?/).fill('it is nobody’s business');
  await second.getByRole('button', { name: 'Refuse', exact: true }).click();
  await second.waitFor({ state: 'detached' });
  expect(await texts()).toEqual(['let me in']);
  const reviewed = (await hub.admin('audit', { action: 'message.reviewed' })).deeds;
  expect(reviewed.map((one: Json) => [one.actor, one.outcome])).toEqual([
    ['paula', 'refused'],
    ['paula', 'released'],
  ]);
  expect(reviewed[1].subject).toBe(first);
}, 90_000);

test('[WI15] Health names the reader that was cut off, and the pools of the bus with their workers', async () => {
  const { hub } = scene;
  const reader = await openRpcSocket(hub.url, hub.as('olga'));
  await reader.ask('stream.open', { channels: ['flood'] });
  (reader.ws as unknown as { _socket: Socket })._socket.pause();
  const text = 'x'.repeat(900_000);
  await until(
    'the reader is cut off',
    () => hub.ask('ada', 'send', { channel: 'flood', body: { text } }),
    () => hub.log.some((line) => line.includes('a reader was cut off')),
    60_000,
  );
  reader.ws.terminate();
  await go('health');
  const slow = page.getByRole('region', { name: 'Slow readers' });
  await slow.getByText('olga', { exact: true }).waitFor();
  await slow.getByText(/^did not take .* \(WebSocket\)$/).waitFor();
  const pool = page
    .getByRole('region', { name: 'Bus' })
    .getByRole('row')
    .filter({ hasText: 'echo' });
  await pool.getByText(/^2 (running|ready|idle)$/).waitFor();
  expect(await axeFinds(page)).toEqual([]);
  expect(scene.troubles).toEqual([]);
}, 120_000);
