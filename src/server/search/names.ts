/**
 * The numbers that stand for names in the index. A channel that is retired loses its number: one of the same
 * name that is made later is another channel, and what was said on the first is found no more [FT3].
 */
import type { DatabaseSync } from 'node:sqlite';
import { channelKind, dmParties } from '../../core/law/name.ts';
import { isOpenChannel } from '../../core/talk/channel.ts';
import { channelKey, OPEN_KEY, partyKey } from './fts-query.ts';

export interface ChannelNumber {
  readonly id: number;
  readonly isOpen: boolean;
}

/** Messages of a channel that was retired, under one key. */
export interface Leaving {
  readonly channel: number;
  readonly key: string;
}

export interface Names {
  author(name: string): number;
  findAuthor(name: string): number | null;
  channel(name: string): ChannelNumber;
  findChannel(name: string): ChannelNumber | null;
  /** Under which its words are: all of them, under each. */
  keysOf(name: string, channel: ChannelNumber): readonly string[];
  /** What has to go out: nothing where its number alone was the key. */
  retire(channel: string): readonly Leaving[];
  leave(one: Leaving): void;
  hasLeft(one: Leaving): void;
  leaving(): readonly Leaving[];
  spread(shard: number, channel: number): void;
  /** Which of these channels have something in a shard. */
  within(shard: number, channels: readonly number[]): ReadonlySet<number>;
  guard(channel: string): void;
  guarded(): readonly string[];
  forget(): void;
}

/** Names kept in memory; beyond it they are read again. */
const KEPT_MAX = 50_000;

export function createNames(db: DatabaseSync): Names {
  const statements = {
    author: db.prepare('SELECT id FROM authors WHERE name = ?'),
    addAuthor: db.prepare('INSERT INTO authors (name) VALUES (?)'),
    channel: db.prepare('SELECT id, is_open FROM channels WHERE name = ?'),
    addChannel: db.prepare('INSERT INTO channels (name, is_open) VALUES (?, ?)'),
    deleteChannel: db.prepare('DELETE FROM channels WHERE id = ?'),
    deleteSpread: db.prepare('DELETE FROM spread WHERE channel = ?'),
    leave: db.prepare('INSERT INTO leaving VALUES (?, ?)'),
    hasLeft: db.prepare('DELETE FROM leaving WHERE channel = ? AND key = ?'),
    leaving: db.prepare('SELECT channel, key FROM leaving'),
    spread: db.prepare('INSERT OR IGNORE INTO spread VALUES (?, ?)'),
    within: db.prepare(
      // CROSS: what was asked for is looked up in the table, and not the other way round.
      'SELECT channel FROM json_each(?) CROSS JOIN spread ON shard = ? AND channel = value',
    ),
    guard: db.prepare('INSERT OR IGNORE INTO guarded VALUES (?)'),
    unguard: db.prepare('DELETE FROM guarded WHERE name = ?'),
    guarded: db.prepare('SELECT name FROM guarded'),
  };
  const authors = new Map<string, number>();
  const channels = new Map<string, ChannelNumber>();
  const spread = new Set<string>();
  let leaving: readonly Leaving[] | null = null;

  function keep<K, V>(map: Map<K, V>, key: K, value: V): V {
    if (map.size >= KEPT_MAX) map.clear();
    map.set(key, value);
    return value;
  }

  function findAuthor(name: string): number | null {
    const known = authors.get(name) ?? statements.author.get(name)?.id;
    return known === undefined ? null : keep(authors, name, Number(known));
  }

  function findChannel(name: string): ChannelNumber | null {
    const known = channels.get(name);
    if (known !== undefined) return known;
    const row = statements.channel.get(name);
    if (row === undefined) return null;
    return keep(channels, name, { id: Number(row.id), isOpen: row.is_open === 1 });
  }

  function author(name: string): number {
    const known = findAuthor(name);
    return known ?? keep(authors, name, Number(statements.addAuthor.run(name).lastInsertRowid));
  }

  function keysOf(name: string, { id, isOpen }: ChannelNumber): string[] {
    if (isOpen) return [OPEN_KEY];
    const parties = channelKind(name) === 'dm' ? dmParties(name) : null;
    if (parties === null) return [channelKey(id)];
    return [...new Set(parties)].map((party) => partyKey(author(party)));
  }

  return {
    author,
    findAuthor,
    findChannel,
    keysOf,
    channel(name) {
      const known = findChannel(name);
      if (known !== null) return known;
      const isOpen = isOpenChannel(name);
      const id = Number(statements.addChannel.run(name, isOpen ? 1 : 0).lastInsertRowid);
      return keep(channels, name, { id, isOpen });
    },
    retire(name) {
      statements.unguard.run(name);
      const known = findChannel(name);
      if (known === null) return [];
      const channel = known.id;
      const keys = keysOf(name, known).filter((key) => key !== channelKey(channel));
      statements.deleteChannel.run(channel);
      statements.deleteSpread.run(channel);
      channels.delete(name);
      return keys.map((key) => ({ channel, key }));
    },
    leave({ channel, key }) {
      statements.leave.run(channel, key);
      leaving = null;
    },
    hasLeft({ channel, key }) {
      statements.hasLeft.run(channel, key);
      leaving = null;
    },
    leaving() {
      leaving ??= statements.leaving
        .all()
        .map(({ channel, key }) => ({ channel: Number(channel), key: String(key) }));
      return leaving;
    },
    spread(shard, channel) {
      const key = `${shard}/${channel}`;
      if (spread.has(key)) return;
      if (spread.size >= KEPT_MAX) spread.clear();
      spread.add(key);
      statements.spread.run(shard, channel);
    },
    within: (shard, among) =>
      new Set(
        statements.within.all(JSON.stringify(among), shard).map(({ channel }) => Number(channel)),
      ),
    guard: (name) => void statements.guard.run(name),
    guarded: () => statements.guarded.all().map(({ name }) => String(name)),
    forget() {
      authors.clear();
      channels.clear();
      spread.clear();
      leaving = null;
    },
  };
}
