/**
 * The log in NATS JetStream: one stream for a space, one message for an append. Several servers write to it,
 * and each append names the sequence it was decided on, so that one of two can win a position and no stale
 * writer can do anything [G2]. What a server did not answer is asked for again, never guessed [G9].
 */
import { chainHead, encodeBatch, entryAt, GENESIS } from './batch.ts';
import {
  CHUNK_ENTRIES_MAX,
  checkedEntries,
  corruptAt,
  foreignSnapshot,
  missing,
  outOfRange,
  requirePosition,
} from './batch-checks.ts';
import type { Appended, Chunk, Log, Snapshot, StoredBatch } from './log.ts';
import { LogError } from './log.ts';
import { askAgain } from './nats/ask-again.ts';
import { listNatsSpaces } from './nats/directory.ts';
import { type Durability, requireDurable } from './nats/durability.ts';
import { natsFailure } from './nats/failure.ts';
import { followStream } from './nats/follower.ts';
import {
  createId,
  type Generation,
  type GenerationOptions,
  openGeneration,
  pointersOf,
} from './nats/generation.ts';
import { type Link, openLink } from './nats/link.ts';
import { type Making, makingOf } from './nats/making.ts';
import { createAssembler, type Whole } from './nats/message.ts';
import { type NatsPlace, shownPlace } from './nats/place.ts';
import { createReader } from './nats/reader.ts';
import { replaceStream } from './nats/replace.ts';
import { requireKeeping } from './nats/settings.ts';
import { createNatsSnapshots } from './nats/snapshots.ts';
import { namesOf } from './nats/streams.ts';
import { putBatch, type Target } from './nats/writer.ts';
import { decodeSnapshot, encodeSnapshot } from './snapshot.ts';

export interface NatsLogOptions extends GenerationOptions {
  readonly patienceMs?: number;
  /** Everybody who may read it reads what is compressed; so it is unless somebody says otherwise. */
  readonly mayCompress?: (() => boolean) | undefined;
}

export interface NatsLog extends Log {
  /** How often another writer was first, since it was opened. */
  readonly conflicts: number;
  readonly durability: Durability;
  /** Null where the space was made before it was opened. */
  readonly making: Making | null;
}

const PATIENCE_MS = 10_000;

interface Tail {
  readonly length: number;
  readonly head: string;
  /** The last of the stream, also where that is a part of nothing. */
  readonly seq: number;
}

export async function openNatsLog(
  place: NatsPlace,
  space: string,
  options: NatsLogOptions = {},
): Promise<NatsLog> {
  const link = await openLink(place);
  try {
    const generation = await openGeneration(link, place, space, options);
    const { streams } = link.manager;
    const info = await streams.info(namesOf(place, generation).log);
    // What names the log is worth as much as the log.
    await requireDurable(place, await streams.info(pointersOf(place.prefix)));
    requireKeeping(shownPlace(place), info.config, 0);
    const durability = await requireDurable(place, info);
    return await openOn(link, place, generation, durability, options);
  } catch (error) {
    await link.release();
    throw natsFailure(shownPlace(place), 'open', error);
  }
}

export async function natsSpaces(place: NatsPlace): Promise<string[]> {
  const link = await openLink(place);
  try {
    return await listNatsSpaces(link, place);
  } catch (error) {
    throw natsFailure(shownPlace(place), 'list the spaces of', error);
  } finally {
    await link.release();
  }
}

