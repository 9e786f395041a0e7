/**
 * The screen in Ink: lines become rows of text, panels become columns. Nothing is decided here; what
 * stands where was settled in `screen.ts`. Written without JSX, because the sources run as they are.
 */
import { Box, Text, useCursor } from 'ink';
import { createElement as h, type ReactElement } from 'react';
import { GAP, type Layout, layoutOf, type Size } from './layout.ts';
import { type Screen, screenOf } from './screen.ts';
import type { ScreenLine, Span } from './spans.ts';
import type { ChatState } from './state.ts';

interface Painted {
  readonly hasColour: boolean;
}

/** One line; the pieces of it that have no style need no element of their own. */
function Row({ line, hasColour }: Painted & { readonly line: ScreenLine }): ReactElement {
  return h(Text, { wrap: 'truncate' }, ...line.map((one, at) => piece(one, at, hasColour)));
}

function piece(one: Span, at: number, hasColour: boolean): ReactElement | string {
  const { text, colour, bold = false, dim = false, inverse = false } = one;
  const isPlain = !bold && !dim && !inverse && (colour === undefined || !hasColour);
  if (isPlain) return text;
  const color = hasColour && colour !== undefined ? { color: colour } : {};
  return h(Text, { key: at, bold, inverse, dimColor: dim, ...color }, text);
}

function Column({
  lines,
  width,
  hasColour,
}: Painted & { readonly lines: readonly ScreenLine[]; readonly width: number }): ReactElement {
  return h(
    Box,
    { flexDirection: 'column', width, flexShrink: 0 },
    ...lines.map((line, at) => h(Row, { key: at, line, hasColour })),
  );
}

function Divider({ rows }: { readonly rows: number }): ReactElement {
  const line = Array.from({ length: rows }, () => ' │ ').join('\n');
  return h(Box, { width: GAP, flexShrink: 0 }, h(Text, { dimColor: true }, line));
}

function Panels({
  screen,
  layout,
  hasColour,
}: Painted & { readonly screen: Screen; readonly layout: Layout }): ReactElement {
  const { left, centre, right, body } = layout;
  return h(
    Box,
    { height: body, flexShrink: 0 },
    left > 0 && h(Column, { lines: screen.left, width: left, hasColour }),
    left > 0 && h(Divider, { rows: body }),
    h(Column, { lines: screen.centre, width: centre, hasColour }),
    right > 0 && h(Divider, { rows: body }),
    right > 0 && h(Column, { lines: screen.right, width: right, hasColour }),
  );
}

export function View({
  state,
  size,
  hasColour,
}: Painted & { readonly state: ChatState; readonly size: Size }): ReactElement {
  const layout = layoutOf(size);
  const screen = screenOf(state, layout);
  const { setCursorPosition } = useCursor();
  setCursorPosition(layout.isTooSmall ? undefined : { x: screen.cursor, y: layout.rows - 1 });
  if (layout.isTooSmall) return h(Text, { wrap: 'truncate' }, 'too small: make the window larger');
  return h(
    Box,
    { flexDirection: 'column', width: layout.columns, height: layout.rows },
    h(Row, { line: screen.bar, hasColour }),
    h(Panels, { screen, layout, hasColour }),
    h(Row, { line: screen.status, hasColour }),
    h(Row, { line: screen.input, hasColour }),
  );
}
