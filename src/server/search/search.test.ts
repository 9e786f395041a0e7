/** When the thread of the indexes is there: a hub in which nobody searches has none. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import type { Hub } from '../../hub/hub.ts';
import { parseSearch, type SearchQuery } from '../../wire/search-query.ts';
import { FAR } from './follower.ts';
import { createSearch, type Search } from './search.ts';

const dir = mkdtempSync(join(tmpdir(), 'synod-rest-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** As much of a hub as an index follows. */
function openHub(space: string): { hub: Hub; listeners: unknown[]; say(count: number): void } {
  const log: string[] = [];
  const listeners: (() => void)[] = [];
  const hub = {
    space,
    stats: {
      batches: 0,
      get entries() {
        return log.length;
      },
    },
    compactedAt: null,
    watch: {
      events(listener: () => void) {
        listeners.push(listener);
        return () => {};
      },
    },
    entries: async (from: number, bytes: number) => log.slice(from, from + Math.ceil(bytes / 100)),
  };
  return {
    hub: hub as unknown as Hub,
    listeners,
    say(count) {
      for (let i = 0; i < count; i++) {
        const head = { type: 'message.sent', at: 1000, by: 'ada', channel: 'general' };
        log.push(JSON.stringify({ ...head, seq: log.length + 1, body: { text: 'word' } }));
      }
      for (const listener of listeners) listener();
    },
  };
}

/** Threads that began, each with its end. */
function watchThreads(): { begun: Promise<unknown>[]; stop(): void } {
  const begun: Promise<unknown>[] = [];
  const note = (worker: Worker): void => {
    begun.push(new Promise((resolve) => worker.once('exit', resolve)));
  };
  process.on('worker', note);
  return { begun, stop: () => void process.off('worker', note) };
}

async function count(search: Search, hub: Hub): Promise<unknown> {
  const state = await search.reach(hub, 'ada');
  const scope = { hasOpen: true, partyOf: null, except: [], parts: [] };
  const query = parseSearch('word') as SearchQuery;
  const range = { above: -1, below: Number.MAX_SAFE_INTEGER, limit: 99_999 };
  const found = await search.find(hub, 'ada', { query, scope, ...range });
  return { ...state, found: (found as readonly number[]).length };
}

test('[FT5] a thread is begun by a search or by much that is new, and ends when it is not needed', async () => {
  const threads = watchThreads();
  const { hub, listeners, say } = openHub('quiet');
  const options = { pathOf: () => join(dir, 'quiet'), beginAfterMs: 0, restAfterMs: 0 };
  const search = createSearch({ ...options, onTrouble: (what) => expect.fail(what) });
  say(FAR);
  search.follow(hub);
  await expect.poll(() => listeners.length, { timeout: 20_000 }).toBe(1);
  expect(threads.begun).toHaveLength(0);
  // One more than a search waits for.
  say(1);
  await expect.poll(() => threads.begun.length, { timeout: 20_000 }).toBe(1);
  await threads.begun[0];
  expect(threads.begun).toHaveLength(1);
  say(5);
  await search.close();
  threads.stop();
});

test('[FT5] after a rest a search finds what was said meanwhile', async () => {
  const threads = watchThreads();
  const { hub, say } = openHub('rested');
  const options = { pathOf: () => join(dir, 'rested'), restAfterMs: 300 };
  const search = createSearch({ ...options, onTrouble: (what) => expect.fail(what) });
  search.follow(hub);
  say(3);
  const whole = { isComplete: true, guarded: [] };
  expect(await count(search, hub)).toEqual({ ...whole, found: 3 });
  await threads.begun[0];
  say(4);
  expect(await count(search, hub)).toEqual({ ...whole, found: 7 });
  expect(threads.begun).toHaveLength(2);
  await search.close();
  threads.stop();
});

test('[FT5] while the hub is busy and nobody has searched, no thread is begun until it pauses', async () => {
  const threads = watchThreads();
  const { hub, say } = openHub('busy');
  const options = { pathOf: () => join(dir, 'busy'), beginAfterMs: 0, restAfterMs: 0 };
  const search = createSearch({ ...options, onTrouble: (what) => expect.fail(what) });
  const stats = hub.stats as { batches: number };
  const work = setInterval(() => {
    stats.batches += 10;
  }, 10);
  say(FAR + 1);
  search.follow(hub);
  await expect.poll(() => stats.batches, { timeout: 20_000 }).toBeGreaterThan(2_000);
  expect(threads.begun).toHaveLength(0);
  clearInterval(work);
  await expect.poll(() => threads.begun.length, { timeout: 20_000 }).toBe(1);
  await threads.begun[0];
  await search.close();
  threads.stop();
});

test('[FT5] a server that takes in what others append is as busy as who appends', async () => {
  const threads = watchThreads();
  const { hub, say } = openHub('follows');
  const options = { pathOf: () => join(dir, 'follows'), beginAfterMs: 0, restAfterMs: 0 };
  const search = createSearch({ ...options, onTrouble: (what) => expect.fail(what) });
  say(FAR + 1);
  const work = setInterval(() => say(100), 10);
  search.follow(hub);
  const entries = () => hub.stats.entries;
  await expect.poll(entries, { timeout: 20_000 }).toBeGreaterThan(FAR + 20_000);
  expect(threads.begun).toHaveLength(0);
  clearInterval(work);
  await expect.poll(() => threads.begun.length, { timeout: 20_000 }).toBe(1);
  await threads.begun[0];
  await search.close();
  threads.stop();
});

test('[FT5] a search does not wait for a busy hub to pause', async () => {
  const { hub, say } = openHub('urgent');
  const options = { pathOf: () => join(dir, 'urgent'), beginAfterMs: 0, restAfterMs: 0 };
  const search = createSearch({ ...options, onTrouble: (what) => expect.fail(what) });
  const stats = hub.stats as { batches: number };
  const work = setInterval(() => {
    stats.batches += 10;
  }, 10);
  say(FAR + 1);
  search.follow(hub);
  const isComplete = async () => (await search.reach(hub, 'ada')) as { isComplete: boolean };
  await expect.poll(isComplete, { timeout: 20_000 }).toMatchObject({ isComplete: true });
  clearInterval(work);
  await search.close();
});
