/**
 * What was anchored, noted beside the log so that the hub can say so and an export can carry it. A note is
 * a signed head and where it went. It lies with the log, so it proves nothing: the anchor itself does.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { PRIVATE_FILE, replaceFile, unavailable } from './disk.ts';
import { encodeSignedHead, parseSignedHead, type SignedHead } from './signed-head.ts';

export interface AnchorNote {
  readonly head: SignedHead;
  /** `file`, `command`, `git`, `rfc3161`; several with a comma. */
  readonly way: string;
}

const NOTES_MAX = 1_000;

/** In capitals, as no space is named. */
export function anchorsPath(store: string): string {
  return `${store}.ANCHORS`;
}

/** Oldest first; lines that are none are left out. */
export function readAnchorNotes(path: string): readonly AnchorNote[] {
  if (!existsSync(path)) return [];
  try {
    return readFileSync(path, 'utf8').split('\n').flatMap(parseNote).slice(-NOTES_MAX);
  } catch (cause) {
    throw unavailable(path, 'read', cause);
  }
}

export function noteAnchor(path: string, note: AnchorNote): void {
  const before = readAnchorNotes(path);
  try {
    if (before.length < NOTES_MAX) {
      appendFileSync(path, encodeNote(note), { mode: PRIVATE_FILE });
    } else replaceFile(path, [...before.slice(NOTES_MAX / 2), note].map(encodeNote).join(''));
  } catch (cause) {
    throw unavailable(path, 'write', cause);
  }
}

export function encodeNote({ head, way }: AnchorNote): string {
  return `${JSON.stringify({ ...JSON.parse(encodeSignedHead(head)), way })}\n`;
}

export function parseNote(line: string): AnchorNote[] {
  const head = parseSignedHead(line);
  if (head === null) return [];
  const { way } = JSON.parse(line) as { way?: unknown };
  return [{ head, way: typeof way === 'string' ? way : 'unknown' }];
}