async function openOn(
  link: Link,
  place: NatsPlace,
  generation: Generation,
  durability: Durability,
  { patienceMs = PATIENCE_MS, mayCompress = () => true }: NatsLogOptions,
): Promise<NatsLog> {
  const { manager } = link;
  const names = namesOf(place, generation);
  const path = `${shownPlace(place)} (${generation.space})`;
  const by = createId();
  const target: Target = {
    ...{ link, stream: names.log, subject: names.logSubject, path, by, patienceMs, mayCompress },
  };
  const reader = createReader(link, names.log);
  const snapshots = createNatsSnapshots(link, names.snapshots, names.snapshotSubject, createId);
  const followers = new Set<() => void>();
  /** Batches that are known to make their heads. */
  const chained = new WeakSet<StoredBatch>();
  let isOpen = true;
  let conflicts = 0;
  let tail: Tail = { length: 0, head: GENESIS, seq: 0 };
  let appending: Promise<unknown> = Promise.resolve();
  let following: { stop(): void } | null = null;

  function requireOpen(): void {
    if (!isOpen)
      throw new LogError('log.closed', `${path} is closed; open it again to use it`, { path });
  }

  async function guard<Result>(tried: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof TypeError) throw error;
      throw natsFailure(path, tried, error);
    }
  }

  function replaced(): LogError {
    return new LogError('log.closed', `${path} was compacted by another server; open it again`, {
      path,
    });
  }

  /** Takes in how far others have come. */
  async function refresh(): Promise<void> {
    const { state } = await askAgain(() => manager.streams.info(names.log));
    if (state.last_seq <= tail.seq) return;
    let fresh: Tail = { ...tail, seq: state.last_seq };
    for (let seq = state.last_seq; seq > tail.seq; seq--) {
      const stored = await reader.message(seq);
      if (stored?.replaced != null) throw replaced();
      const label = stored?.label;
      if (label == null || label.part !== label.parts) continue;
      if (label.parts > 1 && (await reader.whole(seq - label.parts + 1)) === null) continue;
      fresh = { length: label.first + label.count, head: label.head, seq: state.last_seq };
      break;
    }
    take(fresh);
  }

  function take(fresh: Tail): void {
    if (fresh.seq <= tail.seq) return;
    const isMore = fresh.length > tail.length;
    tail = fresh;
    if (isMore) for (const hear of followers) hear();
  }

  async function append(expected: number, entries: readonly string[]): Promise<Appended> {
    requireOpen();
    if (expected !== tail.length) await refresh();
    if (expected !== tail.length) return { conflict: tail.length };
    if (entries.length === 0) return { length: tail.length };
    const before = tail.head;
    const { bytes, head } = encodeBatch(entries, before);
    const batch = { first: tail.length, count: entries.length, bytes, head };
    const length = batch.first + batch.count;
    for (;;) {
      const after = tail.seq;
      const put = await putBatch(target, batch, after);
      if (put !== 'conflict') {
        if (put.lastSeq > tail.seq) tail = { length, head, seq: put.lastSeq };
        chained.add(batch);
        reader.pass({ batch, firstSeq: after + 1, lastSeq: put.lastSeq });
        return { length };
      }
      await refresh();
      // Where only parts of a batch came that never became one, ours is as good as before.
      if (tail.length !== expected || tail.head !== before) return { conflict: tail.length };
    }
  }

  /** One after the other, and before a look at the tail: what is on its way is not news. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = appending.then(work);
    appending = done.catch(() => {});
    return done;
  }

  async function batchAt(position: number): Promise<StoredBatch> {
    const found = await reader.find(position, tail);
    if (found === null) throw missing(path, position);
    return found.batch;
  }

  async function* wholes(from: number, end: Tail): AsyncGenerator<StoredBatch> {
    if (from >= end.length) return;
    const first = await reader.find(from, end);
    if (first === null) throw missing(path, from);
    let position = first.batch.first + first.batch.count;
    reader.pass(first);
    yield first.batch;
    if (position >= end.length) return;
    for await (const whole of reader.from(first.lastSeq + 1, end.seq)) {
      const { batch } = whole;
      if (batch.first >= end.length) return;
      // Of a batch that two openings tried to put there, the second try is not in the chain.
      if (batch.first !== position) throw missing(path, position);
      position = batch.first + batch.count;
      reader.pass(whole);
      yield batch;
      requireOpen();
    }
    if (position < end.length) throw missing(path, position);
  }

  async function headAt(position: number): Promise<string | null> {
    if (position === 0) return GENESIS;
    if (position > tail.length) return null;
    const { first, count, head } = await batchAt(position - 1);
    return first + count === position ? head : null;
  }

  function learn(whole: Whole): void {
    const { first, bytes, head } = whole.batch;
    if (first === tail.length && chainHead(tail.head, bytes) === head) chained.add(whole.batch);
    reader.learn(whole);
  }

  /** Of what others stored the followers are told, once it can be read here. */
  function listen(): { stop(): void } {
    const assemble = createAssembler();
    return followStream(link, names.log, {
      from: () => tail.seq + 1,
      async hear(stored, isWhole) {
        const { label, seq } = stored;
        if (label === null) return null;
        if (label.by === by) return 'mine';
        const whole = isWhole ? assemble(stored) : null;
        if (whole !== null) learn(whole);
        if (label.part !== label.parts) return 'theirs';
        const { first, count, head } = label;
        if (whole !== null || label.parts === 1) take({ length: first + count, head, seq });
        else await inTurn(refresh);
        return 'theirs';
      },
    });
  }

  async function close(): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    following?.stop();
    followers.clear();
    await link.release();
  }

  await refresh();

  return {
    durability,
    making: makingOf(place, generation),
    get conflicts() {
      return conflicts;
    },
    get length(): number {
      return tail.length;
    },
    get head(): string {
      return tail.head;
    },
    async append(expected, entries) {
      requireOpen();
      const appended = await guard('append to', () => inTurn(() => append(expected, entries)));
      if ('conflict' in appended) conflicts++;
      return appended;
    },
    async *read(from, enough = Number.POSITIVE_INFINITY): AsyncGenerator<Chunk> {
      requireOpen();
      if (tail.length < enough) await guard('read', () => inTurn(refresh));
      const end = tail;
      requirePosition(from, end.length, path);
      let position = from;
      for await (const batch of wholes(from, end)) {
        requireOpen();
        const entries = checkedEntries(batch, position, path, chained.has(batch));
        for (let start = 0; start < entries.length; start += CHUNK_ENTRIES_MAX) {
          const slice = entries.slice(start, start + CHUNK_ENTRIES_MAX);
          yield { first: position + start, entries: slice };
        }
        position += entries.length;
      }
    },
    async at(positions) {
      requireOpen();
      for (const position of positions) {
        if (!Number.isInteger(position) || position < 0 || position >= tail.length)
          throw outOfRange(path, position, tail.length);
      }
      return guard('read', async () => {
        const found: string[] = [];
        // In order: neighbours are of one batch, which is then at hand.
        const order = positions.map((position, index) => ({ position, index }));
        order.sort((a, b) => a.position - b.position);
        for (const { position, index } of order) {
          const batch = await batchAt(position);
          const entry = entryAt(batch.bytes, position - batch.first);
          if (entry === null) throw corruptAt(path, position);
          found[index] = entry;
        }
        return found;
      });
    },
    follow(hear) {
      requireOpen();
      // A place of its own: the same function may follow twice.
      const follower = (): void => hear();
      followers.add(follower);
      following ??= listen();
      return () => {
        followers.delete(follower);
        if (followers.size > 0) return;
        following?.stop();
        following = null;
      };
    },
    async *batches(from) {
      requireOpen();
      const end = tail;
      requirePosition(from, end.length, path);
      yield* wholes(from, end);
    },
    async loadSnapshot(onRefused, atMost = Number.POSITIVE_INFINITY) {
      requireOpen();
      return guard('read the snapshots of', async () => {
        for (const position of await snapshots.positions()) {
          if (position > atMost) continue;
          const bytes = await snapshots.load(position);
          const snapshot = bytes === null ? null : decodeSnapshot(bytes);
          if (position > tail.length) await inTurn(refresh);
          if (snapshot !== null && (await headAt(snapshot.position)) === snapshot.head)
            return snapshot;
          onRefused?.(foreignSnapshot(path, snapshot, tail.length));
        }
        return null;
      });
    },
    async saveSnapshot(snapshot: Snapshot) {
      requireOpen();
      await guard('save a snapshot of', async () => {
        if ((await headAt(snapshot.position)) !== snapshot.head) {
          throw new LogError(
            'log.position',
            `a snapshot at ${snapshot.position} does not carry the chain head of ${path} there; take it between two appends`,
            { path },
          );
        }
        await snapshots.save(snapshot.position, await encodeSnapshot(snapshot));
      });
    },
    compacted: generation.compacted,
    async replace(expected, batches, compacted) {
      requireOpen();
      await guard('compact', () =>
        inTurn(async () => {
          await refresh();
          if (expected !== tail.length) throw diverged(path, tail.length, expected);
          await replaceStream(target, place, generation, tail.seq, batches, compacted);
        }),
      );
      await close();
    },
    close,
  };
}

function diverged(path: string, length: number, expected: number): LogError {
  return new LogError(
    'log.diverged',
    `${path} holds ${length} entries and not ${expected}: somebody wrote to it; nothing was changed, try again`,
    { path },
  );
}
