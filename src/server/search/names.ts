/**
 * The numbers that stand for names in the index. A channel that is retired loses its number: one of the same
 * name that is made later is another channel, and what was said on the first is found no more [FT3].
 */
import type { DatabaseSync } from 'node:sqlite';

export interface ChannelNumber {
  readonly id: number;
  readonly isOpen: boolean;
}

export interface Names {
  author(name: string): number;
  findAuthor(name: string): number | null;
  channel(name: string, fresh: { isOpen: boolean; parties: readonly string[] }): ChannelNumber;
  findChannel(name: string): ChannelNumber | null;
  /** The dms of an agent. */
  dmsOf(party: string): readonly { readonly id: number; readonly name: string }[];
  /** The number it had, if it was open and its messages have to go out. */
  retire(channel: string): number | null;
  /** Marks an open channel as on its way out. */
  leave(channel: number): void;
  leaving(): readonly number[];
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
    addParty: db.prepare('INSERT OR IGNORE INTO parties VALUES (?, ?)'),
    dms: db.prepare(
      'SELECT id, channels.name FROM parties JOIN channels ON id = channel WHERE parties.name = ?',
    ),
    deleteChannel: db.prepare('DELETE FROM channels WHERE id = ?'),
    deleteParties: db.prepare('DELETE FROM parties WHERE channel = ?'),
    deleteSpread: db.prepare('DELETE FROM spread WHERE channel = ?'),
    leave: db.prepare('INSERT INTO leaving VALUES (?)'),
    leaving: db.prepare('SELECT channel FROM leaving'),
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
  let leaving: readonly number[] | null = null;

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

  return {
    findAuthor,
    findChannel,
    author: (name) =>
      findAuthor(name) ??
      keep(authors, name, Number(statements.addAuthor.run(name).lastInsertRowid)),
    channel(name, { isOpen, parties }) {
      const known = findChannel(name);
      if (known !== null) return known;
      const id = Number(statements.addChannel.run(name, isOpen ? 1 : 0).lastInsertRowid);
      for (const party of parties) statements.addParty.run(party, id);
      return keep(channels, name, { id, isOpen });
    },
    dmsOf: (party) =>
      statements.dms.all(party).map(({ id, name }) => ({ id: Number(id), name: String(name) })),
    retire(name) {
      statements.unguard.run(name);
      const known = findChannel(name);
      if (known === null) return null;
      statements.deleteChannel.run(known.id);
      statements.deleteParties.run(known.id);
      statements.deleteSpread.run(known.id);
      channels.delete(name);
      return known.isOpen ? known.id : null;
    },
    leave(channel) {
      statements.leave.run(channel);
      leaving = null;
    },
    leaving() {
      leaving ??= statements.leaving.all().map(({ channel }) => Number(channel));
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
