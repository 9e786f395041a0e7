/**
 * The relay file itself: lines at its end, the oldest cut off at its head. It is the
 * owner's alone (0600), and so is its folder where there was none. It holds between N and
 * 2 N lines, and is rewritten beside itself and renamed, so a reader never sees half of it.
 * A torn last line is cut when the file is opened; a file that holds something else is
 * refused and left alone [RL4].
 */
import { appendFile, chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readJson } from '../../core/law/json.ts';
import type { Line } from './relay-line.ts';

export interface RelayFile {
  /** The newest position in the file, or null when it has none. Cuts what is torn. */
  recover(): Promise<number | null>;
  append(lines: readonly Line[]): Promise<void>;
  /** Begins anew with one line. */
  start(line: Line): Promise<void>;
}

export class NotOursError extends Error {
  readonly code = 'relay.not-ours';
}

const MODE = 0o600;

export function createRelayFile(path: string, linesKept: number, version: number): RelayFile {
  let count = 0;
  const positionOf = (line: string): number | null => positionIn(line, version);

  async function replace(text: string): Promise<void> {
    const draft = `${path}.${process.pid}.draft`;
    try {
      await writeFile(draft, text, { mode: MODE });
      await rename(draft, path);
    } catch (cause) {
      await rm(draft, { force: true }).catch(() => {});
      throw cause;
    }
  }

  /** What is kept and what is new, in one step: nobody ever finds more than twice what is kept. */
  async function trimWith(fresh: readonly string[]): Promise<void> {
    const lines = (await readIfThere(path)).split('\n').slice(0, -1);
    const kept = [...lines, ...fresh].slice(-linesKept);
    await replace(`${kept.join('\n')}\n`);
    count = kept.length;
  }

  return {
    async recover() {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const text = await readIfThere(path);
      const lines = text.split('\n').slice(0, -1);
      const [first = text] = lines;
      if (first !== '' && positionOf(first) === null && !isTorn(first, lines.length, version)) {
        throw new NotOursError(`${path} is not a relay file; it was left alone, name another`);
      }
      while (lines.length > 0 && positionOf(lines.at(-1) ?? '') === null) lines.pop();
      const whole = lines.length === 0 ? '' : `${lines.join('\n')}\n`;
      if (whole !== text) await replace(whole);
      else if (text !== '') await chmod(path, MODE);
      count = lines.length;
      return positionOf(lines.at(-1) ?? '');
    },
    async append(lines) {
      const fresh = lines.map((line) => JSON.stringify(line));
      if (count + fresh.length > 2 * linesKept) return trimWith(fresh);
      await appendFile(path, fresh.map((line) => `${line}\n`).join(''), { mode: MODE });
      count += fresh.length;
    },
    async start(line) {
      await replace(`${JSON.stringify(line)}\n`);
      count = 1;
    },
  };
}

/** The very first line may be torn too: then it begins as ours do, and nothing follows it. */
function isTorn(first: string, lineCount: number, version: number): boolean {
  return lineCount === 0 && `{"v":${version},`.startsWith(first.slice(0, 7));
}

function positionIn(line: string, version: number): number | null {
  try {
    const { v, n } = readJson(line) as Partial<Line>;
    return v === version && Number.isSafeInteger(n) ? (n as number) : null;
  } catch {
    return null;
  }
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw cause;
  }
}
