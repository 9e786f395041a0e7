/**
 * The mirror of a space: what is durable, a line each, in files that anything can read [MI1]. It follows the
 * log behind the hub's back: what waits to be written waits in the log, so a full or slow disk costs
 * nobody anything, is complained of once, and loses nothing [MI3]. How far it came is kept beside the files,
 * with what the log was then; a log that is another gets a folder of its own.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeMessage } from '../../core/law/entry.ts';
import { readJson } from '../../core/law/json.ts';
import type { Hub } from '../../hub/hub.ts';
import { type MirrorFiles, makeMirrorDirectory, openMirrorFiles } from './mirror-files.ts';
import { linesOf, type MirrorLine, releasedBy } from './mirror-line.ts';

const GATHER_MS = 100;
const PAGE_BYTES = 256 * 1024;
/** The cursor is written after what it covers is on the disk, so often at most. */
const CURSOR_EVERY_MS = 5_000;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 30_000;
const FOLDERS_MAX = 1_000;
const CURSOR = '~position.json';

export interface MirrorOptions {
  /** The folder of all spaces. */
  readonly dir: string;
  readonly hub: Hub;
  /** For tests. */
  readonly bytesMax?: number | undefined;
  readonly retryMs?: number | undefined;
  onTrouble(line: string, cause: unknown): void;
  onMended(line: string): void;
}

export interface Mirror {
  /** Writes what is left, then stops. */
  close(): Promise<void>;
  /** At once: the log is there no more. */
  stop(): void;
}

interface Cursor {
  /** The next entry to mirror. */
  readonly position: number;
  /** SHA-256 of the first entry of the log, and of the one before the position. */
  readonly first: string;
  readonly last: string;
}

export function openMirror(options: MirrorOptions): Mirror {
  const { hub, retryMs = RETRY_MS_MIN } = options;
  const base = join(options.dir, hub.space);
  let folder: {
    readonly path: string;
    readonly files: MirrorFiles;
    readonly first: string;
  } | null = null;
  let next = 0;
  let last = '';
  let savedAt = performance.now();
  let saved = -1;
  let timer: NodeJS.Timeout | null = null;
  let dueAt = 0;
  let running: Promise<void> = Promise.resolve();
  let failures = 0;
  let isClosed = false;

  /** The folder of this log: the one it wrote to before, or one that nobody did. */
  async function findFolder(): Promise<void> {
    const [entry] = await hub.entries(0, 1);
    if (entry === undefined) return;
    const first = digest(entry);
    for (let n = 1; n <= FOLDERS_MAX; n++) {
      const path = n === 1 ? base : `${base}.${n}`;
      const cursor = await readCursor(path);
      if (cursor !== null && !(await isOfThisLog(hub, cursor, first))) continue;
      await makeMirrorDirectory(path);
      if (cursor === null) await writeCursor(path, { position: 0, first, last: '' });
      next = cursor?.position ?? 0;
      last = cursor?.last ?? '';
      saved = next;
      folder = { path, files: openMirrorFiles(path, options.bytesMax), first };
      return;
    }
    throw new Error(`${base}.${FOLDERS_MAX} and all before it are of other logs`);
  }

  async function catchUp(): Promise<void> {
    if (folder === null) await findFolder();
    if (folder === null) return;
    for (;;) {
      const entries = await hub.entries(next, PAGE_BYTES);
      if (entries.length === 0) break;
      const lines: (MirrorLine & { position: number })[] = [];
      for (const [i, entry] of entries.entries()) {
        const position = next + i;
        const held = releasedBy(entry);
        const [released = null] = held === null ? [] : await hub.entries(held, 1);
        for (const line of linesOf(entry, position, released)) lines.push({ ...line, position });
      }
      await folder.files.append(lines);
      next += entries.length;
      last = digest(entries.at(-1) ?? '');
      if (performance.now() - savedAt >= CURSOR_EVERY_MS) await save();
    }
  }

  async function save(): Promise<void> {
    if (folder === null || saved === next) return;
    await folder.files.sync();
    await writeCursor(folder.path, { position: next, first: folder.first, last });
    savedAt = performance.now();
    saved = next;
  }

  async function run(): Promise<void> {
    try {
      await catchUp();
      if (isClosed || performance.now() - savedAt >= CURSOR_EVERY_MS) await save();
      else if (saved !== next) schedule(CURSOR_EVERY_MS);
      if (failures > 0) options.onMended(`the mirror ${base} is written again`);
      failures = 0;
    } catch (cause) {
      // What was half written is cut before anything is written after it.
      folder = null;
      if (failures++ === 0) {
        options.onTrouble(`the mirror ${base} cannot be written; trying on`, cause);
      }
      if (!isClosed) schedule(Math.min(retryMs * 2 ** Math.min(failures - 1, 10), RETRY_MS_MAX));
    }
  }

  function schedule(afterMs: number): void {
    const at = performance.now() + afterMs;
    if (isClosed || (timer !== null && dueAt <= at)) return;
    if (timer !== null) clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => {
      timer = null;
      running = running.then(run);
    }, afterMs);
    timer.unref();
  }

  function stop(): void {
    stopListening();
    isClosed = true;
    if (timer !== null) clearTimeout(timer);
  }

  const stopListening = hub.watch.events(() => schedule(GATHER_MS));
  schedule(0);
  return {
    stop,
    async close() {
      stop();
      await running;
      await run();
    },
  };
}

async function isOfThisLog(hub: Hub, cursor: Cursor, first: string): Promise<boolean> {
  const { position } = cursor;
  if (cursor.first !== first || position > hub.stats.entries) return false;
  if (position === 0) return true;
  const [entry = ''] = await hub.entries(position - 1, 1);
  return digest(entry) === cursor.last;
}

/** Null where there is none; a folder with one that cannot be read is somebody else's. */
async function readCursor(path: string): Promise<Cursor | null> {
  try {
    return readJson(await readFile(join(path, CURSOR), 'utf8')) as Cursor;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw cause;
  }
}

async function writeCursor(path: string, cursor: Cursor): Promise<void> {
  const draft = join(path, `${CURSOR}.draft`);
  await writeFile(draft, `${JSON.stringify(cursor)}\n`, { mode: 0o600, flush: true });
  await rename(draft, join(path, CURSOR));
}

/** Of what a compaction leaves of an entry, so that it does not make another log. */
function digest(entry: string): string {
  const message = decodeMessage(entry);
  const { body: _, dropped: __, ...head } = message ?? { body: null };
  const lasting = message === null ? entry : JSON.stringify(head);
  return createHash('sha256').update(lasting).digest('hex');
}
