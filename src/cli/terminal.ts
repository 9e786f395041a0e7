/**
 * What may reach a terminal. A peer's message is data: control characters, and the invisible
 * ones that reorder or hide text, are shown as escapes and never obeyed [CL4]. Colours appear only
 * where somebody looks, and never with NO_COLOR.
 */
import { HIDDEN } from '../core/law/hidden.ts';
import { plainLine } from '../wire/plain-line.ts';

/** One line of text, safe to print. */
export function neutralise(text: string): string {
  return plainLine(text, '\t');
}

/** JSON for machines that is also safe to print: the same value, with the unsafe characters escaped. */
export function jsonText(value: unknown, indent?: number): string {
  return plainJson(JSON.stringify(value, null, indent));
}

/** JSON text as it is, with the unsafe characters of its strings escaped. */
export function plainJson(text: string): string {
  return text.replace(HIDDEN, (char) =>
    char === '\n'
      ? char
      : Array.from({ length: char.length }, (_, i) =>
          char.charCodeAt(i).toString(16).padStart(4, '0'),
        )
          .map((code) => `\\u${code}`)
          .join(''),
  );
}

export interface Colours {
  dim(text: string): string;
  bold(text: string): string;
  name(text: string): string;
  place(text: string): string;
  warn(text: string): string;
}

export function createColours(isOn: boolean): Colours {
  const paint = (open: number, close: number) => (text: string) =>
    isOn ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    dim: paint(2, 22),
    bold: paint(1, 22),
    name: paint(36, 39),
    place: paint(33, 39),
    warn: paint(31, 39),
  };
}

/** https://no-color.org: set and not empty switches colours off. */
export function wantsColours(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** Columns as wide as their widest cell; the last one runs free. Cells are neutralised here. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const safe = rows.map((row) => row.map(neutralise));
  const widths: number[] = [];
  for (const row of safe) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  return safe.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
