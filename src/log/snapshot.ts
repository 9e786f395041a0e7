/**
 * A snapshot as bytes: one JSON line of what it claims, then the text.
 *
 * A snapshot is only a shortcut, so one that does not verify is no failure: it
 * decodes to null and the log is read from further back.
 */
import { createHash } from 'node:crypto';
import { asBuffer } from './batch.ts';
import type { Snapshot } from './log.ts';
import { slicesOf } from './snapshot-name.ts';

/** Snapshots kept: the newest, and one more should the newest not verify. */
export const SNAPSHOTS_KEPT = 2;

/** A long text is encoded in slices; `breathe` lets the process do other work between them. */
export async function encodeSnapshot(
  snapshot: Snapshot,
  breathe?: () => Promise<void>,
): Promise<Buffer> {
  const { position, head, text } = snapshot;
  const hash = createHash('sha256').update(chained(position, head));
  const slices: Buffer[] = [];
  for (const part of slicesOf(text)) {
    const slice = Buffer.from(part, 'utf8');
    hash.update(slice);
    slices.push(slice);
    await breathe?.();
  }
  const claim = { position, head, sha256: hash.digest('hex') };
  return Buffer.concat([Buffer.from(`${JSON.stringify(claim)}\n`), ...slices]);
}

export function decodeSnapshot(bytes: Uint8Array): Snapshot | null {
  const buffer = asBuffer(bytes);
  const end = buffer.indexOf(0x0a);
  if (end < 0) return null;
  const text = buffer.subarray(end + 1);
  let claim: { position?: unknown; head?: unknown; sha256?: unknown } | null;
  try {
    claim = JSON.parse(buffer.toString('utf8', 0, end));
  } catch {
    // Not a claim we wrote: the fallback is an older snapshot or none.
    return null;
  }
  const position = claim?.position;
  const head = claim?.head;
  if (typeof position !== 'number' || typeof head !== 'string') return null;
  if (claim?.sha256 !== digest(position, head, text)) return null;
  return { position, head, text: text.toString('utf8') };
}

function digest(position: number, head: string, text: Buffer): string {
  return createHash('sha256').update(chained(position, head)).update(text).digest('hex');
}

function chained(position: number, head: string): string {
  return `${position} ${head}\n`;
}
