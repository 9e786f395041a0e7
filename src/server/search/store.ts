/**
 * What the index knows: entries go in, in the order of the log, and positions come out. Only what can
 * be read is in it: a message that is held goes in when it is released, one whose body was dropped
 * never, and those of a channel that was retired go out with it [FT3].
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { decodeEvent, decodeMessage, type StoredMessage } from '../../core/law/entry.ts';
import { textsOf } from '../../wire/body-text.ts';
import { wordsOf } from '../../wire/words.ts';
import type { FindPlan } from '../desk/search-port.ts';
import { findIn } from './find.ts';
import { authorWord, channelKey, channelWord, GAP } from './fts-query.ts';
import { createNames, type Leaving, type Names } from './names.ts';
import { createShards, type Shards } from './shards.ts';

/** Messages of a retired channel that go out at one step. */
const LEAVING_PER_STEP = 2_000;
const EVERYWHERE = { above: -1, below: Number.MAX_SAFE_INTEGER };
const CONCERNS = /^\{"type":"(message\.reviewed|channel\.(retired|configured))"/;

export interface Entries {
  readonly first: number;
  readonly entries: readonly string[];
  /** Those that were held and are released by one of these entries, by position. */
  readonly released: Readonly<Record<number, string>>;
}

export interface Place {
  /** The next entry to take in. */
  readonly position: number;
  /** SHA-256 of the entry before. */
  readonly last: string;
}

export interface IndexStore {
  place(): Place;
  /** Channels whose past somebody may be kept from. */
  guarded(): readonly string[];
  /** Answers where it stands then: another process may have been first. */
  add(page: Entries): Place;
  /** Null when there is no more time. */
  find(plan: FindPlan, isLate: () => boolean): readonly number[] | null;
  /** Does a little of what can wait; false when nothing does. */
  tidy(): boolean;
  close(): void;
}

export function openStore(db: DatabaseSync, shardMessages?: number): IndexStore {
  const shards = createShards(db, shardMessages);
  const names = createNames(db);
  const readPlace = db.prepare('SELECT position, last FROM place');
  const setPlace = db.prepare('UPDATE place SET position = ?, last = ?');
  const readVersion = db.prepare('PRAGMA data_version');
  let version = readVersion.get()?.data_version;

  const place = (): Place => readPlace.get() as unknown as Place;

  /** What another process wrote makes ours old. */
  function refresh(): void {
    const now = readVersion.get()?.data_version;
    if (now === version) return;
    version = now;
    forget();
  }

  function forget(): void {
    shards.forget();
    names.forget();
  }

  function within<T>(run: () => T): T {
    db.exec('BEGIN IMMEDIATE');
    try {
      refresh();
      const outcome = run();
      db.exec('COMMIT');
      return outcome;
    } catch (cause) {
      if (db.isTransaction) db.exec('ROLLBACK');
      forget();
      throw cause;
    }
  }

  function take(entry: string, position: number, released: Entries['released']): void {
    const message = decodeMessage(entry);
    if (message !== null) {
      if (message.held === undefined) put(shards, names, message, position);
      return;
    }
    if (!CONCERNS.test(entry)) return;
    const event = decodeEvent(entry);
    if (event.type === 'channel.retired') {
      // One of many messages goes out later, and is left out of every search until then.
      const leaving = names.retire(event.channel);
      const [first] = leaving;
      if (first !== undefined && letGo(shards, first)) leaving.forEach(names.leave);
    } else if (event.type === 'channel.configured') {
      if (event.settings.replayPolicy !== 'subscriber') names.guard(event.channel);
    } else if (event.type === 'message.reviewed' && event.isReleased) {
      const text = released[event.position];
      const held = text === undefined ? null : decodeMessage(text);
      if (held !== null) put(shards, names, held, event.position);
    }
  }

  return {
    place,
    guarded() {
      refresh();
      return names.guarded();
    },
    add: ({ first, entries, released }) =>
      within(() => {
        const { position } = place();
        if (position !== first || entries.length === 0) return place();
        entries.forEach((entry, i) => {
          take(entry, first + i, released);
        });
        const last = createHash('sha256')
          .update(entries.at(-1) ?? '')
          .digest('hex');
        setPlace.run(first + entries.length, last);
        return place();
      }),
    find(plan, isLate) {
      refresh();
      return findIn({ shards, names, isLate }, plan);
    },
    tidy() {
      return within(() => {
        const [first] = names.leaving();
        if (first === undefined) return shards.merge();
        if (!letGo(shards, first)) names.hasLeft(first);
        return true;
      });
    },
    close: () => db.close(),
  };
}

function put(shards: Shards, names: Names, message: StoredMessage, position: number): void {
  if (message.dropped) return;
  const { channel: name, by, body } = message;
  const channel = names.channel(name);
  const { id } = channel;
  const words = [channelWord(id), authorWord(names.author(by)), ...wordsOfBody(body)];
  const keys = names.keysOf(name, channel);
  const texts = keys.map((key) => key + words.join(` ${key}`));
  const shard = shards.put(position, texts.join(' '));
  if (keys[0] === channelKey(id)) names.spread(shard.id, id);
}

function wordsOfBody(body: Record<string, unknown>): string[] {
  const words: string[] = [];
  for (const text of textsOf(body)) {
    if (words.length > 0) words.push(GAP);
    for (const word of wordsOf(text)) words.push(word);
  }
  return words;
}

/** Takes out some of the messages of a channel that was retired; true when there may be more. */
function letGo(shards: Shards, { channel, key }: Leaving): boolean {
  const expression = `"${key}${channelWord(channel)}"`;
  let limit = LEAVING_PER_STEP;
  for (const shard of shards.list()) {
    const found = shards.find(shard, expression, { ...EVERYWHERE, limit });
    for (const position of found) shards.remove(shard, position);
    limit -= found.length;
    if (limit <= 0) return true;
  }
  return false;
}
