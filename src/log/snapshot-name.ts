/**
 * The name of a snapshot: its position and digest, in an entry of the chain. What the log does not name
 * is not believed [H21]: a snapshot lies beside the chain, and anybody who can write the store could
 * put another one there.
 */
import { createHash } from 'node:crypto';
import type { Log, Snapshot } from './log.ts';

export interface SnapshotName {
  readonly position: number;
  /** SHA-256 over the line `<position> <head>` and the text. */
  readonly digest: string;
}

/** How an entry that names a snapshot begins. */
export const NAMING_START = '{"type":"snapshot.taken"';

/** Hashed at a time. */
const SLICE_CHARS = 256 * 1024;

/** A long text is hashed in slices; `breathe` lets the process do other work between them. */
export async function digestSnapshot(
  { position, head, text }: Snapshot,
  breathe?: () => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256').update(`${position} ${head}\n`);
  for (const slice of slicesOf(text)) {
    hash.update(slice, 'utf8');
    await breathe?.();
  }
  return hash.digest('hex');
}

/** A text in pieces; both halves of a character lie in one. */
export function* slicesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const last = text.charCodeAt(start + SLICE_CHARS - 1);
    const end = start + SLICE_CHARS + (last >= 0xd800 && last <= 0xdbff ? 1 : 0);
    yield text.slice(start, end);
    start = end;
  }
}

/** What an entry names; null when it names no snapshot. */
export function parseSnapshotName(entry: string): SnapshotName | null {
  if (!entry.startsWith(NAMING_START)) return null;
  try {
    const { position, digest } = JSON.parse(entry) as Partial<SnapshotName>;
    return typeof position === 'number' && typeof digest === 'string' ? { position, digest } : null;
  } catch {
    // The log takes any text; this one names nothing.
    return null;
  }
}

/** Where the log names this snapshot; null when it does not. The name stands behind its position. */
export async function findSnapshotName(
  log: Pick<Log, 'read'>,
  snapshot: Snapshot,
): Promise<number | null> {
  const digest = await digestSnapshot(snapshot);
  for await (const { first, entries } of log.read(snapshot.position)) {
    for (let i = 0; i < entries.length; i++) {
      const name = parseSnapshotName(entries[i] as string);
      if (name?.position === snapshot.position && name.digest === digest) return first + i;
    }
  }
  return null;
}
