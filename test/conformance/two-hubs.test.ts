/**
 * Goal: two hubs over one real storage are one history to everybody.
 * Method: both send at once over each adapter, with the real clock. Everything acknowledged lies in
 * one order, and listeners at both hubs see all of it once.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Hub, openHub } from '../../src/hub/hub.ts';
import { openFileLog } from '../../src/log/file.ts';
import type { Log } from '../../src/log/log.ts';
import { createMemoryStore, openMemoryLog } from '../../src/log/memory.ts';
import { openSqliteLog } from '../../src/log/sqlite.ts';
import { realClock } from '../../src/server/run/clock.ts';
import { createPrincipal, PLAIN_SEND } from '../../src/testing/story.ts';

const EACH = 20;
const root = mkdtempSync(join(tmpdir(), 'synod-two-'));
afterAll(() => rmSync(root, { recursive: true }));
const store = createMemoryStore();

const adapters: readonly (readonly [string, () => Promise<Log>])[] = [
  ['memory', async () => openMemoryLog(store)],
  ['file', () => openFileLog(join(root, 'log'), { segmentBytesMax: 2000 })],
  ['sqlite', () => openSqliteLog(join(root, 'log.sqlite'))],
];

async function send(hub: Hub, id: string): Promise<number> {
  const answer = await hub.submit({
    ...PLAIN_SEND,
    by: createPrincipal(id),
    at: hub.stamp(),
    channel: 'a',
  });
  // Many writers at once may crowd one out; it is told so, and asks again.
  return 'refused' in answer ? send(hub, id) : answer.position;
}

/** Resolves with the positions a listener saw once there are as many as it waits for. */
function listen(hub: Hub, count: number): Promise<number[]> {
  const seen: number[] = [];
  return new Promise((resolve) => {
    const by = createPrincipal('spy', { kind: 'observer' });
    hub.openFeed(
      { by, from: 'now', channels: ['a'] },
      {
        deliver({ messages }) {
          seen.push(...messages.map(({ position }) => position));
          if (seen.length >= count) resolve(seen);
          return true;
        },
        ready: () => Promise.resolve(),
        end: () => {},
      },
    );
  });
}

test.each(adapters)('[H11] two hubs over one %s storage are one history', async (_, open) => {
  const options = { space: 's', clock: realClock };
  const hubs = [
    await openHub({ ...options, log: await open() }),
    await openHub({ ...options, log: await open() }),
  ];
  const listening = hubs.map((hub) => listen(hub, 2 * EACH));
  const sent = await Promise.all(
    hubs.map(async (hub, i) => {
      const positions: number[] = [];
      for (let n = 0; n < EACH; n++) positions.push(await send(hub, `agent${i}`));
      return positions;
    }),
  );
  const all = sent.flat().sort((a, b) => a - b);
  expect(all).toEqual(Array.from({ length: 2 * EACH }, (_, position) => position));
  for (const seen of await Promise.all(listening)) expect(seen).toEqual(all);
  for (const hub of hubs) await hub.close();
});
