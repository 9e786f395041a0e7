/**
 * Search beside a model that knows no index: what was said, by whom, who may read it now, and words
 * found by looking at every message. Random histories are told to a hub and to the model, and every
 * page of every answer has to be the model's. Then the index is taken away, broken and swapped.
 */
import { copyFile, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createChance } from '../../src/testing/chance.ts';
import { type Json, openRunningHub, type RunningHub } from './running-hub.ts';

const WORDS = ['parser', 'part', 'token', 'Naïve', 'index', 'the', 'a', '東京', 'x1'];
const AGENTS = ['ada', 'bob', 'cyd'];
const READERS = [...AGENTS, 'owner'];
const CLOSED = 'closed';

interface Said {
  readonly id: string;
  readonly by: string;
  readonly channel: string;
  readonly texts: readonly string[];
  isGone: boolean;
}

interface Model {
  readonly said: Said[];
  readonly members: Map<string, Set<string>>;
  isClosed: boolean;
  /** By agent, how much was said on the closed channel before it subscribed. */
  readonly from: Map<string, number>;
}

interface Term {
  readonly text: string;
  readonly isWanted: boolean;
}

function isVisible(model: Model, reader: string, one: Said): boolean {
  if (one.isGone) return false;
  if (one.channel.startsWith('dm/')) return one.channel.slice(3).split('~').includes(reader);
  if (one.channel.startsWith('group/')) return model.members.get(one.channel)?.has(reader) ?? false;
  if (one.channel !== CLOSED || !model.isClosed || reader === 'owner' || one.by === reader)
    return true;
  const from = model.from.get(reader);
  const before = model.said.filter(({ channel }) => channel === CLOSED).indexOf(one);
  return from !== undefined && before >= from;
}

/** A term in a text, by regular expression alone. */
function holds(texts: readonly string[], { text }: Term): boolean {
  const bare = text.replaceAll('"', '');
  const isBeginning = bare.endsWith('*');
  const words = bare.replace('*', '').toLowerCase().replaceAll('ï', 'i');
  const pattern = words.split(' ').join('[^a-z0-9東京]+');
  const edge = isBeginning ? '' : '(?![a-z0-9])';
  const one = new RegExp(`(?<![a-z0-9])${pattern}${words.includes('東') ? '' : edge}`);
  return texts.some((said) => one.test(said.toLowerCase().replaceAll('ï', 'i')));
}

async function tell(
  hub: RunningHub,
  model: Model,
  chance: ReturnType<typeof createChance>,
): Promise<void> {
  const by = chance.pick(AGENTS);
  const roll = chance.int(0, 19);
  if (roll === 0) {
    await hub.ask(by, 'subscribe', { pattern: CLOSED });
    const length = model.said.filter(({ channel }) => channel === CLOSED).length;
    if (!model.from.has(by)) model.from.set(by, length);
  } else if (roll === 1) {
    await hub.ask(by, 'unsubscribe', { channels: [CLOSED] });
    model.from.delete(by);
  } else if (roll === 2) {
    model.isClosed = chance.isLikely(0.7);
    const policy = model.isClosed ? 'admin_only' : 'subscriber';
    await hub.admin('channels_configure', { channel: CLOSED, replay_policy: policy });
  } else if (roll === 3 && by !== 'ada') {
    const members = model.members.get('group/plans');
    const verb = members?.delete(by) ? 'group_leave' : 'group_join';
    if (verb === 'group_join') {
      await hub.ask('ada', 'group_invite', { group_id: 'plans', agent_id: by });
      members?.add(by);
    }
    await hub.ask(by, verb, { group_id: 'plans' });
  } else if (roll === 4) {
    if (!model.said.some((one) => one.channel === 'brief' && !one.isGone)) return;
    await hub.admin('retire', { channel: 'brief', force: true });
    for (const one of model.said) if (one.channel === 'brief') one.isGone = true;
  } else {
    const other = chance.pick(AGENTS.filter((name) => name !== by));
    const dm = `dm/${[by, other].sort().join('~')}`;
    const inGroup = model.members.get('group/plans')?.has(by) ? ['group/plans'] : [];
    const channel = chance.pick(['general', 'brief', CLOSED, dm, ...inGroup]);
    const text = (): string =>
      Array.from({ length: chance.int(1, 6) }, () => chance.pick(WORDS)).join(
        chance.pick([' ', ', ', '/']),
      );
    const texts = chance.isLikely(0.3) ? [text(), text()] : [text()];
    const body = texts.length === 1 ? { text: texts[0] } : { kind: 7, deep: { list: texts } };
    const { message_id: id } = await hub.ask(by, 'send', { channel, body });
    model.said.push({ id, by, channel, texts, isGone: false });
  }
}

