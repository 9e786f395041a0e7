/**
 * A log as text: one header line, then one JSON line per append.
 *
 * Batch boundaries are kept, so the imported log has the same heads and can be
 * told from the original by nothing. An import may break anywhere and be run
 * again: what is there already is compared, not repeated, and a line cut short at
 * the end is left for the next run. What disagrees is refused with its position.
 */
import { chainHead, decodeBatch, encodeBatch, firstBadEntry, GENESIS } from './batch.ts';
import { isStubOf } from './compact-digest.ts';
import type { Compacted, Log, StoredBatch } from './log.ts';
import { LogError } from './log.ts';
import { encodeSignedHead, type SignedHead } from './signed-head.ts';
import { createWalk, type Verified } from './verify.ts';

/** What `importLog` did; not complete means the text ended before the log it was taken from did. */
export interface Imported {
  readonly length: number;
  readonly head: string;
  readonly appended: number;
  readonly skipped: number;
  readonly isComplete: boolean;
}

interface Header {
  readonly synod_log: number;
  readonly from: number;
  readonly length: number;
  readonly head: string;
  readonly previous: string;
  /** The log was compacted; what it is proved by travels with it. */
  readonly compacted?: Compacted;
}

interface Line {
  readonly first: number;
  readonly head: string;
  readonly entries: readonly string[];
}

const FORMAT = 1;
/** Of a compacted log: a program that knows nothing of that must not read it. */
const COMPACTED_FORMAT = 2;

/** Writes what is stored now, from the batch that holds `from`; lines come without their newline. */
export async function exportLog(
  log: Log,
  from: number,
  write: (line: string) => void | Promise<void>,
  anchors: readonly SignedHead[] = [],
): Promise<void> {
  const { length, head, compacted } = log;
  const first = from === length ? from : ((await firstOf(log.batches(from)))?.first ?? from);
  if (compacted !== null && first > 0 && first < compacted.through) {
    throw new LogError(
      'log.position',
      `the entries below ${compacted.through} were compacted and are proved together; export from 0, or from ${compacted.through} on`,
    );
  }
  let previous = await headAt(log, first);
  const isWhole = compacted === null || first > 0;
  const header = { synod_log: isWhole ? FORMAT : COMPACTED_FORMAT, from: first, length, head };
  const proof = {
    ...(!isWhole && { compacted }),
    ...(anchors.length > 0 && { anchors: anchors.map((one) => JSON.parse(encodeSignedHead(one))) }),
  };
  await write(JSON.stringify({ ...header, previous, ...proof }));
  for await (const batch of log.batches(first)) {
    // Batches appended while we write belong to the next export: the header is already out.
    if (batch.first >= length) break;
    const bad = firstBadEntry(batch.bytes);
    const isProved = !isWhole && batch.first < (compacted?.through ?? 0);
    if (bad !== null || !(isProved || chainHead(previous, batch.bytes) === batch.head)) {
      throw corrupt(`the log does not verify at position ${batch.first + (bad ?? 0)}`);
    }
    previous = batch.head;
    const line: Line = { first: batch.first, head: batch.head, entries: decodeBatch(batch.bytes) };
    await write(JSON.stringify(line));
  }
}

