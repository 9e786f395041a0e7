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

/** An index in a folder of its own that waits for nothing, unless it is said how long it is kept. */
function openSearch(name: string, restAfterMs = 0): Search {
  const options = restAfterMs === 0 ? { beginAfterMs: 0, restAfterMs } : { restAfterMs };
  const onTrouble = (what: string): never => expect.fail(what);
  return createSearch({ pathOf: () => join(dir, name), ...options, onTrouble });
}

/** From now on the hub stores ten batches every ten milliseconds. */
function keepBusy(hub: Hub): { batches(): number; stop(): void } {
  const stats = hub.stats as { batches: number };
  const work = setInterval(() => {
    stats.batches += 10;
  }, 10);
  return { batches: () => stats.batches, stop: () => clearInterval(work) };
}

/** The thread begins, and has ended. */
async function seeItBegin({ begun }: ReturnType<typeof watchThreads>): Promise<void> {
  await expect.poll(() => begun.length).toBe(1);
  await begun[0];
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
  const search = openSearch('quiet');
  say(FAR);
  search.follow(hub);
  await expect.poll(() => listeners.length).toBe(1);
  expect(threads.begun).toHaveLength(0);
  // One more than a search waits for.
  say(1);
  await seeItBegin(threads);
  expect(threads.begun).toHaveLength(1);
  say(5);
  await search.close();
  threads.stop();
});

test('[FT5] after a rest a search finds what was said meanwhile', async () => {
  const threads = watchThreads();
  const { hub, say } = openHub('rested');
  const search = openSearch('rested', 300);
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
  const search = openSearch('busy');
  const work = keepBusy(hub);
  say(FAR + 1);
  search.follow(hub);
  await expect.poll(work.batches).toBeGreaterThan(2_000);
  expect(threads.begun).toHaveLength(0);
  work.stop();
  await seeItBegin(threads);
  await search.close();
  threads.stop();
});

test('[FT5] a server that takes in what others append is as busy as who appends', async () => {
  const threads = watchThreads();
  const { hub, say } = openHub('follows');
  const search = openSearch('follows');
  say(FAR + 1);
  const work = setInterval(() => say(100), 10);
  search.follow(hub);
  const entries = () => hub.stats.entries;
  await expect.poll(entries).toBeGreaterThan(FAR + 20_000);
  expect(threads.begun).toHaveLength(0);
  clearInterval(work);
  await seeItBegin(threads);
  await search.close();
  threads.stop();
});

test('[FT5] a search does not wait for a busy hub to pause', async () => {
  const { hub, say } = openHub('urgent');
  const search = openSearch('urgent');
  const work = keepBusy(hub);
  say(FAR + 1);
  search.follow(hub);
  const isComplete = async () => (await search.reach(hub, 'ada')) as { isComplete: boolean };
  await expect.poll(isComplete).toMatchObject({ isComplete: true });
  work.stop();
  await search.close();
});
