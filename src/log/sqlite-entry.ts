/**
 * One entry of an SQLite log without the batch that it is in: a page of a thread is a hundred entries of
 * a hundred batches.
 *
 * The front of its batch says where an entry lies, so it is looked at while the statement runs. The batch is
 * then read from the disk once and copied out of SQLite never; in a statement of its own each of the two
 * looks would read all of it. What is handed out is text: bytes would be a buffer each for the collector.
 */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { asBuffer, type EntryPlace, entryPlace, frontBytes } from './batch.ts';

interface Row {
  /** Behind the last entry of the batch. */
  readonly end: number;
  /** SQLite has null for what is empty. */
  readonly text: string | null;
}

const FRONT = `${frontBytes(-1)} + ${frontBytes(0) - frontBytes(-1)} * (?1 - first + 1)`;
const ENTRY = `
  SELECT first + count AS end,
    CAST(substr(bytes, entry_start(substr(bytes, 1, ${FRONT}), count, ?1 - first), entry_length()) AS TEXT) AS text
  FROM batches WHERE first <= ?1 ORDER BY first DESC LIMIT 1`;

/** Of bytes that are no front of a batch; no checksum is this. */
const NOWHERE: EntryPlace = { start: 0, length: 0, crc: -1 };

/** Null when its bytes are not the ones stored, undefined when no batch holds it. */
export function createEntryReader(
  db: DatabaseSync,
): (position: number) => string | null | undefined {
  let place: EntryPlace | null = null;

  db.function('entry_start', (front, count, index) => {
    place = placeOf(front, Number(count), Number(index));
    // SQLite counts from 1, and hands out what there is of a length that was changed.
    return place.start + 1;
  });
  db.function('entry_length', () => {
    if (place === null) throw new Error('the length of an entry was asked before its start');
    return place.length;
  });
  const statement = db.prepare(ENTRY);

  return (position) => {
    place = null;
    const row = statement.get(position) as Row | undefined;
    if (row === undefined || position >= row.end) return undefined;
    const text = row.text ?? '';
    return crc32(text) === (place as EntryPlace | null)?.crc ? text : null;
  };
}

function placeOf(front: SQLInputValue, count: number, index: number): EntryPlace {
  if (!(front instanceof Uint8Array) || front.length < frontBytes(index)) return NOWHERE;
  return entryPlace(asBuffer(front), count, index);
}