export async function importLog(
  log: Log,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<Imported> {
  let header: Header | null = null;
  let stored: AsyncIterator<StoredBatch> | null = null;
  let appended = 0;
  let skipped = 0;
  let number = 0;
  let tornLine = 0;
  const source = oneByOne(lines);
  for (let next = await source.next(); !next.done; next = await source.next()) {
    const text = next.value;
    number++;
    if (text === '') continue;
    if (tornLine > 0) throw corrupt(`line ${tornLine} of the export is not JSON`);
    const value = parseLine(text);
    if (value === undefined) {
      // The last line of a broken transfer; if another follows it was no last line.
      tornLine = number;
    } else if (header === null) {
      header = parseHeader(value);
      if (header.compacted !== undefined) return importCompacted(log, header, source);
      await requireJoins(log, header);
      stored = log.batches(header.from)[Symbol.asyncIterator]();
    } else {
      const line = parseBatchLine(value, number);
      if (line.first < log.length) {
        requireAgrees((await stored?.next())?.value, line);
        skipped += line.entries.length;
      } else {
        await appendLine(log, line);
        appended += line.entries.length;
      }
    }
  }
  if (header === null) throw corrupt('the export has no header line');
  const { length, head } = log;
  return { length, head, appended, skipped, isComplete: length >= header.length };
}

/** From one store to another, by the same way as a text: what is there already is compared, and heads are kept. */
export async function copyLog(from: Log, to: Log): Promise<Imported> {
  const { readable, writable } = new TransformStream<string, string>();
  const writer = writable.getWriter();
  const written = exportLog(from, 0, (line) => writer.write(line)).then(
    () => writer.close(),
    (cause) => writer.abort(cause),
  );
  // What the copy is refused with is what went wrong; that nobody reads on then is no news.
  written.catch(() => {});
  const imported = await importLog(to, readable);
  await written;
  return imported;
}

/** All at once and into an empty log: what was compacted is proved only as a whole [G13]. */
async function importCompacted(
  log: Log,
  header: Header,
  lines: AsyncIterable<string>,
): Promise<Imported> {
  const { length, head, compacted } = header;
  if (log.length > 0 || compacted === undefined) {
    throw new LogError(
      'log.diverged',
      'an export of a compacted log is read into an empty log only; nothing was changed',
    );
  }
  const walk = createWalk(compacted);
  async function* batches(): AsyncGenerator<StoredBatch> {
    for await (const batch of batchesIn(lines, 1)) {
      const problem = walk.take(batch);
      if (problem !== null) throw corrupt(`position ${problem.position}: ${problem.reason}`);
      yield batch;
    }
    const verified = walk.finish(header);
    if (!verified.ok) throw corrupt(`position ${verified.position}: ${verified.reason}`);
  }
  await log.replace(0, batches(), compacted);
  return { length, head, appended: length, skipped: 0, isComplete: true };
}

/**
 * Does an export from before a compaction lead to this log? Its chain is made anew from the first
 * entry on; every head must be the one that this log has kept at that place, and every entry what the
 * log says there, but for bodies that were dropped [G14].
 */
export async function verifyArchive(
  log: Log,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<Verified> {
  const source = oneByOne(lines);
  const first = await source.next();
  const header = parseHeader(parseLine(first.done ? '' : first.value));
  if (header.from !== 0 || header.compacted !== undefined) {
    throw corrupt('an archive is an export from position 0 of a log before it was compacted');
  }
  const kept = log.batches(0)[Symbol.asyncIterator]();
  const walk = createWalk(null);
  let head = GENESIS;
  for await (const batch of batchesIn(source, 1)) {
    const problem = walk.take(batch);
    if (problem !== null) return problem;
    const { value } = await kept.next();
    if (value?.first !== batch.first || value?.head !== batch.head) {
      const reason = 'the archive leads to another head than the log has kept here';
      return { ok: false, position: batch.first, reason };
    }
    const changed = firstChanged(decodeBatch(value.bytes), decodeBatch(batch.bytes));
    if (changed !== null) {
      const reason =
        'the log says another thing here than the archive, and not only without a body';
      return { ok: false, position: batch.first + changed, reason };
    }
    head = batch.head;
  }
  return walk.finish({ length: header.length, head });
}

/** Which entry is neither what it was nor that without its body; null when all are. */
function firstChanged(kept: readonly string[], before: readonly string[]): number | null {
  const index = before.findIndex((entry, i) => {
    const now = kept[i];
    return now === undefined || (now !== entry && !isStubOf(now, entry));
  });
  return index < 0 ? null : index;
}

async function* batchesIn(
  lines: AsyncIterable<string>,
  before: number,
): AsyncGenerator<StoredBatch> {
  let number = before;
  for await (const text of lines) {
    number++;
    if (text === '') continue;
    const { first, head, entries } = parseBatchLine(parseLine(text), number);
    yield { first, count: entries.length, bytes: encodeBatch(entries, GENESIS).bytes, head };
  }
}

async function* oneByOne(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  yield* lines;
}

/** Refuses an export that neither continues this log nor overlaps it truly. */
async function requireJoins(log: Log, header: Header): Promise<void> {
  if (header.from > log.length) {
    throw new LogError(
      'log.position',
      `the export starts at ${header.from} and this log ends at ${log.length}; export from ${log.length} or earlier`,
    );
  }
  if ((await headAt(log, header.from)) !== header.previous) throw diverged(header.from);
}

function requireAgrees(batch: StoredBatch | undefined, line: Line): void {
  const isSame =
    batch !== undefined &&
    batch.first === line.first &&
    batch.head === line.head &&
    encodeBatch(line.entries, GENESIS).bytes.equals(batch.bytes);
  if (!isSame) throw diverged(line.first);
}

async function appendLine(log: Log, line: Line): Promise<void> {
  if (line.first > log.length) {
    throw corrupt(`the export lacks the entries from position ${log.length} to ${line.first}`);
  }
  if (encodeBatch(line.entries, log.head).head !== line.head) {
    throw corrupt(`the export was changed at position ${line.first}: its head does not follow`);
  }
  const done = await log.append(line.first, line.entries);
  if ('conflict' in done) throw diverged(done.conflict);
}

async function headAt(log: Log, position: number): Promise<string> {
  if (position === 0) return GENESIS;
  if (position === log.length) return log.head;
  const batch = await firstOf(log.batches(position - 1));
  // A position inside a stored batch has no head: no export of this log could start there.
  if (batch === undefined || batch.first + batch.count !== position) throw diverged(position);
  return batch.head;
}

async function firstOf(batches: AsyncIterable<StoredBatch>): Promise<StoredBatch | undefined> {
  for await (const batch of batches) return batch;
  return undefined;
}

function parseLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller knows whether this was the last line, which a break may cut short.
    return undefined;
  }
}

function parseHeader(value: unknown): Header {
  const header = value as Partial<Header> | null;
  if (typeof header?.synod_log !== 'number') {
    throw corrupt('the text does not start with the header of a log export');
  }
  if (header.synod_log > COMPACTED_FORMAT) {
    throw new LogError(
      'log.newer',
      `the export has format ${header.synod_log} and this program knows up to ${COMPACTED_FORMAT}; upgrade synod`,
    );
  }
  const isWhole =
    isPosition(header.from) &&
    isPosition(header.length) &&
    typeof header.head === 'string' &&
    typeof header.previous === 'string';
  if (!isWhole) throw corrupt('the header line of the export lacks a field');
  return header as Header;
}

function parseBatchLine(value: unknown, number: number): Line {
  const line = value as Partial<Line> | null;
  const isWhole =
    isPosition(line?.first) &&
    typeof line?.head === 'string' &&
    Array.isArray(line.entries) &&
    line.entries.length > 0 &&
    line.entries.every((entry) => typeof entry === 'string' && entry.isWellFormed());
  if (!isWhole) throw corrupt(`line ${number} of the export is no batch of entries`);
  return line as Line;
}

function isPosition(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function corrupt(what: string): LogError {
  return new LogError('log.corrupt', `${what}; nothing further was done: make the export anew`);
}

function diverged(position: number): LogError {
  return new LogError(
    'log.diverged',
    `this log and the export hold different entries at position ${position}; import into an empty log instead`,
  );
}
