/**
 * The signed heads of a log, in a file beside it: the newest all, of older ones ever fewer, so that the
 * file stays small however long the log lives. It is no proof by itself, for whoever can write the log
 * can write this file: it is what anchors are made of, and a start compares the log with it.
 */
import { appendFileSync, existsSync, readFileSync, renameSync } from 'node:fs';
import { PRIVATE_FILE, replaceFile, unavailable } from './disk.ts';
import { encodeSignedHead, parseSignedHead, type SignedHead } from './signed-head.ts';

/** Lines in the file at most; then every second one of the older half goes. */
const LINES_MAX = 1_000;
/** More than this is no file of ours. */
const BYTES_MAX = 1_000_000;

export interface HeadsFile {
  /** Oldest first; a line that was cut short or is none of ours is left out and counted. */
  readonly heads: readonly SignedHead[];
  readonly strange: number;
  add(head: SignedHead): void;
  /** Moves the file away under a name that says when; what is added from now on is in a new one. */
  setAside(now: number): string;
}

/** In capitals, as no space is named: it lies where other spaces' stores may. */
export function headsPath(store: string): string {
  return `${store}.HEADS`;
}

export function openHeadsFile(path: string): HeadsFile {
  let { heads, strange } = readHeads(path);
  return {
    get heads() {
      return heads;
    },
    get strange() {
      return strange;
    },
    add(head) {
      heads = [...heads, head];
      try {
        if (heads.length <= LINES_MAX && strange === 0) {
          appendFileSync(path, `${encodeSignedHead(head)}\n`, { mode: PRIVATE_FILE });
          return;
        }
        heads = thinned(heads);
        strange = 0;
        replaceFile(path, heads.map((one) => `${encodeSignedHead(one)}\n`).join(''));
      } catch (cause) {
        throw unavailable(path, 'write', cause);
      }
    },
    setAside(now) {
      let at = now;
      while (existsSync(`${path}.BROKEN-${at}`)) at++;
      const aside = `${path}.BROKEN-${at}`;
      try {
        renameSync(path, aside);
      } catch (cause) {
        throw unavailable(path, 'move aside', cause);
      }
      heads = [];
      strange = 0;
      return aside;
    },
  };
}

export function readHeads(path: string): { heads: readonly SignedHead[]; strange: number } {
  if (!existsSync(path)) return { heads: [], strange: 0 };
  let text: string;
  try {
    text = readFileSync(path, 'utf8').slice(-BYTES_MAX);
  } catch (cause) {
    throw unavailable(path, 'read', cause);
  }
  const lines = text.split('\n').filter((line) => line !== '');
  const heads = lines.flatMap((line) => parseSignedHead(line) ?? []);
  return { heads, strange: lines.length - heads.length };
}

function thinned(heads: readonly SignedHead[]): readonly SignedHead[] {
  if (heads.length <= LINES_MAX) return heads;
  const middle = heads.length >> 1;
  return heads.filter((_, i) => i >= middle || i % 2 === 0);
}
