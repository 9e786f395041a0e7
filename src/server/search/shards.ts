/**
 * The index, cut by position into tables of a bounded size. A search goes through them from the newest
 * and stops when it has its page, so what one step costs has a bound, whatever is asked and however
 * long the log is; between two steps the time is looked at [FT4]. A table that is full is merged
 * into one piece, a little at a time.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** How many messages a shard takes. */
const SHARD_MESSAGES = 65_536;
/** And how much text. */
const SHARD_CHARS: number = 32 * 1024 * 1024;
/** Pages of a table that are merged at one step. */
const MERGE_PAGES = 64;

export interface Shard {
  readonly id: number;
  /** Positions from here on, up to where the next one begins. */
  readonly first: number;
}

export interface Shards {
  /** Of the newest first. */
  list(): readonly Shard[];
  at(position: number): Shard;
  put(position: number, words: string): Shard;
  find(shard: Shard, expression: string, range: Range): number[];
  remove(shard: Shard, position: number): void;
  /** Merges a little of what is full; false when there is nothing to merge. */
  merge(): boolean;
  /** What is kept in memory may be another process's past. */
  forget(): void;
}

export interface Range {
  readonly above: number;
  readonly below: number;
  readonly limit: number;
}

export const SHARD_TABLES = `
  CREATE TABLE shards (
    id INTEGER PRIMARY KEY, first INTEGER NOT NULL, messages INTEGER NOT NULL,
    chars INTEGER NOT NULL, merged INTEGER NOT NULL
  ) STRICT;`;

interface Statements {
  readonly put: StatementSync;
  readonly find: StatementSync;
  readonly remove: StatementSync;
}

export function createShards(db: DatabaseSync, messagesMax: number = SHARD_MESSAGES): Shards {
  const statements = new Map<number, Statements>();
  const insert = db.prepare('INSERT INTO shards VALUES (?, ?, 0, 0, 0)');
  const count = db.prepare(
    'UPDATE shards SET messages = messages + 1, chars = chars + ? WHERE id = ? RETURNING messages, chars',
  );
  const full = db.prepare('SELECT id FROM shards WHERE merged = 0 AND id < ? ORDER BY id LIMIT 1');
  const merged = db.prepare('UPDATE shards SET merged = 1 WHERE id = ?');
  let shards: Shard[] | null = null;
  let isNewestFull = false;

  const ascending = (): Shard[] => {
    shards ??= db
      .prepare('SELECT id, first FROM shards ORDER BY id')
      .all()
      .map(({ id, first }) => ({ id: Number(id), first: Number(first) }));
    return shards;
  };

  function open(position: number): Shard {
    const id = (ascending().at(-1)?.id ?? 0) + 1;
    // Names of the table come from numbers of ours alone.
    db.exec(
      `CREATE VIRTUAL TABLE shard_${id} USING fts5(words, content = '', contentless_delete = 1,
         tokenize = "ascii tokenchars '~@#'")`,
    );
    // What was held for long goes in where it was said: the first one begins at the beginning.
    const shard = { id, first: id === 1 ? 0 : position };
    insert.run(id, shard.first);
    ascending().push(shard);
    isNewestFull = false;
    return shard;
  }

  function of({ id }: Shard): Statements {
    let known = statements.get(id);
    if (known === undefined) {
      const table = `shard_${id}`;
      known = {
        put: db.prepare(`INSERT INTO ${table} (rowid, words) VALUES (?, ?)`),
        find: db.prepare(
          `SELECT rowid FROM ${table} WHERE ${table} MATCH ? AND rowid > ? AND rowid < ?
           ORDER BY rowid DESC LIMIT ?`,
        ),
        remove: db.prepare(`DELETE FROM ${table} WHERE rowid = ?`),
      };
      statements.set(id, known);
    }
    return known;
  }

  function at(position: number): Shard {
    const all = ascending();
    let low = 0;
    let high = all.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((all[middle] as Shard).first <= position) low = middle;
      else high = middle - 1;
    }
    return all[low] ?? open(position);
  }

  return {
    list: () => ascending().toReversed(),
    at,
    put(position, words) {
      const newest = ascending().at(-1);
      const isNew = newest === undefined || (isNewestFull && position > newest.first);
      const shard = isNew ? open(position) : at(position);
      of(shard).put.run(position, words);
      const { messages, chars } = count.get(words.length, shard.id) as Record<string, number>;
      if (shard === ascending().at(-1)) {
        isNewestFull = (messages ?? 0) >= messagesMax || (chars ?? 0) >= SHARD_CHARS;
      }
      return shard;
    },
    find: (shard, expression, { above, below, limit }) =>
      of(shard)
        .find.all(expression, above, below, limit)
        .map(({ rowid }) => Number(rowid)),
    remove: (shard, position) => void of(shard).remove.run(position),
    merge() {
      const newest = ascending().at(-1);
      const id = newest === undefined ? undefined : full.get(newest.id)?.id;
      if (id === undefined) return false;
      const before = changesIn(db);
      db.exec(`INSERT INTO shard_${id} (shard_${id}, rank) VALUES ('merge', -${MERGE_PAGES})`);
      // One change is the command itself.
      if (changesIn(db) - before < 2) merged.run(id);
      return true;
    },
    forget() {
      shards = null;
      isNewestFull = false;
      statements.clear();
    },
  };
}

function changesIn(db: DatabaseSync): number {
  return Number(db.prepare('SELECT total_changes() AS n').get()?.n);
}
