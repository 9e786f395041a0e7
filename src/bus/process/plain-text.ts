/**
 * What a stranger's program wrote, made fit for a log line: decoded, bounded, and with nothing left
 * in it that could move a cursor, end the line or turn the text around.
 */
import { stripVTControlCharacters } from 'node:util';
import { type ByteLine, textOf } from './byte-line.ts';

const UNFIT = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export function plainText(line: ByteLine, bytesMax: number): string {
  const isCut = line.length > bytesMax;
  const text = stripVTControlCharacters(
    textOf((isCut ? line.slice(0, bytesMax) : line) as ByteLine),
  );
  const plain = text.replace(UNFIT, (one) =>
    one === '\t' ? ' ' : `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return isCut ? `${plain}…` : plain;
}
