/**
 * What was decided at the hooks, one JSON line each, for whoever wonders why an agent was reminded,
 * blocked, refused or woken. It holds no message and no credential. Writing never holds up an
 * answer; the file is turned over at a limit and one old one is kept [HD8].
 */
import { appendFile, mkdir, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface DecisionLine {
  readonly space: string;
  readonly agent: string | null;
  readonly vendor: string;
  readonly session: string | null;
  /** The vendor's word for the event, or `wake`. */
  readonly event: string;
  readonly tool?: string | null;
  readonly action: string;
  readonly rule?: string;
  readonly reason: string;
  readonly ms?: number;
}

export interface DecisionLog {
  write(line: DecisionLine): void;
  /** What was told is in the file then, and nothing is written after. */
  close(): Promise<void>;
}

export const DECISIONS_BYTES_MAX: number = 5 * 1024 * 1024;
const WAITING_MAX = 5_000;
const REASON_CHARS_MAX = 500;

export function openDecisionLog(
  path: string,
  onTrouble: (what: string, cause: unknown) => void,
  bytesMax: number = DECISIONS_BYTES_MAX,
): DecisionLog {
  let waiting: string[] = [];
  let lost = 0;
  let size = -1;
  let writing: Promise<void> | null = null;
  let hasComplained = false;
  let isClosed = false;

  async function writeAll(): Promise<void> {
    // One turn later, so that what is decided together is written together.
    await Promise.resolve();
    while (waiting.length > 0) {
      const missing = lost > 0 ? [`${JSON.stringify({ at: Date.now() / 1000, lost })}\n`] : [];
      const text = [...missing, ...waiting].join('');
      waiting = [];
      lost = 0;
      try {
        if (size < 0) {
          await mkdir(dirname(path), { recursive: true, mode: 0o700 });
          size = await stat(path).then(
            (found) => found.size,
            () => 0,
          );
        }
        if (size > 0 && size + Buffer.byteLength(text) > bytesMax) {
          await rename(path, `${path}.1`);
          size = 0;
        }
        await appendFile(path, text, { mode: 0o600 });
        size += Buffer.byteLength(text);
      } catch (cause) {
        size = -1;
        if (!hasComplained) onTrouble(`${path} cannot be written; decisions go unrecorded`, cause);
        hasComplained = true;
      }
    }
    writing = null;
  }

  return {
    write(line) {
      // A hook that gave up may be answered after its hub is gone, and the directory with it.
      if (isClosed) return;
      if (waiting.length >= WAITING_MAX) {
        lost++;
        return;
      }
      const reason = line.reason.slice(0, REASON_CHARS_MAX);
      waiting.push(`${JSON.stringify({ at: Date.now() / 1000, ...line, reason })}\n`);
      writing ??= writeAll();
    },
    async close() {
      isClosed = true;
      await writing;
    },
  };
}
