/**
 * A line: the bytes of one message, one character a byte.
 *
 * The bus forwards what it does not read, so it never decodes: bytes come in as Latin-1, are cut
 * and joined as strings, which V8 does without copying, and leave as Latin-1. Code that reads
 * a message as text calls `textOf`; code that makes one calls `lineOf`.
 */
declare const BYTES: unique symbol;
export type ByteLine = string & { readonly [BYTES]: true };

const NOT_ASCII = /[^\0-\x7f]/;

/** The text as a line: UTF-8, a character a byte, without its newline. */
export function lineOf(text: string): ByteLine {
  return (NOT_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text) as ByteLine;
}

/** What the bytes of a line say. Bytes that are not UTF-8 are replaced, as everywhere in Node. */
export function textOf(line: ByteLine): string {
  return NOT_ASCII.test(line) ? Buffer.from(line, 'latin1').toString('utf8') : line;
}

export function messageOf(value: unknown): ByteLine {
  return lineOf(JSON.stringify(value));
}
