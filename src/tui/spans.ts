/**
 * Lines of the screen as values: pieces of text with a style. Every piece passes `span`, which makes
 * it safe to print [TU1], and every line is fitted to its panel, so that nothing wraps by accident.
 */
import { cut, plain, widthOf } from './plain.ts';

type Hue = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';
export type Colour = Hue | `${Hue}Bright`;

export interface Style {
  readonly colour?: Colour | undefined;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly inverse?: boolean;
}

export interface Span extends Style {
  readonly text: string;
}

export type ScreenLine = readonly Span[];

export function span(text: string, style: Style = {}): Span {
  return { ...style, text: plain(text) };
}

export function line(text: string, style: Style = {}): ScreenLine {
  return [span(text, style)];
}

export const EMPTY: ScreenLine = [];

export function lineWidth(spans: ScreenLine): number {
  return spans.reduce((sum, { text }) => sum + widthOf(text), 0);
}

/** Exactly as wide as asked: cut, or filled with spaces. */
export function fitTo(spans: ScreenLine, width: number): ScreenLine {
  const fitted: Span[] = [];
  let left = width;
  for (const one of spans) {
    if (left <= 0) break;
    const text = cut(one.text, left);
    left -= widthOf(text);
    fitted.push({ ...one, text });
    if (text !== one.text) break;
  }
  if (left > 0) fitted.push({ text: ' '.repeat(left) });
  return fitted;
}

/** Text at the left and at the right edge; where they meet, the left one gives way. */
export function spread(left: ScreenLine, right: ScreenLine, width: number): ScreenLine {
  const rightWidth = Math.min(lineWidth(right), width);
  const room = width - rightWidth;
  if (rightWidth === 0) return fitTo(left, width);
  return [
    ...fitTo(left, Math.max(0, room - 1)),
    span(room > 0 ? ' ' : ''),
    ...fitTo(right, rightWidth),
  ];
}
