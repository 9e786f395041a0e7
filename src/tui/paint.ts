/**
 * The screen as rows of text for a terminal: panels side by side, styles as escape codes. Nothing
 * is decided here; what stands where was settled in `screen.ts`, and every piece is safe to print.
 */
import { layoutOf, type Size } from './layout.ts';
import { screenOf } from './screen.ts';
import type { Colour, ScreenLine, Span } from './spans.ts';
import type { ChatState } from './state.ts';

export interface Painted {
  readonly rows: readonly string[];
  /** Where the cursor stands on the last row; null where nothing can be typed. */
  readonly cursor: number | null;
}

const RESET = '\u001b[0m';
const DIVIDER = '\u001b[2m │ \u001b[0m';
const CODES: Readonly<Record<Colour, number>> = {
  ...{ red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 },
  ...{ redBright: 91, greenBright: 92, yellowBright: 93 },
  ...{ blueBright: 94, magentaBright: 95, cyanBright: 96 },
};

export function paint(state: ChatState, size: Size, hasColour: boolean): Painted {
  const layout = layoutOf(size);
  if (layout.isTooSmall) {
    return { rows: ['too small: make the window larger'.slice(0, size.columns)], cursor: null };
  }
  const screen = screenOf(state, layout);
  const text = (line: ScreenLine | undefined): string => lineText(line ?? [], hasColour);
  const rows = [text(screen.bar)];
  for (let at = 0; at < layout.body; at++) {
    const left = layout.left > 0 ? text(screen.left[at]) + DIVIDER : '';
    const right = layout.right > 0 ? DIVIDER + text(screen.right[at]) : '';
    rows.push(left + text(screen.centre[at]) + right);
  }
  rows.push(text(screen.status), text(screen.input));
  return { rows, cursor: screen.cursor };
}

function lineText(line: ScreenLine, hasColour: boolean): string {
  return line.map((one) => spanText(one, hasColour)).join('');
}

function spanText({ text, colour, bold, dim, inverse }: Span, hasColour: boolean): string {
  const codes: number[] = [];
  if (bold) codes.push(1);
  if (dim) codes.push(2);
  if (inverse) codes.push(7);
  if (hasColour && colour !== undefined) codes.push(CODES[colour]);
  return codes.length === 0 || text === '' ? text : `\u001b[${codes.join(';')}m${text}${RESET}`;
}
