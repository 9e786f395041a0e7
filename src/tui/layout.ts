/**
 * Which panels a terminal has room for, and how wide each is. Pure: a size in, numbers out. What
 * is said comes first, so a narrow terminal loses the agents and then the channels [TU2]; one
 * too small for a line of talk and a line to type on is told so.
 */

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface Layout extends Size {
  /** Columns of the list of channels; 0 when there is no room. */
  readonly left: number;
  readonly centre: number;
  /** Columns of the list of agents; 0 when there is no room. */
  readonly right: number;
  /** Rows between the top bar and the two lines at the bottom. */
  readonly body: number;
  readonly isTooSmall: boolean;
}

const THREE_COLUMNS_MIN = 72;
const TWO_COLUMNS_MIN = 48;
const COLUMNS_MIN = 20;
const ROWS_MIN = 6;
/** The top bar, the status line and the input line. */
const FRAME_ROWS = 3;
/** The line between two panels, with a space on either side. */
export const GAP = 3;

export function layoutOf({ columns, rows }: Size): Layout {
  const left = columns >= TWO_COLUMNS_MIN ? clamp(Math.round(columns * 0.18), 12, 28) : 0;
  const right = columns >= THREE_COLUMNS_MIN ? clamp(Math.round(columns * 0.21), 16, 34) : 0;
  const taken = (left > 0 ? left + GAP : 0) + (right > 0 ? right + GAP : 0);
  return {
    columns,
    rows,
    left,
    right,
    centre: Math.max(0, columns - taken),
    body: Math.max(0, rows - FRAME_ROWS),
    isTooSmall: columns < COLUMNS_MIN || rows < ROWS_MIN,
  };
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