interface Asked {
  readonly reader: string;
  readonly query: string;
  readonly limit: number;
  readonly expected: readonly string[];
}

function draw(model: Model, chance: ReturnType<typeof createChance>): Asked {
  const reader = chance.pick(READERS);
  const terms: Term[] = Array.from({ length: chance.int(1, 2) }, (_, i) => {
    const roll = chance.int(0, 3);
    const word = chance.pick(WORDS);
    const text =
      roll === 0 ? `"${word} ${chance.pick(WORDS)}"` : roll === 1 ? `${word.slice(0, 3)}*` : word;
    return { text, isWanted: i === 0 || chance.isLikely(0.6) };
  });
  const author = chance.isLikely(0.2) ? chance.pick(AGENTS) : null;
  const channel = chance.isLikely(0.2) ? chance.pick(['general', 'brief', CLOSED]) : null;
  const parts = terms.map(({ text, isWanted }) => (isWanted ? text : `-${text}`));
  if (author !== null) parts.push(`from:${author}`);
  if (channel !== null) parts.push(`in:${channel}`);
  const expected = model.said
    .filter((one) => isVisible(model, reader, one))
    .filter((one) => (author ?? one.by) === one.by && (channel ?? one.channel) === one.channel)
    .filter(({ texts }) => terms.every((term) => holds(texts, term) === term.isWanted))
    .map(({ id }) => id)
    .reverse();
  return { reader, query: parts.join(' '), limit: chance.int(1, 6), expected };
}

/** Every page, put together; each but the last is full. */
async function readAll(hub: RunningHub, { reader, query, limit }: Asked): Promise<string[]> {
  const found: string[] = [];
  let after: string | undefined;
  do {
    const input = { query, limit, after };
    const page: Json = await (reader === 'owner'
      ? hub.admin('search', input)
      : hub.ask(reader, 'search', input));
    expect(page.complete).toBe(true);
    const ids = page.messages.map((one: Json) => one.message_id);
    expect(ids.length).toBe(page.next === null ? ids.length : limit);
    found.push(...ids);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return found;
}

const dirs: string[] = [];
const newDir = async (): Promise<string> => {
  const dir = await mkdtemp(join(tmpdir(), 'synod-search-'));
  dirs.push(dir);
  return dir;
};
afterAll(() => Promise.all(dirs.map((dir) => rm(dir, { recursive: true, force: true }))));

const seeds = [Number(process.env.SYNOD_SEED ?? 1)];
test.each(seeds)(
  '[FT1] [FT2] [FT3] [FT5] every page is what a look at every message finds, seed %d',
  async (seed) => {
    const chance = createChance(seed);
    const dir = await newDir();
    const store = `sqlite://${join(dir, 'log.sqlite')}`;
    const open = (): Promise<RunningHub> => openRunningHub({ flags: { store } });
    let hub = await open();
    const model: Model = {
      said: [],
      members: new Map([['group/plans', new Set(['ada'])]]),
      isClosed: false,
      from: new Map(),
    };
    await hub.ask('ada', 'group_create', { group_id: 'plans' });
    const check = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const asked = draw(model, chance);
        expect([asked, await readAll(hub, asked)]).toEqual([asked, asked.expected]);
      }
    };
    for (let round = 0; round < 8; round++) {
      for (let i = 0; i < 15; i++) await tell(hub, model, chance);
      await check(8);
    }
    const index = join(dir, 'log.sqlite.SEARCH');
    expect((await stat(index)).mode & 0o777).toBe(0o600);
    await hub.close();
    const kept = join(dir, 'kept');
    await copyFile(index, kept);

    // Missing, damaged, of another program, of an older time of this log, of another log.
    const other = await newDir();
    const elsewhere = await openRunningHub({
      flags: { store: `sqlite://${join(other, 'log.sqlite')}` },
    });
    for (let i = 0; i < 40; i++)
      await elsewhere.ask('eve', 'send', { channel: 'general', body: { text: 'parser' } });
    await elsewhere.ask('eve', 'search', { query: 'parser' });
    await elsewhere.close();
    for (const spoil of [
      () => rm(index),
      () =>
        writeFile(
          index,
          'this is no index at all, and longer than a header of SQLite is'.repeat(90),
        ),
      () => copyFile(join(other, 'log.sqlite.SEARCH'), index),
      () => copyFile(kept, index),
    ]) {
      for (const name of await readdir(dir)) if (/SEARCH-/.test(name)) await rm(join(dir, name));
      await spoil();
      hub = await open();
      await check(3);
      await tell(hub, model, chance);
      await check(3);
      expect(hub.log.filter((line) => line.startsWith('error'))).toEqual([]);
      await hub.close();
    }
  },
  60_000,
);
