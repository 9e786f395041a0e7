/**
 * What was anchored, noted beside the log so that the hub can say so and an export can carry it. A note is
 * a signed head and where it went. It lies with the log, so it proves nothing: the anchor itself does.
 */
import { existsSync, readFileSync } from 'node:fs';
import { unavailable } from './disk.ts';
import { parseSignedHead, type SignedHead } from './signed-head.ts';

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

function parseNote(line: string): AnchorNote[] {
  const head = parseSignedHead(line);
  if (head === null) return [];
  const { way } = JSON.parse(line) as { way?: unknown };
  return [{ head, way: typeof way === 'string' ? way : 'unknown' }];
}
