import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseSearch, type SearchQuery } from '../../wire/search-query.ts';
import type { FindPlan, SearchScope } from '../desk/search-port.ts';
import { openIndexFile } from './index-file.ts';
import { type IndexStore, openStore } from './store.ts';

const dir = mkdtempSync(join(tmpdir(), 'synod-index-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const OPEN: SearchScope = { hasOpen: true, partyOf: null, except: [], parts: [] };
const never = (): boolean => false;

function entry(seq: number, text: string, channel = 'general'): string {
  const head = { type: 'message.sent', at: 1000 + seq, by: 'ada', channel, seq };
  return JSON.stringify({ ...head, body: { text } });
}

function find(
  store: IndexStore,
  query: string,
  plan: Partial<FindPlan> = {},
): readonly number[] | null {
  const parsed = parseSearch(query) as SearchQuery;
  const everywhere = { scope: OPEN, above: -1, below: Number.MAX_SAFE_INTEGER, limit: 10_000 };
  return store.find({ query: parsed, ...everywhere, ...plan }, never);
}

const page = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => entry(first + i + 1, `word n${first + i}`));

test('[FT5] two processes keep one index: nothing goes in twice, and each sees what the other put there', () => {
  const path = join(dir, 'two');
  const [one, two] = [openStore(openIndexFile(path)), openStore(openIndexFile(path))];
  expect(find(two, 'word')).toEqual([]);
  one.add({ first: 0, entries: page(0, 3), released: {} });
  // The other one comes with the same page, and is told where things are.
  expect(two.add({ first: 0, entries: page(0, 3), released: {} }).position).toBe(3);
  expect(find(two, 'word')).toEqual([2, 1, 0]);
  two.add({ first: 3, entries: [entry(4, 'word', 'dm/ada~bob'), entry(5, 'word')], released: {} });
  expect(find(one, 'word')).toEqual([4, 2, 1, 0]);
  expect(find(one, 'word', { scope: { ...OPEN, partyOf: 'bob' } })).toEqual([4, 3, 2, 1, 0]);
  one.add({ first: 5, entries: page(5, 1), released: {} });
  expect(find(two, 'n5')).toEqual([5]);
  expect(one.place()).toEqual(two.place());
  one.close();
  two.close();
});

test('[FT5] a writer that is killed leaves an index that says how far it came, and goes on there', async () => {
  const path = join(dir, 'killed');
  const script = `
    import { openIndexFile } from ${JSON.stringify(new URL('./index-file.ts', import.meta.url).href)};
    import { openStore } from ${JSON.stringify(new URL('./store.ts', import.meta.url).href)};
    const store = openStore(openIndexFile(${JSON.stringify(path)}));
    const page = (first, count) => Array.from({ length: count }, (_, i) => JSON.stringify({
      type: 'message.sent', at: 1000 + first + i, by: 'ada', channel: 'general', seq: first + i + 1,
      body: { text: 'word n' + (first + i) } }));
    for (let first = 0; ; first += 50) {
      store.add({ first, entries: page(first, 50), released: {} });
      console.log(first + 50);
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = 0;
  for await (const text of child.stdout.setEncoding('utf8')) {
    told = Number(String(text).trim().split('\n').at(-1));
    if (told >= 500) break;
  }
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  const store = openStore(openIndexFile(path));
  const { position } = store.place();
  expect(position).toBeGreaterThanOrEqual(told);
  store.add({ first: position, entries: page(position, 7), released: {} });
  const all = Array.from({ length: position + 7 }, (_, i) => position + 6 - i);
  expect(find(store, 'word', { limit: 1_000_000 })).toEqual(all);
  store.close();
});

test('[FT4] a search that has no time left ends, between two steps', () => {
  const store = openStore(openIndexFile(':memory:'));
  store.add({ first: 0, entries: page(0, 3), released: {} });
  const query = parseSearch('word') as SearchQuery;
  const plan = { query, scope: OPEN, above: -1, below: 9, limit: 9 };
  expect(store.find(plan, () => true)).toBeNull();
  expect(store.find(plan, never)).toEqual([2, 1, 0]);
});

test('[FT3] a retired channel of many messages is out of every search at once, and of the index later', () => {
  const store = openStore(openIndexFile(':memory:'));
  const count = 4_500;
  const many = Array.from({ length: count }, (_, i) => entry(i + 1, 'word', 'busy'));
  store.add({ first: 0, entries: many, released: {} });
  const retired = JSON.stringify({ type: 'channel.retired', at: 9000, by: 'ada', channel: 'busy' });
  const last = [retired, entry(1, 'word', 'busy')];
  store.add({ first: count, entries: last, released: {} });
  expect(find(store, 'word')).toEqual([count + 1]);
  let steps = 0;
  while (store.tidy()) steps++;
  expect(steps).toBeGreaterThan(1);
  expect(find(store, 'word')).toEqual([count + 1]);
});

test('[FT3] a retired dm of many messages is out of the searches of both at once', () => {
  const store = openStore(openIndexFile(':memory:'));
  const count = 2_500;
  const many = Array.from({ length: count }, (_, i) => entry(i + 1, 'word', 'dm/ada~bob'));
  const other = entry(1, 'word', 'dm/ada~cyd');
  store.add({ first: 0, entries: [...many, other], released: {} });
  const retired = { type: 'channel.retired', at: 9000, by: 'ada', channel: 'dm/ada~bob' };
  store.add({ first: count + 1, entries: [JSON.stringify(retired)], released: {} });
  const both = (): unknown[] =>
    ['ada', 'bob'].map((partyOf) => find(store, 'word', { scope: { ...OPEN, partyOf } }));
  expect(both()).toEqual([[count], []]);
  while (store.tidy());
  expect(both()).toEqual([[count], []]);
});

test('[FT4] all dms of an agent are one question, however many it has', () => {
  const store = openStore(openIndexFile(':memory:'));
  const dms = Array.from({ length: 300 }, (_, i) => entry(1, 'word', `dm/ada~peer${i}`));
  store.add({ first: 0, entries: dms, released: {} });
  const query = parseSearch('word -other') as SearchQuery;
  const plan = { query, above: -1, below: 999, limit: 999 };
  let questions = 0;
  const asked = (scope: Partial<SearchScope>): number | undefined =>
    store.find({ ...plan, scope: { ...OPEN, partyOf: 'ada', ...scope } }, () => {
      questions++;
      return false;
    })?.length;
  expect(asked({})).toBe(300);
  // That of the open channels, and that of the dms.
  expect(questions).toBe(2);
  expect(asked({ partyOf: 'peer7' })).toBe(1);
  expect(asked({ partyOf: 'bob' })).toBe(0);
  expect(asked({ except: ['dm/ada~peer7'] })).toBe(299);
  const one = { channel: 'dm/ada~peer7', after: -1, author: null };
  expect(asked({ hasOpen: false, partyOf: null, parts: [one] })).toBe(1);
});

test('[FT2] what is wanted and unwanted at once is nothing, and nothing is looked at for it', () => {
  const store = openStore(openIndexFile(':memory:'));
  store.add({ first: 0, entries: page(0, 9), released: {} });
  const stepsOf = (line: string): [number | undefined, number] => {
    let steps = 0;
    const query = parseSearch(line) as SearchQuery;
    const plan = { query, scope: OPEN, above: -1, below: 99, limit: 99 };
    const found = store.find(plan, () => steps++ > 99);
    return [found?.length, steps];
  };
  for (const line of ['word -word', '"word n1" -n1', 'word -wo*', 'wor* -w*', '"a wor"* -a']) {
    expect(stepsOf(line), line).toEqual([0, 0]);
  }
  expect(stepsOf('wor* -wor')).toEqual([9, 1]);
  expect(stepsOf('word -"word n1"')).toEqual([8, 1]);
  expect(stepsOf('word -n1')).toEqual([8, 1]);
});

test('[FT3] a body that was dropped, and one that is held, are not in it', () => {
  const store = openStore(openIndexFile(':memory:'));
  const [plain = '', held = ''] = page(0, 2);
  const dropped = { ...JSON.parse(entry(3, 'word')), dropped: true };
  const entries = [
    plain,
    JSON.stringify({ ...JSON.parse(held), held: 'a person looks' }),
    JSON.stringify(dropped),
  ];
  store.add({ first: 0, entries, released: {} });
  expect(find(store, 'word')).toEqual([0]);
  const reviewed = {
    type: 'message.reviewed',
    at: 9000,
    by: 'hilda',
    channel: 'general',
    seq: 2,
    position: 1,
  };
  const event = JSON.stringify({ ...reviewed, isReleased: true, reason: null });
  store.add({ first: 3, entries: [event], released: { 1: entries[1] as string } });
  expect(find(store, 'word')).toEqual([1, 0]);
});

test('[FT4] a long log is searched from its end, across the tables it is cut into', () => {
  const store = openStore(openIndexFile(':memory:'), 30);
  for (let first = 0; first < 500; first += 50) {
    const some = page(first, 50).with(0, entry(first + 1, 'needle word', 'dm/ada~bob'));
    store.add({ first, entries: some, released: {} });
    store.tidy();
  }
  const scope = { ...OPEN, partyOf: 'bob' };
  const needles = [450, 400, 350, 300, 250, 200, 150, 100, 50, 0];
  expect(find(store, 'needle', { scope })).toEqual(needles);
  while (store.tidy());
  expect(find(store, 'needle', { scope })).toEqual(needles);
  expect(find(store, 'needle', { scope, limit: 2 })).toEqual([450, 400]);
  expect(find(store, 'needle', { scope, above: 100, below: 300 })).toEqual([250, 200, 150]);
  expect(find(store, 'word', { limit: 3, below: 252 })).toEqual([251, 249, 248]);
  expect(find(store, 'word', { scope, limit: 3, below: 252 })).toEqual([251, 250, 249]);
  expect(find(store, 'needle')).toEqual([]);
});
