/**
 * The marker file that says whose directory it is and in which format.
 *
 * A directory with neither marker nor segments becomes ours; one that is
 * foreign or newer is refused and left as it is.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from './disk.ts';
import { LogError } from './log.ts';

const FORMAT = 1;
/** A directory that was compacted: a program that knows nothing of that must leave it alone. */
const COMPACTED_FORMAT = 2;
const FORMAT_LINE = /^synod-log (\d+)\n$/;

export function requireFormat(dir: string, readOnly: boolean): void {
  const path = join(dir, 'format');
  const names = readdirSync(dir);
  if (!names.includes('format')) {
    if (!names.some((name) => name.endsWith('.segment')) && !readOnly) {
      replaceFile(path, `synod-log ${FORMAT}\n`);
      return;
    }
    throw new LogError(
      'log.corrupt',
      `${path} is missing, so ${dir} is not known to be a Synod log; nothing was changed: restore that file or choose another directory`,
      { path },
    );
  }
  const format = Number(FORMAT_LINE.exec(readFileSync(path, 'utf8'))?.[1] ?? 0);
  if (format === 0) {
    throw new LogError(
      'log.corrupt',
      `${path} is not a Synod log's; nothing was changed: choose another directory or restore that file`,
      { path },
    );
  }
  if (format > COMPACTED_FORMAT) {
    throw new LogError(
      'log.newer',
      `${path} says format ${format} and this program knows up to ${COMPACTED_FORMAT}; nothing was changed: upgrade synod or choose another directory`,
      { path },
    );
  }
}

export function markCompacted(dir: string): void {
  replaceFile(join(dir, 'format'), `synod-log ${COMPACTED_FORMAT}\n`);
}
