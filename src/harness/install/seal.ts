/**
 * The seal at the end of a file of ours: it tells a file that is still as we wrote it from one that
 * somebody has edited, also where no record of the installation is left.
 */
import { createHash } from 'node:crypto';

export type CommentStyle = 'markdown' | 'hash' | 'slashes';

const MARK = 'synod-file 1';

const COMMENTS: Readonly<Record<CommentStyle, readonly [open: string, close: string]>> = {
  markdown: ['<!-- ', ' -->'],
  hash: ['# ', ''],
  slashes: ['// ', ''],
};

export function sealText(text: string, style: CommentStyle): string {
  const body = text.endsWith('\n') ? text : `${text}\n`;
  const [open, close] = COMMENTS[style];
  return `${body}${open}${MARK} ${digest(body).slice(0, 32)}${close}\n`;
}

/** Whether this is a file of ours, of whatever version, exactly as it was written. */
export function isSealed(text: string): boolean {
  const match = /\n(?:<!-- |# |\/\/ )synod-file 1 ([0-9a-f]{32})(?: -->)?\n$/.exec(text);
  if (match === null) return false;
  return digest(text.slice(0, match.index + 1)).startsWith(match[1] as string);
}

export function digest(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
