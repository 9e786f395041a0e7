/** The signed heads of a log and the notes of its anchors, wherever they lie: beside a file, or in a stream. */
import { statSync } from 'node:fs';
import { type AnchorNote, anchorsPath, noteAnchor, readAnchorNotes } from './anchor-notes.ts';
import { headsPath, openHeadsFile } from './heads-file.ts';
import type { SignedHead } from './signed-head.ts';

export interface Heads {
  /** For messages. */
  readonly where: string;
  /** Oldest first; what is none of ours is left out and counted. */
  readonly heads: readonly SignedHead[];
  readonly strange: number;
  /** Oldest first. */
  readonly notes: readonly AnchorNote[];
  add(head: SignedHead): void | Promise<void>;
  note(note: AnchorNote): void | Promise<void>;
  /** Keeps them under another name, which it answers; what is added from now on begins anew. */
  setAside(now: number): string | Promise<string>;
  close(): Promise<void>;
}

/** Of a log that lies at a path. */
export function openHeadsBeside(store: string): Heads {
  const file = openHeadsFile(headsPath(store));
  const anchors = anchorsPath(store);
  let read: { readonly mtimeMs: number; readonly notes: readonly AnchorNote[] } = {
    ...{ mtimeMs: 0, notes: [] },
  };
  return {
    where: headsPath(store),
    get heads() {
      return file.heads;
    },
    get strange() {
      return file.strange;
    },
    /** Read again only when the file has changed: the question is asked often. */
    get notes() {
      const mtimeMs = statSync(anchors, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (mtimeMs !== read.mtimeMs) read = { mtimeMs, notes: readAnchorNotes(anchors) };
      return read.notes;
    },
    add: file.add,
    note: (note) => noteAnchor(anchors, note),
    setAside: file.setAside,
    async close() {},
  };
}
