/**
 * A relay: messages and claim events of the default space, a short line each, in a bounded
 * file that anything can tail; its shape says which and how [RL1] [RL5]. It follows the log behind the
 * hub's back: what waits to be written waits in the log, so a slow or failing disk
 * costs nobody anything, is complained of once, and loses nothing [RL3]. The cursor is
 * the position in the log, so it survives trimming and restarts without a gap or a
 * repeat [RL2].
 */
import { decodeEvent, decodeMessage } from '../../core/law/entry.ts';
import type { Hub } from '../../hub/hub.ts';
import { createRelayFile, NotOursError } from './relay-file.ts';
import type { Line, RelayShape } from './relay-line.ts';
import type { ServerLog } from './server-log.ts';

/** Lines are gathered this long, so that a busy hub costs few writes. */
const GATHER_MS = 50;
const PAGE_BYTES_MAX = 1024 * 1024;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 30_000;
const WORK = /^\{"type":"(claim|task)\./;

export interface RelayOptions {
  readonly shape: RelayShape;
  readonly path: string;
  readonly lines: number;
  readonly hub: Hub;
  readonly nodeId: string;
  readonly log: ServerLog;
  readonly retryMs?: number;
}

export interface Relay {
  /** Writes what is left, then stops. */
  close(): Promise<void>;
}

/** Throws when the file holds something else; any other trouble is left for later. */
export async function openRelay(options: RelayOptions): Promise<Relay> {
  const { path, shape, hub, nodeId, log, retryMs = RETRY_MS_MIN } = options;
  const file = createRelayFile(path, options.lines, shape.version);
  /** The next position to look at; null until the file has said where it ends. */
  let next: number | null = null;
  // A file that could not be opened at once still begins where the hub was then.
  const begin = hub.stats.entries;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let failures = 0;
  let isClosed = false;

  async function findPlace(): Promise<number> {
    const last = await file.recover();
    if (last !== null && last < hub.stats.entries) return last + 1;
    if (last !== null) log('warn', `${path} is of another log; it begins anew`);
    await file.start(shape.start(begin - 1, Date.now(), nodeId));
    return begin;
  }

  async function catchUp(): Promise<void> {
    next ??= await findPlace();
    for (;;) {
      const entries = await hub.entries(next, PAGE_BYTES_MAX);
      if (entries.length === 0) return;
      const lines: Line[] = [];
      for (const [i, entry] of entries.entries()) {
        const line = await lineOf(options, entry, next + i);
        if (line !== null) lines.push(line);
      }
      if (lines.length > 0) await file.append(lines);
      next += entries.length;
    }
  }

  async function run(): Promise<void> {
    try {
      await catchUp();
      if (failures > 0) log('info', `the relay file ${path} is written again`);
      failures = 0;
    } catch (cause) {
      // What was half written is cut before anything is written after it.
      next = null;
      if (failures++ === 0)
        log('error', `the relay file ${path} cannot be written; trying on`, cause);
      if (!isClosed) schedule(Math.min(retryMs * 2 ** Math.min(failures - 1, 10), RETRY_MS_MAX));
    }
  }

  function schedule(afterMs: number): void {
    if (timer !== null || isClosed) return;
    timer = setTimeout(() => {
      timer = null;
      running = (running ?? Promise.resolve()).then(run);
    }, afterMs);
    timer.unref();
  }

  try {
    next = await findPlace();
  } catch (cause) {
    if (cause instanceof NotOursError) throw cause;
  }
  const stopListening = hub.watch.events(() => schedule(GATHER_MS));
  schedule(0);
  return {
    async close() {
      stopListening();
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await running;
      await run();
    },
  };
}

async function lineOf(
  { hub, shape, nodeId }: RelayOptions,
  entry: string,
  position: number,
): Promise<Line | null> {
  const message = decodeMessage(entry);
  if (message !== null) {
    return message.held === undefined ? shape.message(message, position, position, nodeId) : null;
  }
  if (WORK.test(entry)) return shape.work(decodeEvent(entry), position, nodeId);
  if (!entry.startsWith('{"type":"message.reviewed"')) return null;
  const event = decodeEvent(entry);
  if (event.type !== 'message.reviewed' || !event.isReleased) return null;
  const [released] = await hub.messages([event.position]);
  return released == null ? null : shape.message(released, position, event.position, nodeId);
}
