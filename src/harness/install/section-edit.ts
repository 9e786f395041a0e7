/**
 * A marked section at the end of a Markdown text, put in and taken out again.
 *
 * Markdown has no parser to appeal to, so the two marks are the whole truth: where one of them is
 * missing or doubled nothing is taken out, and that is told.
 */
import { lineEnding } from './json-text.ts';
import type { SectionPiece } from './piece.ts';
import { faultAt, isFault, type TextFault } from './problem.ts';

const begin = (mark: string) => `<!-- ${mark}:begin, written by "synod install" -->`;
const end = (mark: string) => `<!-- ${mark}:end -->`;

interface Span {
  readonly from: number;
  /** After the line of the last mark. */
  readonly to: number;
}

/** Where the section is, null where it is not. */
function findSection(text: string, mark: string): Span | null | TextFault {
  const from = text.indexOf(begin(mark));
  const stop = text.indexOf(end(mark));
  if (from === -1 && stop === -1) return null;
  const isDoubled =
    text.indexOf(begin(mark), from + 1) !== -1 || text.indexOf(end(mark), stop + 1) !== -1;
  if (from === -1 || stop < from || isDoubled) {
    const message = `the marks of ${mark} are not a pair; take the section out by hand`;
    return faultAt(text, Math.max(from, stop), 'odd-shape', message);
  }
  const line = text.indexOf('\n', stop);
  return { from, to: line === -1 ? text.length : line + 1 };
}

function written({ mark, text }: SectionPiece, eol: string): string {
  const lines = [begin(mark), ...text.trimEnd().split('\n'), end(mark)];
  return lines.map((line) => line + eol).join('');
}

export function sectionState(
  text: string,
  piece: SectionPiece,
): 'present' | 'absent' | 'other' | TextFault {
  const span = findSection(text, piece.mark);
  if (isFault(span)) return span;
  if (span === null) return 'absent';
  const is = text.slice(span.from, span.to);
  return is.trimEnd() === written(piece, lineEnding(text)).trimEnd() ? 'present' : 'other';
}

/** A section that is there in other words is ours all the same, and is written anew in its place. */
export function addSection(text: string, piece: SectionPiece): string | TextFault {
  const eol = lineEnding(text);
  const span = findSection(text, piece.mark);
  if (isFault(span)) return span;
  if (span !== null) {
    return text.slice(0, span.from) + written(piece, eol) + text.slice(span.to);
  }
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
  return `${text}${gap}${written(piece, eol)}`;
}

export function takeSection(text: string, mark: string): string | TextFault {
  const span = findSection(text, mark);
  if (span === null) return text;
  if (isFault(span)) return span;
  const before = text.slice(0, span.from);
  const after = text.slice(span.to);
  // The blank line that set it apart goes with it.
  const gap = /(^|\n)\r?\n$/.exec(before);
  const isApart = gap !== null && (after === '' || /^\r?\n/.test(after));
  return (isApart ? before.slice(0, gap.index + (gap[1] ?? '').length) : before) + after;
}
