/**
 * The session book on disk: one small JSON file, written whole and put in place at once, so that a
 * reader finds the old or the new and never half [SB1]. A file that cannot be read is set aside and
 * named, and the book begins anew; a failed write is told and tried again with the next change.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { readJson } from '../../core/law/json.ts';
import { VENDORS, type Vendor } from '../../wire/tool-names.ts';

export interface BookedSession {
  readonly space: string;
  readonly vendor: Vendor;
  session: string | null;
  parent: number | null;
  /** Tells the process from another under the same pid. */
  parentMark: string | null;
  agent: string;
  isNamed: boolean;
  seenAt: number;
  endedAt: number | null;
  /** Null while it works. What was owed up to this position it left unread when it stopped. */
  idle: { readonly session: string; readonly through: number } | null;
  /** By what it can be woken; never a secret. */
  claudeSocket: string | null;
  codexHome: string | null;
}

export interface SessionStore {
  readonly loaded: readonly BookedSession[];
  /** Asks for the newest state when it is written; several changes may be one write. */
  save(read: () => readonly BookedSession[]): void;
  close(): Promise<void>;
}

const session: z.ZodType<BookedSession> = z.object({
  space: z.string(),
  vendor: z.enum(VENDORS as [Vendor]),
  session: z.string().nullable(),
  parent: z.int().nullable(),
  parentMark: z.string().nullable(),
  agent: z.string().min(1),
  isNamed: z.boolean(),
  seenAt: z.number(),
  endedAt: z.number().nullable(),
  idle: z.object({ session: z.string(), through: z.number() }).nullable(),
  claudeSocket: z.string().nullable(),
  codexHome: z.string().nullable(),
});
const file = z.object({ version: z.literal(1), sessions: z.array(session) });

type OnTrouble = (what: string, cause: unknown) => void;

export async function loadSessions(path: string, onTrouble: OnTrouble): Promise<SessionStore> {
  let wanted: (() => readonly BookedSession[]) | null = null;
  let writing: Promise<void> | null = null;
  let isClosed = false;

  async function writeAll(): Promise<void> {
    while (wanted !== null) {
      const read = wanted;
      wanted = null;
      const draft = `${path}.${process.pid}`;
      try {
        const text = JSON.stringify({ version: 1, sessions: read() });
        await writeFile(draft, `${text}\n`, { mode: 0o600 });
        await rename(draft, path);
      } catch (cause) {
        onTrouble(
          `${path} could not be written; names of sessions may change after a restart`,
          cause,
        );
        await rm(draft, { force: true }).catch(() => {});
      }
    }
    writing = null;
  }

  return {
    loaded: await load(path, onTrouble),
    save(read) {
      if (isClosed) return;
      wanted = read;
      writing ??= writeAll();
    },
    async close() {
      isClosed = true;
      await writing;
    },
  };
}

async function load(path: string, onTrouble: OnTrouble): Promise<readonly BookedSession[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT')
      onTrouble(`${path} is unreadable`, cause);
    return [];
  }
  try {
    return file.parse(readJson(text)).sessions;
  } catch (cause) {
    onTrouble(`${path} is not a session book; it is kept as ${path}.bad`, cause);
    await rename(path, `${path}.bad`).catch(() => {});
    return [];
  }
}
