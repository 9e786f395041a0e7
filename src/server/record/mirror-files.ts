/**
 * The files of a mirror: one a channel, to which lines are only ever appended [MI1]. Where a file ends is
 * read from its end once, so that a line costs the same however long the file is; a line that a crash
 * tore is cut off before the next is written, and a line that is there already is not written again
 * [MI2]. A file that is large is put aside under the position of its last line.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { readJson } from '../../core/law/json.ts';
import type { MirrorLine } from './mirror-line.ts';

export const MIRROR_BYTES_MAX: number = 64 * 1024 * 1024;
const TAIL_BYTES = 64 * 1024;
const PLACES_MAX = 10_000;
const NAME_CHARS_MAX = 100;
const END = '.jsonl';
/** `~` is in no name of a channel as it is spelt here. */
const OF_SPACE = '~space';
const POSITION_DIGITS = 15;
/** Names that some systems keep for themselves. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/;
const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW = 0 } = constants;

export interface MirrorFiles {
  /** Lines of one entry or several, in order; `position` is in each. */
  append(lines: readonly (MirrorLine & { readonly position: number })[]): Promise<void>;
  /** What was appended until now is on the disk when this is over. */
  sync(): Promise<void>;
  /** Something failed: where files end is read again. */
  forget(): void;
}

interface Place {
  size: number;
  /** The position of the last line. */
  last: number;
}

/** How a channel is spelt as a file: small letters, digits, `_` and `-`, all else by its bytes. */
export function fileNameOf(channel: string | null): string {
  if (channel === null) return OF_SPACE;
  const spelt = channel.replace(/[^a-z0-9_-]/gsu, (char) =>
    [...Buffer.from(char)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
  if (spelt.length <= NAME_CHARS_MAX && !RESERVED.test(spelt)) return spelt;
  const digest = createHash('sha256').update(channel).digest('hex').slice(0, 32);
  return `${spelt.slice(0, NAME_CHARS_MAX / 2)}~${digest}`;
}

export function openMirrorFiles(dir: string, bytesMax: number = MIRROR_BYTES_MAX): MirrorFiles {
  const places = new Map<string, Place>();
  let unsynced = new Set<string>();
  /** The last position of what was put aside, by name; read once. */
  let aside: Map<string, number> | null = null;

  async function readAside(): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for (const file of await readdir(dir)) {
      const [, name = '', digits] = /^(.*)\.(\d{15})\.jsonl$/.exec(file) ?? [];
      if (digits !== undefined) found.set(name, Math.max(found.get(name) ?? -1, Number(digits)));
    }
    return found;
  }

  async function placeOf(name: string, file: FileHandle): Promise<Place> {
    const known = places.get(name);
    if (known !== undefined) return known;
    aside ??= await readAside();
    const end = await readEnd(file);
    const place = { size: end.size, last: Math.max(end.last, aside.get(name) ?? -1) };
    if (places.size >= PLACES_MAX) places.clear();
    places.set(name, place);
    return place;
  }

  async function appendTo(
    name: string,
    lines: readonly { readonly position: number; readonly text: string }[],
  ): Promise<void> {
    const path = join(dir, name + END);
    const file = await open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
    try {
      const place = await placeOf(name, file);
      const fresh = lines.filter(({ position }) => position > place.last);
      const last = fresh.at(-1);
      if (last === undefined) return;
      const bytes = Buffer.from(fresh.map(({ text }) => `${text}\n`).join(''));
      unsynced.add(path);
      await file.appendFile(bytes);
      place.size += bytes.length;
      place.last = last.position;
      if (place.size < bytesMax) return;
      await file.sync();
      const digits = String(place.last).padStart(POSITION_DIGITS, '0');
      await rename(path, join(dir, `${name}.${digits}${END}`));
      unsynced.delete(path);
      aside?.set(name, place.last);
      place.size = 0;
    } finally {
      await file.close();
    }
  }

  return {
    async append(lines) {
      const byName = Map.groupBy(lines, ({ channel }) => fileNameOf(channel));
      for (const [name, own] of byName) await appendTo(name, own);
    },
    async sync() {
      const paths = unsynced;
      unsynced = new Set();
      for (const path of paths) {
        const file = await open(path, 'r+');
        await file.sync().finally(() => file.close());
      }
    },
    forget() {
      places.clear();
      aside = null;
    },
  };
}

/** Where a file ends and the position of its last line; what is torn is cut off. */
async function readEnd(file: FileHandle): Promise<Place> {
  const { size } = await file.stat();
  let tail = Buffer.alloc(0);
  let from = size;
  for (;;) {
    const end = tail.lastIndexOf('\n');
    const start = end <= 0 ? -1 : tail.lastIndexOf('\n', end - 1);
    const isWhole = end >= 0 && (start >= 0 || from === 0);
    if (isWhole || from === 0) {
      const whole = from + end + 1;
      if (whole < size) await file.truncate(whole);
      return {
        size: whole,
        last: end < 0 ? -1 : positionIn(tail.toString('utf8', start + 1, end)),
      };
    }
    // Lines may be longer than a piece; the pieces grow, so that reading back costs what is read.
    const length = Math.min(from, Math.max(TAIL_BYTES, tail.length));
    const piece = Buffer.alloc(length);
    await file.read(piece, 0, length, from - length);
    from -= length;
    tail = Buffer.concat([piece, tail]);
  }
}

function positionIn(line: string): number {
  const { position } = readJson(line) as { readonly position?: unknown };
  if (!Number.isSafeInteger(position)) throw new Error('its last line is none of a mirror');
  return position as number;
}

export async function makeMirrorDirectory(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
}
