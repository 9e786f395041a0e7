/**
 * The way to one sink: a bounded queue, one write at a time, never waited for by who has something to say.
 * A sink that is slow, throws or never answers costs the records that do not fit, and these are counted and,
 * once it takes records again, told to it [TL3].
 */
import { type Level, rankOf, type Sink, type TelemetryRecord } from './record.ts';

export const QUEUE_RECORDS_MAX = 8_192;
const BATCH_RECORDS_MAX = 512;
const GATHER_MS = 200;

/**
 * What became of the records of a sink.
 *
 * @example
 * ```ts
 * const isLossy = ({ dropped, failed }: SinkCounts): boolean => dropped + failed > 0;
 * ```
 */
export interface SinkCounts {
  readonly name: string;
  readonly written: number;
  readonly dropped: number;
  /** Writes that failed. */
  readonly failed: number;
  readonly queued: number;
}

export interface SinkQueue {
  readonly rank: number;
  push(record: TelemetryRecord): void;
  counts(): SinkCounts;
  /** Ends when everything up to now was written or given up, or `ms` are over. */
  flush(ms: number): Promise<void>;
  close(ms: number): Promise<void>;
}

/**
 * How long a sink gathers records before it writes them, and how many may wait.
 *
 * @example
 * ```ts
 * const times: QueueTimes = { gatherMs: 200, recordsMax: 10_000 };
 * ```
 */
export interface QueueTimes {
  readonly gatherMs?: number;
  readonly recordsMax?: number;
}

export function createSinkQueue(sink: Sink, at: number, times: QueueTimes = {}): SinkQueue {
  const { gatherMs = GATHER_MS, recordsMax = QUEUE_RECORDS_MAX } = times;
  const name = sink.name ?? `sink ${at + 1}`;
  const level: Level = sink.level ?? 'info';
  let queue: TelemetryRecord[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;
  let isClosed = false;
  let written = 0;
  let dropped = 0;
  let toldDropped = 0;
  let failed = 0;

  function later(): void {
    if (timer !== null || writing !== null) return;
    timer = setTimeout(drain, queue.length >= BATCH_RECORDS_MAX ? 0 : gatherMs);
    timer.unref();
  }

  function drain(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (writing !== null || queue.length === 0) return;
    const batch = queue.slice(0, BATCH_RECORDS_MAX);
    queue = queue.slice(BATCH_RECORDS_MAX);
    const lost = dropped - toldDropped;
    if (lost > 0) batch.push(droppedRecord(name, lost));
    writing = write(batch, lost).then(() => {
      writing = null;
      if (queue.length > 0) later();
    });
  }

  async function write(batch: readonly TelemetryRecord[], lost: number): Promise<void> {
    try {
      const refused = (await sink.write(batch)) ?? 0;
      written += batch.length - refused;
      dropped += refused;
      toldDropped += lost;
    } catch {
      failed++;
      dropped += batch.length - (lost > 0 ? 1 : 0);
    }
  }

  async function empty(): Promise<void> {
    for (;;) {
      drain();
      if (writing === null) return;
      await writing;
    }
  }

  return {
    rank: rankOf(level),
    push(record) {
      if (isClosed || queue.length >= recordsMax) {
        dropped++;
        return;
      }
      queue.push(record);
      if (timer === null) later();
      else if (queue.length === BATCH_RECORDS_MAX) {
        clearTimeout(timer);
        timer = null;
        later();
      }
    },
    counts: () => ({ name, written, dropped, failed, queued: queue.length }),
    flush: (ms) => within(empty(), ms),
    async close(ms) {
      isClosed = true;
      await within(empty(), ms);
      if (timer !== null) clearTimeout(timer);
      try {
        await within(Promise.resolve(sink.close?.()), ms);
      } catch {
        failed++;
      }
    },
  };
}

function droppedRecord(name: string, count: number): TelemetryRecord {
  return {
    ...{ kind: 'log', level: 'warn', name: 'telemetry.dropped', at: Date.now(), ids: {} },
    ...{ traceId: null, spanId: null, attributes: { sink: name, count } },
  };
}

async function within(work: Promise<void>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
